// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"encoding/json/v2"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/ledger/actions"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// factsOf reads what the rules of actions need of a body. Of a version that is not known
// nothing is interpreted (requirement E6), but that there is such a record about an
// action: it may say that the action is revoked.
func factsOf(kind record.Kind, version string, body []byte) (*actions.Facts, error) {
	if !schema.Supports(kind, version) {
		return actions.OfUnreadable(kind, body), nil
	}
	return actions.Of(kind, body)
}

// factKeys returns the keys of what a record says, as the index of repeats has them.
func factKeys(f *actions.Facts) (keys []repeat.Key) {
	for _, name := range f.Names() {
		keys = append(keys, repeat.KeyOfFact(name))
	}
	return keys
}

// namesOf returns the keys under which a stored entry is found for what it says.
func namesOf(e *journal.Entry) []repeat.Key {
	if facts, err := factsOf(e.Kind, e.SchemaVersion, e.Body); err == nil && facts != nil {
		return factKeys(facts)
	}
	if schema.Supports(e.Kind, e.SchemaVersion) && e.Kind == record.KindJournal && e.Header.EventType == record.EventKeyAccepted {
		if d, ok := detailOf[record.KeyAccepted](e); ok {
			return []repeat.Key{bridgeKey(d.OutgoingKeyID)}
		}
	}
	return nil
}

// recall returns the newest record with a name that is on its way or stored. What it
// says is read from the entry itself: the index only says where that is.
func (w *writer) recall(name string) (*actions.Known, error) {
	key := repeat.KeyOfFact(name)
	if e := w.flying[key]; e != nil {
		return &actions.Known{Facts: e.item.facts, EventID: e.receipt.EventID, Ours: true}, nil
	}
	seen, found, err := w.index.FindOne(key)
	if err != nil {
		w.ledger.raiseDoubt(err)
		return nil, err
	}
	if !found || w.isPruned(&seen) {
		return nil, nil
	}
	if k := w.recent.find(seen.At); k != nil {
		return k, nil
	}
	k, err := w.readKnown(name, seen.At)
	if err == nil {
		w.remember(seen.At, k)
	}
	return k, err
}

// readKnown reads a stored record and looks whether it has a name.
func (w *writer) readKnown(name string, at segment.Position) (*actions.Known, error) {
	e, err := w.ledger.read(at)
	if err != nil {
		return nil, err
	}
	facts, err := factsOf(e.Kind, e.SchemaVersion, e.Body)
	if err != nil || facts == nil || !slices.Contains(facts.Names(), name) {
		err := fmt.Errorf("%w: the entry at %d of %s is another one", repeat.ErrDamaged, at.Offset, segment.Name(at.Segment))
		w.ledger.raiseDoubt(err)
		return nil, err
	}
	ours, err := w.signedByUs(e)
	if err != nil {
		return nil, err
	}
	if !ours {
		w.ledger.options.Observer.failed(fmt.Errorf("%s in entry %d permits nothing: no key signed it that the journal has or handed over from; run: readtrail verify",
			e.Header.EventType, e.Header.Sequence))
	}
	return &actions.Known{Facts: facts, EventID: eventIDOf(e), Ours: ours}, nil
}

// eventIDOf returns the event id of an entry. One of a version that is not known has it
// where contract 1 puts it.
func eventIDOf(e *journal.Entry) string {
	if e.Header.EventID != "" {
		return e.Header.EventID
	}
	var body struct {
		EventID string `json:"event_id"`
	}
	_ = json.Unmarshal(e.Body, &body) // which leaves it empty
	return body.EventID
}

// maxRecent is how many records of actions are kept in memory twice over, of about 1
// KiB each.
const maxRecent = 2048

// recent holds what stored records say that were written or read last, so that an
// attempt seldom has to wait for the disk to see its plan. Entries that are durable
// do not change.
type recent struct {
	newer, older map[segment.Position]*actions.Known
}

func (r *recent) find(at segment.Position) *actions.Known {
	if k := r.newer[at]; k != nil {
		return k
	}
	return r.older[at]
}

func (w *writer) remember(at segment.Position, k *actions.Known) {
	r := &w.recent
	if r.newer == nil || len(r.newer) >= maxRecent {
		r.newer, r.older = make(map[segment.Position]*actions.Known, maxRecent), r.newer
	}
	r.newer[at] = k
}

// isLookedFor reports whether clients look for entries of a kind by their event ids:
// they have receipts of them.
func isLookedFor(kind record.Kind, ofActions bool) bool {
	return ofActions || kind == record.KindContext
}

func isLookedForStored(e *journal.Entry) bool {
	aboutEvents := e.Kind == record.KindJournal && record.IsOfActions(e.Header.EventType)
	return isLookedFor(e.Kind, e.Kind.OfActions() || aboutEvents)
}
