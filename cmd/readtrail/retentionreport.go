// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/record"
)

// plannedSegment is a segment of a plan as it is printed.
type plannedSegment struct {
	Segment       string      `json:"segment"`
	FirstSequence uint64      `json:"first_sequence"`
	LastSequence  uint64      `json:"last_sequence,omitzero"`
	Size          int64       `json:"size"`
	Youngest      record.Time `json:"youngest,omitzero"`
	// Reasons are why it stays.
	Reasons []retention.Reason `json:"reasons,omitempty"`
}

// plannedJournal is the plan of one journal, and what became of it.
type plannedJournal struct {
	JournalID      string `json:"journal_id"`
	Path           string `json:"path"`
	RetentionClass string `json:"retention_class"`
	// KeepDays is absent if no rule is for the class.
	KeepDays *int64        `json:"keep_days,omitempty"`
	Holds    []record.Hold `json:"holds,omitempty"`
	// CheckpointSize is the size of the checkpoint that covers what goes.
	CheckpointSize uint64 `json:"checkpoint_size,omitzero"`
	// FirstSequence is that of the first entry that stays, absent if nothing goes.
	FirstSequence uint64           `json:"first_sequence,omitzero"`
	Goes          []plannedSegment `json:"goes"`
	Stays         []plannedSegment `json:"stays"`
	// Announced are segments that a journal.pruned named and that are still there.
	Announced []string `json:"announced,omitempty"`
	// Done is what apply did.
	Done *control.PruneResponse `json:"done,omitempty"`
}

func newPlannedJournal(path string, i *ledger.Inventory, plan retention.Plan, rules retention.Rules) *plannedJournal {
	p := &plannedJournal{
		JournalID: i.JournalID, Path: path, RetentionClass: i.Class, Holds: i.Standing.Holds,
		FirstSequence: plan.FirstSequence(), Goes: []plannedSegment{}, Stays: []plannedSegment{}, Announced: i.Announced,
	}
	if days, ruled := rules[i.Class]; ruled {
		p.KeepDays = &days
	}
	if i.Checkpoint != nil {
		p.CheckpointSize = i.Checkpoint.Size
	}
	planned := func(s retention.Segment, size int64, reasons []retention.Reason) plannedSegment {
		out := plannedSegment{
			Segment: segment.Name(s.First), FirstSequence: s.First, LastSequence: s.Last, Size: size, Reasons: reasons,
		}
		if !s.Youngest.IsZero() {
			out.Youngest = record.NewTime(s.Youngest)
		}
		return out
	}
	for n, s := range plan.Goes {
		p.Goes = append(p.Goes, planned(s, i.Bytes[n], nil))
	}
	for n, s := range plan.Stays {
		p.Stays = append(p.Stays, planned(s.Segment, i.Bytes[len(plan.Goes)+n], s.Reasons))
	}
	return p
}

// nothing reports whether there is nothing to do.
func (p *plannedJournal) nothing() bool {
	return len(p.Goes) == 0 && (len(p.Announced) == 0 || len(p.Holds) > 0)
}

// write prints the plan, one fact a line. Segments that stay for the same reasons
// share one.
func (p *plannedJournal) write(w io.Writer, first bool) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s: %s\n", name, escape(fmt.Sprintf(format, args...)))
	}
	if !first {
		fmt.Fprintln(w)
	}
	line("journal", "%s", p.JournalID)
	line("path", "%s", p.Path)
	line("retention_class", "%s", p.RetentionClass)
	if p.KeepDays != nil {
		line("keep_days", "%d", *p.KeepDays)
	}
	for _, h := range p.Holds {
		line("hold", "%s", h.HoldID)
	}
	if p.CheckpointSize > 0 {
		line("checkpoint_size", "%d", p.CheckpointSize)
	}
	for _, name := range p.Announced {
		line("announced", "%s is pruned and still there", name)
	}
	for _, s := range p.Goes {
		line("goes", "%s, sequence %d-%d, %d bytes, youngest entry %s", s.Segment, s.FirstSequence, s.LastSequence, s.Size, s.Youngest.Std().Format("2006-01-02T15:04:05Z"))
	}
	for stays := p.Stays; len(stays) > 0; {
		n := 1
		for n < len(stays) && slices.Equal(stays[n].Reasons, stays[0].Reasons) {
			n++
		}
		names := stays[0].Segment
		if n > 1 {
			names = fmt.Sprintf("%s to %s (%d segments)", stays[0].Segment, stays[n-1].Segment, n)
		}
		line("stays", "%s, sequence %d-%d: %s", names, stays[0].FirstSequence, stays[n-1].LastSequence, joinReasons(stays[0].Reasons))
		stays = stays[n:]
	}
	if d := p.Done; d != nil {
		line("announced_segments", "%d", len(d.Announced))
		line("removed_segments", "%d", d.Removed)
		line("first_sequence", "%d", d.FirstSequence)
	} else if len(p.Goes) == 0 {
		line("goes", "nothing")
	}
}

func joinReasons(reasons []retention.Reason) string {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = string(r)
	}
	return strings.Join(texts, ", ")
}
