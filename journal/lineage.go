// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// maxWaiting bounds the reads and the lineage that wait for one another.
const maxWaiting = 1 << 20

// lineageSeed is drawn anew in every run, so that nobody can prepare ids that
// collide.
var lineageSeed = maphash.MakeSeed()

// readIDs returns a short form of the id of a read, or of those that the spans of a
// lineage record name.
func (p *parts) readIDs() (ids []uint64) {
	switch p.kind {
	case record.KindRead:
		if id, ok := stringOf(p.headerMember("read_id")); ok {
			ids = append(ids, maphash.Bytes(lineageSeed, id))
		}
	case record.KindLineage:
		var spans []struct {
			ReadID string `json:"read_id"`
		}
		if json.Unmarshal(p.headerMember("spans"), &spans) != nil {
			return nil
		}
		for _, s := range spans {
			if s.ReadID != "" {
				ids = append(ids, maphash.String(lineageSeed, s.ReadID))
			}
		}
	}
	return ids
}

// lineage finds the reads that no lineage entry of the journal names, before or
// behind them.
type lineage struct {
	// reads are those that wait, with their sequences, and named those that lineage
	// named before they came.
	reads map[uint64]uint64
	named map[uint64]struct{}
	// overflown says that more waited than is kept.
	overflown bool
}

func (l *lineage) add(c *checked) {
	if l.reads == nil {
		l.reads, l.named = map[uint64]uint64{}, map[uint64]struct{}{}
	}
	for _, id := range c.readIDs {
		_, named := l.named[id]
		switch _, waits := l.reads[id]; {
		case len(l.reads)+len(l.named) >= maxWaiting:
			l.overflown = true
		case c.kind == record.KindLineage && waits:
			delete(l.reads, id)
		case c.kind == record.KindLineage:
			l.named[id] = struct{}{}
		case !named && !waits:
			l.reads[id] = c.sequence
		}
	}
}

// finishLineage says which reads have no lineage.
func (v *verifier) finishLineage() {
	if !v.options.Policy.Demands(DemandLineage) {
		return
	}
	if v.lineage.overflown {
		v.note(Finding{Code: CodeLineageUnresolved, Detail: fmt.Sprintf("more than %d reads and spans wait for one another; verify a part of the journal", maxWaiting)})
		return
	}
	sequences := slices.SortedFunc(maps.Values(v.lineage.reads), cmp.Compare[uint64])
	for _, sequence := range sequences {
		v.note(Finding{Code: CodeLineageUnresolved, Sequence: sequence})
	}
}
