// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"slices"

	"github.com/readtrail/readtrail/internal/ledger/actions"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/record"
)

// verdict is what contract 3 says about an item. At most one of flying, stored
// and conflict is set; the zero verdict is a new record.
type verdict struct {
	// flying is the entry that the item repeats and that is on its way.
	flying *entry
	// stored is where the entry stands that the item repeats.
	stored *segment.Position
	// conflict is the first entry with the item's id and another body.
	conflict *first
	// parts are those that the journal does not have.
	parts []record.Part
}

// judge decides on an item with an id.
func (w *writer) judge(it *item) (verdict, error) {
	if e := w.flying[it.key]; e != nil {
		if e.item.digest == it.digest {
			return verdict{flying: e}, nil
		}
		return w.judgeConflict(it.key.With(it.digest), &first{flying: e, eventID: e.receipt.EventID})
	}
	seen, found, err := w.index.FindOne(it.key)
	switch {
	case err != nil || !found:
		return verdict{}, err
	case w.isPruned(&seen):
		// The first with this id is gone; one that conflicted with it may be there.
		return w.judgePaired(it.key.With(it.digest))
	case seen.Digest == it.digest:
		at := seen.At // a record that is new needs no memory for what was not found
		return verdict{stored: &at}, nil
	}
	return w.judgeConflict(it.key.With(it.digest), &first{seen: seen})
}

// judgeConflict decides on an item whose id has another body: the journal may
// have this one too.
func (w *writer) judgeConflict(paired repeat.Key, f *first) (verdict, error) {
	v, err := w.judgePaired(paired)
	if err != nil || v.flying != nil || v.stored != nil {
		return v, err
	}
	if f.flying == nil {
		e, err := w.ledger.read(f.seen.At)
		if err != nil {
			return verdict{}, err
		}
		f.eventID = e.Header.EventID
	}
	return verdict{conflict: f}, nil
}

// judgePaired decides on an item by its id together with its body.
func (w *writer) judgePaired(paired repeat.Key) (verdict, error) {
	if e := w.flying[paired]; e != nil {
		return verdict{flying: e}, nil
	}
	found, err := w.find(paired)
	if err != nil || found[0] == nil {
		return verdict{}, err
	}
	return verdict{stored: &found[0].At}, nil
}

// find looks up keys in the index. What stands in a segment that was pruned, or
// is about to be removed, is not known any more.
func (w *writer) find(keys ...repeat.Key) ([]*repeat.Seen, error) {
	found, err := w.index.Find(keys...)
	for i, f := range found {
		if w.isPruned(f) {
			found[i] = nil
		}
	}
	return found, err
}

func (w *writer) isPruned(s *repeat.Seen) bool {
	return s != nil && s.At.Segment < w.ledger.begins.Load()
}

// judgeParts decides which parts of an item are new. An item of which none is
// new repeats the entry that has its first one.
func (w *writer) judgeParts(it *item) (verdict, error) {
	found, err := w.find(it.parts...)
	if err != nil {
		return verdict{}, err
	}
	var v verdict
	own := make(map[repeat.Key]struct{}, len(it.parts))
	for i, key := range it.parts {
		if _, twice := own[key]; twice || found[i] != nil || w.flying[key] != nil {
			continue
		}
		own[key] = struct{}{}
		v.parts = append(v.parts, it.draft.Parts()[i])
	}
	switch {
	case len(v.parts) > 0:
		return v, nil
	case found[0] != nil:
		return verdict{stored: &found[0].At}, nil
	}
	return verdict{flying: w.flying[it.parts[0]]}, nil
}

// launch makes an entry known that is on its way.
func (w *writer) launch(e *entry) {
	var usual [1]repeat.Key
	for _, key := range e.keys(usual[:0]) {
		w.flying[key] = e
	}
	if e.claims {
		w.flying[e.event] = e
	}
	for _, name := range e.names {
		w.flying[name] = e
	}
	for _, key := range markKeys(e.item.draft.Marks()) {
		w.flying[key] = e
	}
}

// land makes an entry that is durable known to the index instead.
func (w *writer) land(e *entry) {
	w.settleStanding(e)
	if e.accepts != nil {
		w.adopt(e.accepts)
	}
	var usual [1]repeat.Key
	keys := e.keys(usual[:0])
	for _, key := range keys {
		delete(w.flying, key)
	}
	mark := repeat.Mark{
		Seen:  repeat.Seen{At: e.at, Digest: e.item.digest},
		Given: e.item.draft.Given() || e.item.draft.Kind().OfActions(), Recorded: e.recordedAt,
	}
	var room [2]repeat.Mark
	marks := appendMarks(room[:0], mark, keys...)
	if e.claims {
		marks = append(marks, eventMark(mark, e.event))
		delete(w.flying, e.event)
	}
	if len(e.names) > 0 {
		marks = appendMarks(marks, nameMark(mark), e.names...)
		if facts := e.item.facts; facts != nil {
			w.remember(e.at, &actions.Known{Facts: facts, EventID: e.receipt.EventID, Ours: true})
		}
		for _, name := range e.names {
			if w.flying[name] == e { // and not a newer one
				delete(w.flying, name)
			}
		}
	}
	if further := markKeys(e.item.draft.Marks()); further != nil {
		marks = appendMarks(marks, mark, further...)
		for _, key := range further {
			if w.flying[key] == e {
				delete(w.flying, key)
			}
		}
	}
	if f := e.conflict; f != nil {
		if f.flying != nil {
			f.seen = repeat.Seen{At: f.flying.at, Digest: f.flying.item.digest}
		}
		marks = append(marks, refreshed(mark, e.item.key, f.seen))
	}
	w.index.Learn(e.position(), marks...)
}

// appendMarks appends a mark for each key.
func appendMarks(marks []repeat.Mark, m repeat.Mark, keys ...repeat.Key) []repeat.Mark {
	for _, k := range keys {
		m.Key = k
		marks = append(marks, m)
	}
	return marks
}

// eventMark returns the mark of the event id that an application gave an entry.
// As any id that an application gives, it has no horizon.
func eventMark(m repeat.Mark, key repeat.Key) repeat.Mark {
	m.Key, m.Given = key, true
	return m
}

// nameMark returns the mark of a name, which has no horizon.
func nameMark(m repeat.Mark) repeat.Mark {
	m.Given = true
	return m
}

// refreshed returns the mark of a first entry beside that of a conflicting one,
// so that the index does not forget the first before the second.
func refreshed(m repeat.Mark, key repeat.Key, f repeat.Seen) repeat.Mark {
	m.Key, m.Seen = key, f
	return m
}

// keys appends the keys under which an entry is known: of its id, of its id with
// its body if another body was first, or of its parts.
func (e *entry) keys(dst []repeat.Key) []repeat.Key {
	switch {
	case e.conflict != nil:
		return append(dst, e.item.key.With(e.item.digest))
	case e.item.draft.ID() != "":
		return append(dst, e.item.key)
	}
	dst = slices.Grow(dst, len(e.parts))
	for _, p := range e.parts {
		dst = append(dst, repeat.KeyOfPart(p.Key))
	}
	return dst
}
