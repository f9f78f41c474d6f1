// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// EntriesOf iterates over the durable entries that an execution has in the journals
// of reads of an organization, of all its retention classes, one journal after the
// other (see ledger.Ledger.EntriesOf). It needs actions to be true.
func (j *journals) EntriesOf(ctx context.Context, organization, executionID string) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		trails, err := j.Follow(organization, executionID, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer trails.Close()
		trails.Entries(ctx)(yield)
	}
}

// Follow begins to follow an execution through the journals of reads of an
// organization. Wake is told, if it has room, whenever the execution got entries.
// The trails have to be closed.
func (j *journals) Follow(organization, executionID string, wake chan<- struct{}) (ledger.Trails, error) {
	open := j.running()
	if open == nil {
		return nil, errNotRunning
	}
	var names []journalName
	for name := range open {
		if name.organization == organization && name.kind == reads {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("audit_journal keeps no journal of that organization")
	}
	slices.SortFunc(names, journalName.compare)
	var trails ledger.Trails
	for _, name := range names {
		trail, err := open[name].Ledger.Follow(executionID, wake)
		if err != nil {
			trails.Close()
			return nil, err
		}
		trails = append(trails, trail)
	}
	return trails, nil
}

// FindRecord returns the entry with a record id, as Draft.ID gives it, in the journal
// of a scope that has records of a kind, or ledger.ErrNotFound.
func (j *journals) FindRecord(ctx context.Context, scope record.Scope, kind record.Kind, id string) (*journal.Entry, error) {
	open := j.running()
	if open == nil {
		return nil, errNotRunning
	}
	name := nameOf(scope, reads)
	if kind.OfActions() {
		name.kind = actions
	}
	o := open[name]
	if o == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoJournal)
	}
	return o.find(ctx, id)
}

// FindRead returns the entry of a read in the journals of reads of an organization,
// whatever its execution, or ledger.ErrNotFound.
func (j *journals) FindRead(ctx context.Context, organization, readID string) (*journal.Entry, error) {
	for name, o := range j.running() {
		if name.organization != organization || name.kind != reads {
			continue
		}
		if e, err := o.find(ctx, readID); !errors.Is(err, ledger.ErrNotFound) {
			return e, err
		}
	}
	return nil, ledger.ErrNotFound
}

func (o *openJournal) find(ctx context.Context, id string) (*journal.Entry, error) {
	entries, err := o.Lookup(ctx, id)
	if err == nil && entries[0] == nil {
		err = ledger.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", o.instruments.journal.Value.AsString(), err)
	}
	return entries[0], nil
}
