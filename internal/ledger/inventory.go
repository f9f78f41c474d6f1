// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
)

var errNoEntry = errors.New("journal has no entry yet")

// Inventory is what somebody has to know of a journal to plan what may go of it.
type Inventory struct {
	JournalID string
	// Organization and Class are those of the newest entry.
	Organization, Class string
	Standing            Standing
	// Segments are those that stay or may go, in order, the active one last, and
	// Bytes their sizes.
	Segments []retention.Segment
	Bytes    []int64
	// Announced are the file names of segments that a journal.pruned removed and
	// that are still there.
	Announced []string
	// Anchored is false for a journal that ErrNotAnchored is about.
	Anchored bool
	// Checkpoint is the one that covers what is old enough, and that the journal was
	// found to stand on; nil if there is none.
	Checkpoint *journal.SignedCheckpoint
}

// Plan decides by rules. Archived is that of retention.Journal.
func (i *Inventory) Plan(rules retention.Rules, now time.Time, archived func(retention.Segment) bool) retention.Plan {
	j := retention.Journal{
		Class: i.Class, Segments: i.Segments, Held: i.Standing.held(), Anchored: i.Anchored, Archived: archived,
	}
	if i.Checkpoint != nil {
		j.Covered = i.Checkpoint.Size
	}
	return retention.Decide(j, rules, now)
}

// Checkpoints finds a checkpoint of a journal: the smallest of at least a size, or
// the largest of all if none is. It returns nil if there is none at all.
type Checkpoints func(journalID string, size uint64) (*journal.SignedCheckpoint, error)

// TakeInventory reads a journal, which may be written meanwhile, and changes
// nothing. The segments whose last entry is old enough are read and checked in
// full, as far as the first one that stays; of the others the last entry counts.
func TakeInventory(ctx context.Context, fs durable.FS, dir string, rules retention.Rules, now time.Time, checkpoints Checkpoints) (*Inventory, error) {
	i := &Inventory{}
	var err error
	if i.Standing, err = ReadStanding(ctx, fs, dir); err != nil {
		return nil, err
	}
	segments, err := segment.List(fs, dir)
	if err != nil {
		return nil, err
	}
	for len(segments) > 0 && segments[0].First < i.Standing.Begins.FirstSequence {
		i.Announced = append(i.Announced, segment.Name(segments[0].First))
		segments = segments[1:]
	}
	if err := i.peek(fs, dir, segments); err != nil {
		return nil, err
	}
	days, ruled := rules[i.Class]
	old := 0
	for ruled && old < len(i.Segments)-1 && !i.Segments[old].Youngest.After(retention.Cutoff(days, now)) {
		old++
	}
	if old == 0 {
		_, err := newSurvey(fs, dir, i.Standing, nil)
		i.Anchored = err == nil
		return i, ignoring(err, ErrNotAnchored)
	}
	checkpoint, err := checkpoints(i.JournalID, i.Segments[old-1].Last)
	if err != nil {
		return nil, err
	}
	v, err := newSurvey(fs, dir, i.Standing, checkpoint)
	if err != nil {
		return i, ignoring(err, ErrNotAnchored)
	}
	i.Anchored, v.class = true, i.Class
	for at := range old {
		s, err := v.read(ctx)
		if err != nil {
			return nil, err
		}
		i.Segments[at] = s.Segment
		if s.Youngest.After(retention.Cutoff(days, now)) {
			break
		}
	}
	if err := v.reach(ctx); err != nil {
		return nil, err
	}
	size, err := v.covered()
	if size > 0 {
		i.Checkpoint = checkpoint
	}
	return i, err
}

// peek takes what the last lines of segments tell.
func (i *Inventory) peek(fs durable.FS, dir string, segments []segment.Info) error {
	found := false
	for at, s := range segments {
		peeked, active := retention.Segment{First: s.First}, at == len(segments)-1
		if !active {
			peeked.Last = segments[at+1].First - 1
		}
		line, err := segment.LastLine(fs, dir, s)
		var e *journal.Entry
		if err == nil {
			e, err = journal.ParseLine(line.Bytes)
		}
		if err != nil && (!active || !errors.Is(err, segment.ErrNoLine)) {
			return err
		}
		if err == nil { // the active one may be empty, or be written this moment
			peeked.Last, peeked.Youngest = e.Header.Sequence, e.Header.RecordedAt.Std()
			found = true
			i.Organization, i.Class = e.Header.Scope.OrganizationRef, e.Header.Scope.RetentionClass
		}
		i.Segments, i.Bytes = append(i.Segments, peeked), append(i.Bytes, s.Size)
	}
	if !found {
		return errNoEntry
	}
	id, err := JournalID(fs, dir)
	i.JournalID = id
	return err
}

// ignoring returns err unless it is the one that is expected.
func ignoring(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// LastEntry returns the newest entry of a journal, which may be written meanwhile.
func LastEntry(fs durable.FS, dir string) (*journal.Entry, error) {
	segments, err := segment.List(fs, dir)
	if err != nil {
		return nil, err
	}
	for at := len(segments) - 1; at >= 0; at-- {
		line, err := segment.LastLine(fs, dir, segments[at])
		if errors.Is(err, segment.ErrNoLine) && at == len(segments)-1 {
			continue // empty, or written this moment
		}
		if err != nil {
			return nil, err
		}
		return journal.ParseLine(line.Bytes)
	}
	return nil, errNoEntry
}
