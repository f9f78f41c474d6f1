// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// errNotRunning is not permanent: the sender keeps its data and retries.
var errNotRunning = errors.New("audit_journal is not running: it has not started or is shut down")

// errNoJournal is about a journal that the configuration does not name.
var errNoJournal = errors.New("audit_journal keeps no such journal: set actions to true for records of the synchronous path")

// Append writes the items, each to the journal of its scope, and returns their
// receipts in the order of the items once all are on disk. After an error the
// caller sends all items again: those that are on disk are known as repeats.
// No error is permanent, since disk trouble passes and evidence must not be
// dropped for it.
func (j *journals) Append(ctx context.Context, items []carrier.Item) ([]journal.Receipt, error) {
	open := j.running()
	if open == nil {
		return nil, errNotRunning
	}
	receipts := make([]journal.Receipt, len(items))
	shares := j.router.group(items)
	for _, s := range shares {
		if open[s.name] == nil {
			return nil, fmt.Errorf("%s: %w", s.name, errNoJournal)
		}
	}
	errs := make([]error, len(shares))
	var wg sync.WaitGroup
	for i, s := range shares {
		put := func() { errs[i] = open[s.name].append(ctx, items, s.indices, receipts) }
		if i == len(shares)-1 {
			put() // nothing is left to begin beside it, and mostly it is the only one
		} else {
			wg.Go(put)
		}
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return receipts, nil
}

// AppendStrict writes the drafts, which belong to one journal, to that of a scope which
// the configuration names, all of them or none. The error is a *ledger.Refusal if the
// journal does not take one of them.
func (j *journals) AppendStrict(ctx context.Context, scope record.Scope, drafts []*record.Draft) ([]journal.Receipt, error) {
	open := j.running()
	if open == nil {
		return nil, errNotRunning
	}
	kind := reads
	for i, d := range drafts {
		if k := kindOf(d); i == 0 {
			kind = k
		} else if k != kind {
			return nil, errors.New("records of two journals cannot be written as one")
		}
	}
	name := nameOf(scope, kind)
	o := open[name]
	if o == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoJournal)
	}
	receipts, err := j.appendAlone(ctx, open, name, drafts)
	if err != nil {
		if _, refused := errors.AsType[*ledger.Refusal](err); !refused {
			o.instruments.failed()
		}
		return nil, fmt.Errorf("journal %s: %w", name, err)
	}
	o.instruments.acknowledged(drafts, receipts)
	return receipts, nil
}

// Scopes returns all scopes that the configuration names, by organization and class.
func (j *journals) Scopes() []record.Scope {
	var out []record.Scope
	for name, scope := range j.router.scopes() {
		if name.kind == reads {
			out = append(out, scope)
		}
	}
	slices.SortFunc(out, func(a, b record.Scope) int { return nameOf(a, reads).compare(nameOf(b, reads)) })
	return out
}

// Scope returns the scope of an organization and a retention class, if the
// configuration names them; "" stands for those of the base scope.
func (j *journals) Scope(organization, class string) (record.Scope, bool) {
	return j.router.named(organization, class)
}

// HasActions reports whether there are journals of actions.
func (j *journals) HasActions() bool { return j.config.Actions }

// ScopeOf returns the scope that Append gives to an item, so that it can be known
// before whether the sender may write there, and what belongs to the record can be
// put where its scope says.
func (j *journals) ScopeOf(item *carrier.Item) record.Scope { return j.router.scopeOf(item) }

// append appends the items at the indices and puts their receipts there.
func (o *openJournal) append(ctx context.Context, items []carrier.Item, indices []int, receipts []journal.Receipt) error {
	drafts := make([]*record.Draft, len(indices))
	for k, index := range indices {
		drafts[k] = items[index].Draft
	}
	got, err := o.Append(ctx, drafts)
	if err != nil {
		o.instruments.failed()
		return fmt.Errorf("journal %s: %w", o.instruments.journal.Value.AsString(), err)
	}
	o.instruments.acknowledged(drafts, got)
	for k, index := range indices {
		receipts[index] = got[k]
	}
	return nil
}
