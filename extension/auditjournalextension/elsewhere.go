// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// actionLocks are held by whoever writes about an action of an organization that has
// several journals of actions. The rules of an action hold in the serial section of one
// journal, so that all records about it have to stand in one: a revocation that another
// retention class has would stop nothing (ADR 0030). Actions that share a lock only wait
// for each other.
type actionLocks struct {
	seed  maphash.Seed
	locks [256]sync.Mutex
}

func newActionLocks() *actionLocks { return &actionLocks{seed: maphash.MakeSeed()} }

// lock takes the locks of actions, always in the same order, and returns what gives
// them back.
func (l *actionLocks) lock(organization string, ids []string) (unlock func()) {
	var places []int
	for _, id := range ids {
		places = append(places, int(maphash.Comparable(l.seed, [2]string{organization, id})%uint64(len(l.locks))))
	}
	slices.Sort(places)
	places = slices.Compact(places)
	for _, p := range places {
		l.locks[p].Lock()
	}
	return func() {
		for _, p := range places {
			l.locks[p].Unlock()
		}
	}
}

// appendAlone is AppendStrict of one journal for drafts that may be about actions: it
// refuses those about an action that another journal of the organization has.
func (j *journals) appendAlone(ctx context.Context, open map[journalName]*openJournal, name journalName, drafts []*record.Draft) ([]journal.Receipt, error) {
	var ids []string
	var of []int // the draft of each id
	for i, d := range drafts {
		if id := ledger.ActionOf(d); id != "" && !slices.Contains(ids, id) {
			ids, of = append(ids, id), append(of, i)
		}
	}
	others := othersOf(open, name)
	if len(ids) == 0 || len(others) == 0 {
		return open[name].Ledger.AppendStrict(ctx, drafts)
	}
	defer j.actions.lock(name.organization, ids)()
	for _, other := range others {
		events, err := open[other].About(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("ask journal %s for the same actions: %w", other, err)
		}
		for i, event := range events {
			if event != "" {
				return nil, &ledger.Refusal{Index: of[i], Code: ledger.CodeElsewhere, EventID: event}
			}
		}
	}
	return open[name].Ledger.AppendStrict(ctx, drafts)
}

// othersOf returns the other journals of actions of an organization.
func othersOf(open map[journalName]*openJournal, name journalName) (others []journalName) {
	for other := range open {
		if other != name && other.kind == name.kind && other.organization == name.organization {
			others = append(others, other)
		}
	}
	return others
}
