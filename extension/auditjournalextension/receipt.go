// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// Receipt returns the receipt of the entry with an event id in a scope that the
// configuration names ("" stands for the base scope's) and, if prove asks for it and
// a checkpoint covers the entry by now, the proof of that; nil if none does, which
// is for good where no checkpoints are made. The error is ledger.ErrNotFound if the
// scope has no such entry, and ledger.ErrPruned, which is one too, if it was removed.
func (j *journals) Receipt(ctx context.Context, organization, class, eventID string, prove bool) (journal.Receipt, *journal.InclusionProof, error) {
	open := j.running()
	if open == nil {
		return journal.Receipt{}, nil, errNotRunning
	}
	scope, found := j.router.named(organization, class)
	if !found {
		return journal.Receipt{}, nil, fmt.Errorf("scope: %w", ledger.ErrNotFound)
	}
	missing := ledger.ErrNotFound
	for _, kind := range []string{actions, reads} {
		name := nameOf(scope, kind)
		o := open[name]
		if o == nil {
			continue
		}
		e, err := o.Find(ctx, eventID)
		switch {
		case errors.Is(err, ledger.ErrPruned):
			missing = ledger.ErrPruned
			continue
		case errors.Is(err, ledger.ErrNotFound):
			continue
		case err != nil:
			return journal.Receipt{}, nil, fmt.Errorf("journal %s: %w", name, err)
		}
		receipt := e.Receipt()
		receipt.JournalID = o.JournalID()
		if !prove {
			return receipt, nil, nil
		}
		proof, err := o.keeper.Include(receipt.Sequence, e.PayloadDigest())
		if err != nil {
			return journal.Receipt{}, nil, fmt.Errorf("journal %s: %w", name, err)
		}
		return receipt, proof, nil
	}
	return journal.Receipt{}, nil, missing
}
