// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// indexFile is the name of the index of repeats in its directory.
const indexFile = "repeats.db"

// catchUp makes the index know every durable entry: those behind the last one
// that it learned, or all of them if it is missing, of another history, or in
// doubt.
func (w *writer) catchUp() error {
	o := &w.ledger.options
	var err error
	if w.index == nil {
		if w.index, err = repeat.Open(filepath.Join(o.IndexDir, indexFile), w.indexOf(), o.DedupWindow); err != nil {
			return err
		}
		w.settled, err = parseStanding(w.index.Standing())
		begun := w.index.UpTo().Sequence > 0 || w.index.Standing() != ""
		w.doubtful = w.doubtful || err != nil || begun && !w.index.Sealed(w.sealed)
	}
	w.index.SealWith(w.signer.Sign)
	w.past = nil
	if !w.doubtful {
		w.ledger.begins.Store(w.settled.Begins.FirstSequence)
		anew := w.index.UpTo().Sequence == 0
		err = w.learnBehind(w.index.UpTo())
		w.doubtful = errors.Is(err, repeat.ErrDamaged) || err == nil && anew && w.unremoved()
	}
	if !w.doubtful {
		return err
	}
	if err := w.learnAnew(0); err != nil {
		return err
	}
	if w.unremoved() {
		// What is learned of segments that are about to go hides what was written
		// again since.
		if err := w.learnAnew(w.settled.Begins.FirstSequence); err != nil {
			return err
		}
	}
	w.doubtful = false
	select {
	case <-w.ledger.doubt: // raised about what is no more
	default:
	}
	return nil
}

// indexOf names what an index is of: the journal, as a collector reads it that knows
// these versions. One that knew others took more from an entry, or less (requirement E6).
func (w *writer) indexOf() string {
	name := w.ledger.id
	for _, kind := range []record.Kind{record.KindAction, record.KindApproval} {
		for _, version := range schema.Versions(kind) {
			name += " " + string(kind) + "/" + version
		}
	}
	return name
}

// learnAnew has the index forget everything and learn the segments from one on.
func (w *writer) learnAnew(begins uint64) error {
	if err := w.index.Reset(); err != nil {
		w.index = nil
		return err
	}
	w.settled = Standing{}
	w.ledger.begins.Store(begins)
	return w.learnBehind(repeat.Position{At: segment.Position{Segment: begins}})
}

// learnBehind has the index learn the entries behind one that it must find as it
// was. That fails with ErrDamaged for an index that is ahead of the segments or
// of another history.
func (w *writer) learnBehind(known repeat.Position) error {
	err := w.learnLines(known)
	if missing := segment.Missing(w.ledger.options.FS, w.ledger.options.Dir, w.known); missing != nil {
		// They went away meanwhile, and the index may have learned of a journal
		// without them.
		return fmt.Errorf("%w: %w", repeat.ErrDamaged, missing)
	}
	return err
}

func (w *writer) learnLines(known repeat.Position) error {
	o := &w.ledger.options
	last := known
	horizon := o.Now().Add(-o.DedupWindow)
	found := known.Sequence == 0
	for line, err := range segment.Lines(o.FS, o.Dir, known.At) {
		if w.ledger.ctx.Err() != nil {
			return w.ledger.ctx.Err()
		}
		var e *journal.Entry
		if err == nil {
			e, err = journal.ParseLine(line.Bytes)
		} else if !errors.Is(err, segment.ErrNoLine) {
			return err
		}
		switch {
		case !found && (err != nil || e.Header.Sequence != known.Sequence || e.Integrity.RecordHash != known.Hash):
			return fmt.Errorf("%w: it knows of entry %d, which is not there", repeat.ErrDamaged, known.Sequence)
		case !found:
			found = true
			continue
		case err == nil:
			err = continues(last, e)
		}
		if err != nil {
			return &segment.DamageError{Segment: segment.Name(line.Segment), Offset: line.Offset, Sequence: last.Sequence + 1, Reason: err}
		}
		last = repeat.Position{At: line.Position, Sequence: e.Header.Sequence, Hash: e.Integrity.RecordHash}
		if err := w.learn(e, last, horizon); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%w: it knows of entry %d, which is not there", repeat.ErrDamaged, known.Sequence)
	}
	return nil
}

