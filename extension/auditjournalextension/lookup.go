// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Lookup returns the durable entries of the journal of actions of a scope that are
// known under ids of drafts or marks that drafts have besides, nil for one that is not
// there.
func (j *journals) Lookup(ctx context.Context, scope record.Scope, ids ...string) ([]*journal.Entry, error) {
	open := j.running()
	if open == nil {
		return nil, errNotRunning
	}
	name := nameOf(scope, actions)
	o := open[name]
	if o == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoJournal)
	}
	entries, err := o.Ledger.Lookup(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", name, err)
	}
	return entries, nil
}
