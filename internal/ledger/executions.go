// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/readtrail/readtrail/internal/ledger/execution"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
)

// ErrNoExecutions says that a journal was opened without Options.Executions.
var ErrNoExecutions = errors.New("journal keeps no index of executions")

// learnExecutions makes the entries of a durable group known to those who ask for
// the entries of an execution, before anybody is acknowledged: whoever has a receipt
// finds the entry.
func (l *Ledger) learnExecutions(g *group) {
	if l.executions == nil || len(g.entries) == 0 {
		return
	}
	for _, e := range g.entries {
		l.marker.Draft(e.item.draft, e.at.Offset)
	}
	l.executions.Learn(g.entries[0].at.Segment, &l.marker)
}

// forgetExecutions forgets a segment. A file that stays is of no harm.
func (l *Ledger) forgetExecutions(first uint64) {
	if l.executions != nil {
		_ = l.executions.Forget(first)
	}
}

// executionsFailed is told of a file of the index of executions that could not be
// written; look-ups read the segment instead. The writer tells the observer, which
// is told one thing at a time, of one such trouble each time it looks.
func (l *Ledger) executionsFailed(err error) {
	select {
	case l.trouble <- err:
	default:
	}
}

// EntriesOf iterates over the durable entries that an execution has in the journal,
// lineage records apart, in the journal's order. Each is read where it stands, and
// its record_hash is checked, not its signature. An entry that is acknowledged when
// the iteration begins is among them, over restarts and rotations, unless it was
// pruned. The iteration ends with an error if one cannot be read: then nobody knows
// what is missing.
func (l *Ledger) EntriesOf(ctx context.Context, executionID string) iter.Seq2[*journal.Entry, error] {
	t := &Trail{ledger: l, id: executionID, key: execution.KeyOf(executionID)}
	return t.Entries(ctx)
}

// Follow begins a Trail of an execution. Wake is told, if it has room, whenever the
// execution got entries. Close ends it.
func (l *Ledger) Follow(executionID string, wake chan<- struct{}) (*Trail, error) {
	if l.executions == nil {
		return nil, ErrNoExecutions
	}
	t := &Trail{ledger: l, id: executionID, key: execution.KeyOf(executionID)}
	t.watch = l.executions.Watch(t.key, wake)
	return t, nil
}

// Trail follows an execution as its entries become durable. It is for one goroutine
// at a time.
type Trail struct {
	ledger *Ledger
	id     string
	key    execution.Key
	watch  *execution.Watch
	// next is behind the last entry that was given.
	next segment.Position
}

// Close ends the trail.
func (t *Trail) Close() {
	if t.watch != nil {
		t.ledger.executions.Unwatch(t.watch)
	}
}

// Trails follow one execution through several journals.
type Trails []*Trail

// Entries gives what Entries of each trail does, one journal after the other.
func (s Trails) Entries(ctx context.Context) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		for _, t := range s {
			for e, err := range t.Entries(ctx) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Close ends the trails.
func (s Trails) Close() {
	for _, t := range s {
		t.Close()
	}
}

// Entries is EntriesOf for the entries that the trail did not give before.
func (t *Trail) Entries(ctx context.Context) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		l := t.ledger
		if l.executions == nil {
			yield(nil, ErrNoExecutions)
			return
		}
		segments, err := segment.List(l.options.FS, l.options.Dir)
		if err != nil {
			yield(nil, t.failure(err))
			return
		}
		for _, s := range segments {
			if s.First < max(t.next.Segment, l.begins.Load()) {
				continue
			}
			if more, err := t.entriesIn(ctx, s, yield); err != nil {
				yield(nil, t.failure(err))
				return
			} else if !more {
				return
			}
		}
	}
}

// entriesIn gives those of one segment, and reports whether more are wanted.
func (t *Trail) entriesIn(ctx context.Context, s segment.Info, yield func(*journal.Entry, error) bool) (more bool, err error) {
	l := t.ledger
	anew := false
	for {
		from := int64(0)
		if t.next.Segment == s.First {
			from = t.next.Offset
		}
		offsets, err := l.executions.Find(ctx, s, t.key, from)
		for _, offset := range offsets {
			var e *journal.Entry
			if e, err = t.read(segment.Position{Segment: s.First, Offset: offset}); err != nil {
				break
			}
			t.next = segment.Position{Segment: s.First, Offset: offset + int64(len(e.Line)) + 1}
			if e.Header.Correlation.ExecutionID == t.id && !yield(e, nil) {
				return false, nil
			}
		}
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, fs.ErrNotExist) && s.First < l.begins.Load():
			return true, nil // pruned meanwhile
		case !errors.Is(err, errNotThere) || anew:
			return false, err
		}
		// The index may be wrong, which is only a cache: the segment decides.
		anew = true
		if err := l.executions.Forget(s.First); err != nil {
			return false, err
		}
	}
}

// errNotThere says that no intact entry begins where the index of executions says.
var errNotThere = errors.New("no intact entry stands there")

func (t *Trail) read(at segment.Position) (*journal.Entry, error) {
	line, err := segment.ReadLine(t.ledger.options.FS, t.ledger.options.Dir, at)
	if err != nil && !errors.Is(err, segment.ErrNoLine) {
		return nil, err
	}
	var e *journal.Entry
	if err == nil {
		e, err = journal.ParseLine(line)
	}
	if err == nil && journal.SpellHash(e.PayloadDigest()) != e.Integrity.RecordHash {
		err = errRecordHash
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s at %d: %w", errNotThere, segment.Name(at.Segment), at.Offset, err)
	}
	return e, nil
}

// failure is what callers get, without the place of the journal.
func (t *Trail) failure(err error) error {
	return t.ledger.place.hide(fmt.Errorf("entries of an execution: %w", err))
}
