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

// claimLocks are held by whoever writes what only one journal of an organization may
// have, where there are several. The rules of an action hold in the serial section of
// one journal, so that all records about it have to stand in one: a revocation that
// another retention class has would stop nothing (ADR 0030). And an id that names two
// entries of an organization names none. Claims that share a lock only wait for each
// other.
type claimLocks struct {
	seed  maphash.Seed
	locks [4096]sync.Mutex
}

func newClaimLocks() *claimLocks { return &claimLocks{seed: maphash.MakeSeed()} }

// lock takes the locks of claims, always in the same order, and returns what gives them
// back.
func (l *claimLocks) lock(organization string, claims []ledger.Claim) (unlock func()) {
	type owned struct {
		organization string
		claim        ledger.Claim
	}
	var places []int
	for _, c := range claims {
		places = append(places, int(maphash.Comparable(l.seed, owned{organization, c})%uint64(len(l.locks))))
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

// appendAlone is AppendStrict of one journal, for drafts of which another journal of
// the organization has nothing: neither records of their actions nor their ids. It
// refuses those that are elsewhere, repeats too.
func (j *journals) appendAlone(ctx context.Context, open map[journalName]*openJournal, name journalName, drafts []*record.Draft) ([]journal.Receipt, error) {
	others := othersOf(open, name)
	if name.kind != actions || len(others) == 0 {
		return open[name].Ledger.AppendStrict(ctx, drafts)
	}
	var claims []ledger.Claim
	var of []int // the draft of each claim
	for i, d := range drafts {
		for _, c := range ledger.ClaimsOf(d) {
			claims, of = append(claims, c), append(of, i)
		}
	}
	defer j.claims.lock(name.organization, claims)()
	for _, other := range others {
		held, event, err := open[other].Holder(ctx, claims)
		switch {
		case err != nil:
			return nil, fmt.Errorf("ask journal %s for the same ids: %w", other, err)
		case held >= 0:
			return nil, claims[held].Elsewhere(of[held], event)
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
