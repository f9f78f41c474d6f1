// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	// ErrNotFound says that the journal has no entry with an event id.
	ErrNotFound = errors.New("journal has no entry with this event id")
	// ErrPruned says that the journal had such an entry, as far as the id tells, and
	// that it was removed with its segment.
	ErrPruned = fmt.Errorf("%w any more: what was recorded then was pruned", ErrNotFound)
)

// Find returns the durable entry with an event id. Ids that an application gave, and
// those of records that clients have receipts of, are in the index of repeats;
// another one that the journal made holds the time of recorded_at, by which its
// segment is found: an entry that was recorded while the clock was set back by more
// than a segment's age is not found so. It returns ErrNotFound if there is none,
// which is ErrPruned if what was recorded at the time of the id was pruned.
func (l *Ledger) Find(ctx context.Context, eventID string) (*journal.Entry, error) {
	e, err := l.find(ctx, eventID)
	return e, l.place.hide(err)
}

func (l *Ledger) find(ctx context.Context, eventID string) (*journal.Entry, error) {
	var seen *repeat.Seen
	var pruned bool
	var durable uint64
	err := l.do(ctx, func(w *writer) (err error) {
		seen, pruned, err = w.whereIs(repeat.KeyOfEvent(eventID))
		durable = w.durable.Sequence
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case pruned:
		return nil, ErrPruned
	case seen != nil:
		return l.readEvent(eventID, seen.At)
	}
	minted, ours := record.MintedAt(eventID)
	if !ours {
		return nil, ErrNotFound
	}
	e, err := l.search(ctx, eventID, minted)
	if err == nil && e.Header.Sequence > durable {
		return nil, ErrNotFound
	}
	return e, err
}

// whereIs looks up a key that no two entries have. Whoever asks may have been told
// that the entry is durable before the writer was: then that comes first.
func (w *writer) whereIs(key repeat.Key) (seen *repeat.Seen, pruned bool, err error) {
	if w.busy != nil {
		w.settle(<-w.commits.outcomes)
	}
	if w.down != nil {
		return nil, false, w.down
	}
	s, found, err := w.index.FindOne(key)
	switch {
	case err != nil:
		w.ledger.raiseDoubt(err)
		return nil, false, unavailable(err)
	case !found:
		return nil, false, nil
	}
	return &s, w.isPruned(&s), nil
}

// readEvent reads the entry that the index has for an event id.
func (l *Ledger) readEvent(eventID string, at segment.Position) (*journal.Entry, error) {
	e, err := l.read(at)
	switch {
	case errors.Is(err, errPruned):
		return nil, ErrPruned
	case err != nil:
		return nil, unavailable(err)
	case e.Header.EventID != eventID:
		err := fmt.Errorf("%w: the entry at %d of %s is another one", repeat.ErrDamaged, at.Offset, segment.Name(at.Segment))
		l.raiseDoubt(err)
		return nil, unavailable(err)
	}
	return e, nil
}

// search looks for an entry in the segments that were written at a time, which is a
// millisecond's. There is more than one if a segment began then.
func (l *Ledger) search(ctx context.Context, eventID string, minted time.Time) (*journal.Entry, error) {
	o := &l.options
	segments, err := segment.List(o.FS, o.Dir)
	if err != nil {
		return nil, unavailable(err)
	}
	begins := l.begins.Load()
	for len(segments) > 0 && segments[0].First < begins {
		segments = segments[1:]
	}
	failures := make([]error, len(segments))
	behind := sort.Search(len(segments), func(i int) bool {
		var began time.Time
		began, failures[i] = l.began(segments[i])
		return failures[i] == nil && began.Truncate(time.Millisecond).After(minted)
	})
	if err := errors.Join(failures...); err != nil {
		return nil, unavailable(err)
	}
	name, err := json.Marshal(eventID)
	if err != nil {
		return nil, ErrNotFound
	}
	name = append([]byte(`"event_id":`), name...)
	for i := behind - 1; i >= 0; i-- {
		if e, err := l.searchIn(ctx, segments[i], name, eventID); e != nil || err != nil {
			return e, err
		}
		if began, err := l.began(segments[i]); err != nil || began.Before(minted) {
			return nil, errors.Join(ErrNotFound, err)
		}
	}
	if begins > 0 {
		return nil, ErrPruned
	}
	return nil, ErrNotFound
}

// began returns the recorded_at of the first entry of a segment; of one that has none
// yet, a time to come.
func (l *Ledger) began(s segment.Info) (time.Time, error) {
	for line, err := range segment.LinesOf(l.options.FS, l.options.Dir, s) {
		var e *journal.Entry
		if errors.Is(err, segment.ErrNoLine) {
			break
		}
		if err == nil {
			e, err = journal.ParseLine(line.Bytes)
		}
		if err != nil {
			return time.Time{}, err
		}
		return e.Header.RecordedAt.Std(), nil
	}
	return l.options.Now().Add(time.Hour), nil
}

// searchIn looks for an entry in a segment, which may be written meanwhile: what
// follows its last whole line is not durable.
func (l *Ledger) searchIn(ctx context.Context, s segment.Info, name []byte, eventID string) (*journal.Entry, error) {
	for line, err := range segment.LinesOf(l.options.FS, l.options.Dir, s) {
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, segment.ErrNoLine):
			return nil, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, ErrPruned
		case err != nil:
			return nil, unavailable(err)
		case !bytes.Contains(line.Bytes, name):
			continue
		}
		e, err := journal.ParseLine(bytes.Clone(line.Bytes))
		if err != nil {
			return nil, unavailable(err)
		}
		if e.Header.EventID == eventID {
			return e, nil
		}
	}
	return nil, nil
}
