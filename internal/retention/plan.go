// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package retention decides which segments of a journal may go: whole sealed
// segments from the beginning of one retention class's journal, once their
// youngest entry is old enough, nothing is under legal hold and a checkpoint
// outside the journal covers them. It decides only; it neither reads nor removes
// anything.
package retention

import "time"

// Reason says why a segment stays. Reasons are a public contract: they stand in
// the JSON of a plan.
type Reason string

// The reasons, in the order in which they are given.
const (
	// Held: a legal hold is set on the journal, or the scope of its entries says
	// legal_hold.
	Held Reason = "hold"
	// NoRule: no rule says how long entries of the journal's class are kept.
	NoRule Reason = "no_rule"
	// Unanchored: the journal begins after sequence 1 and no journal.pruned says
	// what stood before, so that its tree cannot be continued.
	Unanchored Reason = "unanchored"
	// Active: the segment is the last one, which is written.
	Active Reason = "active_segment"
	// TooYoung: its youngest entry has to be kept longer.
	TooYoung Reason = "too_young"
	// OtherClass: it holds entries of another retention class than the journal.
	OtherClass Reason = "other_class"
	// NotCovered: no checkpoint that was given covers all of it. It is only said of
	// what is old enough, with all before it: no checkpoint is looked for otherwise.
	NotCovered Reason = "no_checkpoint"
	// NotArchived: a locked copy is demanded, and there is none.
	NotArchived Reason = "not_archived"
	// Behind: it may go itself, but one before it stays.
	Behind Reason = "earlier_segment_stays"
)

// Day is the unit of a rule.
const Day = 24 * time.Hour

// Segment is a segment as far as a decision needs it.
type Segment struct {
	// First and Last are the sequences of its first and last entry.
	First, Last uint64
	// Youngest is the largest recorded_at of its entries: a clock that was set back
	// makes no entry older.
	Youngest time.Time
	// OtherClass and Held say that an entry of it is of another class, or says
	// legal_hold in its scope.
	OtherClass, Held bool
}

// Journal is a journal as far as a decision needs it.
type Journal struct {
	// Class is the retention class of its entries.
	Class string
	// Segments are all of them, in order, the active one last.
	Segments []Segment
	// Held says that a legal hold is set.
	Held bool
	// Anchored says that the journal begins at sequence 1 or where a
	// journal.pruned says.
	Anchored bool
	// Covered is the size of the checkpoint that covers what is old enough from the
	// journal's beginning on, 0 if there is none.
	Covered uint64
	// Archived says whether a segment has a locked copy; nil demands none.
	Archived func(Segment) bool
}

// Stay is why a segment stays.
type Stay struct {
	Segment Segment
	Reasons []Reason
}

// Plan is what may go of a journal and what stays.
type Plan struct {
	Goes  []Segment
	Stays []Stay
}

// FirstSequence returns the sequence of the first entry that stays, or 0 if
// nothing goes.
func (p Plan) FirstSequence() uint64 {
	if len(p.Goes) == 0 {
		return 0
	}
	return p.Goes[len(p.Goes)-1].Last + 1
}

// Cutoff returns the time before which entries that are kept for days may go.
func Cutoff(days int64, now time.Time) time.Time { return now.Add(-time.Duration(days) * Day) }

// Decide plans by the rule of the journal's class. An entry that is kept for n
// days may go when n times 24 hours have passed since it was recorded.
func Decide(j Journal, rules Rules, now time.Time) Plan {
	var p Plan
	days, ruled := rules[j.Class]
	cutoff := Cutoff(days, now)
	aged := ruled && j.Anchored // so far
	for i, s := range j.Segments {
		var reasons []Reason
		add := func(holds bool, r Reason) {
			if holds {
				reasons = append(reasons, r)
			}
		}
		add(j.Held || s.Held, Held)
		add(!ruled, NoRule)
		add(!j.Anchored, Unanchored)
		if i == len(j.Segments)-1 {
			add(true, Active)
		} else {
			tooYoung := ruled && s.Youngest.After(cutoff)
			aged = aged && !tooYoung
			add(tooYoung, TooYoung)
			add(s.OtherClass, OtherClass)
			add(aged && s.Last > j.Covered, NotCovered)
		}
		add(len(reasons) == 0 && len(p.Stays) > 0, Behind)
		// Asking an archive may cost a request: only of what would go.
		add(len(reasons) == 0 && j.Archived != nil && !j.Archived(s), NotArchived)
		if len(reasons) > 0 {
			p.Stays = append(p.Stays, Stay{s, reasons})
		} else {
			p.Goes = append(p.Goes, s)
		}
	}
	return p
}