// continues says what is wrong with an entry that is to be learned behind another
// one: nothing may have been taken out between them, such as a legal hold. Behind
// the zero Position any entry can stand.
func continues(last repeat.Position, e *journal.Entry) error {
	switch {
	case journal.SpellHash(e.PayloadDigest()) != e.Integrity.RecordHash:
		return errRecordHash
	case last.Sequence == 0:
		return nil
	case e.Header.Sequence != last.Sequence+1:
		return &segment.SequenceError{Found: e.Header.Sequence}
	case e.Integrity.PreviousEventHash != last.Hash:
		return errPrevious
	}
	return nil
}

// learn has the index learn a stored entry.
func (w *writer) learn(e *journal.Entry, here repeat.Position, horizon time.Time) error {
	marks, err := w.marksOfStored(e, here.At, horizon)
	if err != nil {
		return err
	}
	standing, err := w.afterStored(e)
	if err != nil {
		return err
	}
	w.setSettled(standing)
	w.ledger.begins.Store(max(w.ledger.begins.Load(), standing.Begins.FirstSequence))
	w.index.Learn(here, marks...)
	if w.index.Worthwhile() {
		return w.index.Flush(w.ledger.options.Now())
	}
	return nil
}

func (w *writer) marksOfStored(e *journal.Entry, at segment.Position, horizon time.Time) ([]repeat.Mark, error) {
	r, err := record.RepeatOf(e.Kind, e.Body)
	if err != nil {
		// A body of a version that we do not know has no repeats among ours.
		return appendMarks(nil, nameMark(repeat.Mark{Seen: repeat.Seen{At: at}, Recorded: e.Header.RecordedAt.Std()}), namesOf(e)...), nil
	}
	mark := repeat.Mark{
		Seen:  repeat.Seen{At: at, Digest: repeat.DigestOf(r.Digest)},
		Given: r.Given, Recorded: e.Header.RecordedAt.Std(),
	}
	var marks []repeat.Mark
	switch {
	case !r.Given && mark.Recorded.Before(horizon):
	case r.ID != "":
		marks, err = w.marksOfID(mark, repeat.KeyOfID(r.ID))
	default:
		keys := make([]repeat.Key, len(r.Parts))
		for i, p := range r.Parts {
			keys[i] = repeat.KeyOfPart(p)
		}
		marks, err = w.marksOfNew(mark, keys...)
	}
	if r.EventID != "" || isLookedForStored(e) {
		marks = append(marks, eventMark(mark, repeat.KeyOfEvent(e.Header.EventID)))
	}
	marks = appendMarks(marks, nameMark(mark), namesOf(e)...)
	return appendMarks(marks, mark, markKeys(r.Marks)...), err
}

// marksOfID returns the marks of a stored entry with an id, which may be the
// first one with it, conflict with the first one, or repeat one of them from
// before the window.
func (w *writer) marksOfID(m repeat.Mark, key repeat.Key) ([]repeat.Mark, error) {
	found, err := w.find(key)
	switch first := found[0]; {
	case err != nil:
		return nil, err
	case first == nil:
		return appendMarks(nil, m, key), nil
	case first.Digest == m.Seen.Digest:
		return nil, nil
	default:
		marks, err := w.marksOfNew(m, key.With(m.Seen.Digest))
		return append(marks, refreshed(m, key, *first)), err
	}
}

// marksOfNew returns a mark for each key that the index does not know.
func (w *writer) marksOfNew(m repeat.Mark, keys ...repeat.Key) ([]repeat.Mark, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := w.find(keys...)
	if err != nil {
		return nil, err
	}
	var unknown []repeat.Key
	for i, f := range found {
		if f == nil {
			unknown = append(unknown, keys[i])
		}
	}
	return appendMarks(nil, m, unknown...), nil
}
