// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	// ErrHeld says that a legal hold is set.
	ErrHeld = errors.New("a legal hold is set on the journal, and nothing of it is removed until it is lifted")
	// ErrNotWhole says that no sealed segment ends where something is to go.
	ErrNotWhole = errors.New("only whole sealed segments from the beginning can go; plan again")
	// errPruned says that an entry that the index knew is in a segment that is gone.
	errPruned = errors.New("entry was pruned")
)

// RefusedError says that a segment may not be removed.
type RefusedError struct {
	// Segment is a file name.
	Segment string
	Reasons []retention.Reason
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s may not be removed (%v); plan again", e.Segment, e.Reasons)
}

// maxPruned bounds the segments of one journal.pruned, whose line is at most
// 1 MiB.
const maxPruned = 1000

// Pruning says what to remove and why that is allowed.
type Pruning struct {
	// FirstSequence is that of the first entry that stays.
	FirstSequence uint64
	// KeepDays is for how many days entries of the journal's class are kept.
	KeepDays int64
	// RequestedBy is the person who asks, if known.
	RequestedBy string
	// Checkpoint covers everything that goes. It is compared with the journal.
	Checkpoint *journal.SignedCheckpoint
	// Archived returns where a locked copy of a segment is, having asked for it; nil
	// demands none.
	Archived func(context.Context, record.PrunedSegment) (string, error)
}

// Pruned says what was removed.
type Pruned struct {
	// FirstSequence is that of the first entry that is left.
	FirstSequence uint64
	// Announced are the segments that new entries journal.pruned name, and Removed
	// the number of those that are gone, with those that were announced before.
	Announced []record.PrunedSegment
	Removed   int
}

// Prune removes whole sealed segments from the beginning of the journal. It reads
// all of what goes, checks what may be checked again (age, class, hash, chain,
// checkpoint), announces it with a journal.pruned that is durable before the
// first segment is unlinked, and removes them oldest first, each durably, so that
// what is left is whole at any moment. Whether a legal hold is set is decided in
// the journal's own order: one that was set before the announcement wins, and one
// that is set after it keeps what is not yet unlinked. What was announced and not
// removed is removed by the next Prune or Open. After an error Pruned says what
// was done until then.
func (l *Ledger) Prune(ctx context.Context, p Pruning) (Pruned, error) {
	l.pruning.Lock()
	defer l.pruning.Unlock()
	done, err := l.prune(ctx, p)
	return done, l.place.hide(err)
}

