// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Lookup returns the durable entries that are known under ids of drafts, or under
// marks that drafts have besides; nil stands for one that is not there, or was pruned.
// What a caller was acknowledged is found.
func (l *Ledger) Lookup(ctx context.Context, ids ...string) ([]*journal.Entry, error) {
	places := make([]*segment.Position, len(ids))
	err := l.do(ctx, func(w *writer) error { return w.lookup(ids, places) })
	if err != nil {
		return nil, l.place.hide(err)
	}
	entries := make([]*journal.Entry, len(ids))
	for i, at := range places {
		if at == nil {
			continue
		}
		e, err := l.read(*at)
		switch {
		case errors.Is(err, errPruned):
			continue
		case err == nil && !isKnownAs(e, ids[i]):
			err = fmt.Errorf("%w: the entry at %d of %s is another one", repeat.ErrDamaged, at.Offset, segment.Name(at.Segment))
			l.raiseDoubt(err)
		}
		if err != nil {
			return nil, l.place.hide(fmt.Errorf("%w: %w", ErrUnavailable, err))
		}
		entries[i] = e
	}
	return entries, nil
}

// lookup finds where entries stand. Of a group that may be durable already the writer
// learns first.
func (w *writer) lookup(ids []string, places []*segment.Position) error {
	if w.down != nil {
		return w.down
	}
	keys := make([]repeat.Key, len(ids))
	for i, id := range ids {
		keys[i] = repeat.KeyOfID(id)
		if w.flying[keys[i]] != nil && w.busy != nil {
			w.settle(<-w.commits.outcomes)
		}
	}
	if w.down != nil {
		return w.down
	}
	found, err := w.find(keys...)
	for i, f := range found {
		if f != nil {
			places[i] = &f.At
		}
	}
	return err
}

// isKnownAs reports whether an entry is known under an id.
func isKnownAs(e *journal.Entry, id string) bool {
	r, err := record.RepeatOf(e.Kind, e.Body)
	if err != nil {
		return false
	}
	for _, mark := range r.Marks {
		if mark == id {
			return true
		}
	}
	return r.ID == id
}

// markKeys returns the keys of what else entries are known under.
func markKeys(marks []string) (keys []repeat.Key) {
	for _, mark := range marks {
		keys = append(keys, repeat.KeyOfID(mark))
	}
	return keys
}
