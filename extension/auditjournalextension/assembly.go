// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// ActionScopes returns the scopes that have a journal of actions, in the order of their
// names.
func (j *journals) ActionScopes() []record.Scope {
	scopes := j.router.scopes()
	var names []journalName
	for name := range scopes {
		if name.kind == actions {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, journalName.compare)
	list := make([]record.Scope, len(names))
	for i, name := range names {
		list[i] = scopes[name]
	}
	return list
}

// ActionsSince iterates over the entries of the journal of actions of a scope that were
// recorded since a time (see ledger.Ledger.Since).
func (j *journals) ActionsSince(ctx context.Context, scope record.Scope, since time.Time) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		o, err := j.actionsOf(scope)
		if err != nil {
			yield(nil, err)
			return
		}
		o.Since(ctx, since)(yield)
	}
}

// AllOf iterates over the durable entries of an execution: those of the journal of
// actions of a scope, then those of the journals of reads of its organization.
func (j *journals) AllOf(ctx context.Context, scope record.Scope, executionID string) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		o, err := j.actionsOf(scope)
		if err != nil {
			yield(nil, err)
			return
		}
		for e, err := range o.Ledger.EntriesOf(ctx, executionID) {
			if !yield(e, err) || err != nil {
				return
			}
		}
		j.EntriesOf(ctx, scope.OrganizationRef, executionID)(yield)
	}
}

func (j *journals) actionsOf(scope record.Scope) (*openJournal, error) {
	open := j.running()
	if open == nil {
		return nil, errNotRunning
	}
	name := nameOf(scope, actions)
	o := open[name]
	if o == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoJournal)
	}
	return o, nil
}