func (l *Ledger) prune(ctx context.Context, p Pruning) (done Pruned, err error) {
	if p.KeepDays < 0 || p.KeepDays > retention.MaxDays {
		return done, fmt.Errorf("entries cannot be kept for %d days", p.KeepDays)
	}
	if err := CheckWords("requested by", p.RequestedBy); err != nil {
		return done, err
	}
	var standing Standing
	var key ed25519.PublicKey
	err = l.do(ctx, func(w *writer) error {
		standing, key = w.settled, w.signer.PublicKey()
		return nil
	})
	if err != nil {
		return done, err
	}
	done.FirstSequence = max(standing.Begins.FirstSequence, 1)
	if standing.held() {
		return done, ErrHeld
	}
	if err := l.removeAnnounced(ctx, &done); err != nil {
		return done, err
	}
	if p.FirstSequence <= done.FirstSequence {
		return done, nil
	}
	batches, err := l.surveyed(ctx, standing, key, p)
	if err != nil {
		return done, err
	}
	for _, b := range batches {
		if err := l.announce(ctx, b); err != nil {
			return done, err
		}
		done.FirstSequence = b.FirstSequence
		done.Announced = append(done.Announced, b.Segments...)
		if err := l.removeAnnounced(ctx, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// surveyed reads what is to go and returns what has to be said of it, in as many
// entries as that takes.
func (l *Ledger) surveyed(ctx context.Context, standing Standing, key ed25519.PublicKey, p Pruning) (batches []record.Pruned, err error) {
	o := &l.options
	v, err := newSurvey(o.FS, o.Dir, standing, p.Checkpoint)
	if err != nil {
		return nil, err
	}
	v.journalID, v.class = l.id, o.Scope.RetentionClass
	var all []Surveyed
	for v.next < p.FirstSequence && v.more() {
		s, err := v.read(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if v.next != p.FirstSequence {
		return nil, ErrNotWhole
	}
	if err := v.reach(ctx); err != nil {
		return nil, err
	}
	covered, err := v.covered(key)
	if err != nil {
		return nil, err
	}
	j := retention.Journal{Class: v.class, Anchored: true, Covered: covered, Held: o.Scope.LegalHold}
	for _, s := range all {
		j.Segments = append(j.Segments, s.Segment)
	}
	// The last of a plan is the active segment, which is none of these.
	j.Segments = append(j.Segments, retention.Segment{First: v.next})
	for _, stay := range retention.Decide(j, retention.Rules{v.class: p.KeepDays}, o.Now()).Stays {
		if stay.Segment.First != v.next {
			return nil, &RefusedError{Segment: segment.Name(stay.Segment.First), Reasons: stay.Reasons}
		}
	}
	return l.batches(ctx, all, p)
}

func (l *Ledger) batches(ctx context.Context, all []Surveyed, p Pruning) (batches []record.Pruned, err error) {
	for some := range slices.Chunk(all, maxPruned) {
		last := some[len(some)-1]
		b := record.Pruned{
			FirstSequence: last.Last + 1, Anchor: last.Anchor, TreeHashes: last.TreeHashes,
			Rule: record.PruneRule{KeepDays: p.KeepDays, RequestedBy: p.RequestedBy},
		}
		for _, s := range some {
			if p.Archived != nil {
				if s.File.ArchivedAs, err = p.Archived(ctx, s.File); err != nil {
					return nil, fmt.Errorf("%s has no locked copy: %w", s.File.Segment, err)
				}
			}
			b.Segments = append(b.Segments, s.File)
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// announce writes journal.pruned, unless the journal is another one by now than
// that which was surveyed.
func (l *Ledger) announce(ctx context.Context, b record.Pruned) error {
	body := about(record.EventJournalPruned)
	body.Detail = b
	_, err := l.decree(ctx, body, func(w *writer) error {
		switch at, found := slices.BinarySearch(w.known.Segments, b.FirstSequence); {
		case w.standing.held():
			return ErrHeld
		case !found || at != len(b.Segments):
			return ErrNotWhole
		}
		return nil
	})
	return err
}

// removeAnnounced removes what a durable journal.pruned named, one segment at a
// time between the writer's other steps, so that callers of Append hardly wait.
// A ctx that ends leaves the rest for the next time.
func (l *Ledger) removeAnnounced(ctx context.Context, done *Pruned) error {
	for {
		var removed bool
		err := l.do(ctx, func(w *writer) (err error) {
			if w.down != nil {
				return w.down
			}
			removed, err = w.removeOldest()
			return err
		})
		if err != nil || !removed {
			return err
		}
		done.Removed++
	}
}

// removeOldest removes the oldest segment that a durable journal.pruned names,
// and reports whether there was one. A hold that was set meanwhile keeps it.
func (w *writer) removeOldest() (bool, error) {
	o := &w.ledger.options
	segments, err := segment.List(o.FS, o.Dir)
	switch {
	case err != nil:
		return false, err
	case len(segments) < 2 || segments[1].First > w.settled.Begins.FirstSequence:
		return false, nil
	case w.standing.held():
		return false, ErrHeld
	}
	if err := segment.Remove(o.FS, o.Dir, segments[0].First); err != nil {
		return false, fmt.Errorf("remove %s, which is pruned: %w", segment.Name(segments[0].First), err)
	}
	w.ledger.forgetExecutions(segments[0].First)
	return true, nil
}

// completeRemoval removes what a crash or an error left of segments that were
// pruned. That it cannot is no reason not to write.
func (w *writer) completeRemoval() {
	w.standing, w.unsettled = w.settled, 0
	w.ledger.begins.Store(w.settled.Begins.FirstSequence)
	for removed := true; removed; {
		var err error
		if removed, err = w.removeOldest(); err != nil && !errors.Is(err, ErrHeld) {
			w.ledger.options.Observer.failed(err)
		}
	}
	w.forget()
}

// forget takes what is pruned from the segments that must be there.
func (w *writer) forget() {
	if w.unremoved() {
		at, _ := slices.BinarySearch(w.known.Segments, w.settled.Begins.FirstSequence)
		w.known.Segments = slices.Clone(w.known.Segments[at:])
	}
}

// unremoved reports whether segments are known that were pruned.
func (w *writer) unremoved() bool {
	return len(w.known.Segments) > 0 && w.known.Segments[0] < w.settled.Begins.FirstSequence
}
