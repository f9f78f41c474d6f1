// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package retention_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/retention"
)

var now = time.Date(2036, 10, 9, 12, 0, 0, 0, time.UTC)

// daysAgo is a segment of ten entries, the youngest recorded n days ago.
func daysAgo(first uint64, n int) retention.Segment {
	return retention.Segment{First: first, Last: first + 9, Youngest: now.Add(-time.Duration(n) * retention.Day)}
}

// ready is a journal of which two segments may go.
func ready() retention.Journal {
	return retention.Journal{
		Class: "kyc", Anchored: true, Covered: 40,
		Segments: []retention.Segment{daysAgo(1, 30), daysAgo(11, 10), daysAgo(21, 9), daysAgo(31, 0)},
	}
}

func reasons(p retention.Plan) (out [][]retention.Reason) {
	for _, s := range p.Stays {
		out = append(out, s.Reasons)
	}
	return out
}

func TestWholeSealedSegmentsGoWhenTheirYoungestEntryIsOldEnough(t *testing.T) {
	p := retention.Decide(ready(), retention.Rules{"kyc": 10}, now)
	require.Len(t, p.Goes, 2, "one that was recorded exactly ten days ago goes")
	require.Equal(t, uint64(21), p.FirstSequence())
	require.Equal(t, [][]retention.Reason{{retention.TooYoung}, {retention.Active}}, reasons(p))
}

func TestNothingGoesWithoutAWordWhy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*retention.Journal)
		rules  retention.Rules
		want   [][]retention.Reason
	}{
		"hold": {
			func(j *retention.Journal) { j.Held = true },
			retention.Rules{"kyc": 10},
			[][]retention.Reason{{retention.Held}, {retention.Held}, {retention.Held, retention.TooYoung}, {retention.Held, retention.Active}},
		},
		"another class's rule": {
			nil,
			retention.Rules{"default": 0},
			[][]retention.Reason{{retention.NoRule}, {retention.NoRule}, {retention.NoRule}, {retention.NoRule, retention.Active}},
		},
		"no checkpoint": {
			func(j *retention.Journal) { j.Covered = 9 },
			retention.Rules{"kyc": 0},
			[][]retention.Reason{{retention.NotCovered}, {retention.NotCovered}, {retention.NotCovered}, {retention.Active}},
		},
		"no checkpoint was looked for": {
			func(j *retention.Journal) { j.Covered = 0; j.Segments[2] = daysAgo(21, 40) },
			retention.Rules{"kyc": 31},
			[][]retention.Reason{{retention.TooYoung}, {retention.TooYoung}, {retention.Behind}, {retention.Active}},
		},
		"no anchor": {
			func(j *retention.Journal) { j.Anchored = false },
			retention.Rules{"kyc": 20},
			[][]retention.Reason{
				{retention.Unanchored},
				{retention.Unanchored, retention.TooYoung},
				{retention.Unanchored, retention.TooYoung},
				{retention.Unanchored, retention.Active},
			},
		},
		"the first segment stays": {
			func(j *retention.Journal) { j.Segments[0].OtherClass = true },
			retention.Rules{"kyc": 10},
			[][]retention.Reason{{retention.OtherClass}, {retention.Behind}, {retention.TooYoung}, {retention.Active}},
		},
		"the first segment is held": {
			func(j *retention.Journal) { j.Segments[0].Held = true },
			retention.Rules{"kyc": 10},
			[][]retention.Reason{{retention.Held}, {retention.Behind}, {retention.TooYoung}, {retention.Active}},
		},
		"no copy": {
			func(j *retention.Journal) { j.Archived = func(retention.Segment) bool { return false } },
			retention.Rules{"kyc": 9},
			[][]retention.Reason{{retention.NotArchived}, {retention.Behind}, {retention.Behind}, {retention.Active}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := ready()
			if c.change != nil {
				c.change(&j)
			}
			p := retention.Decide(j, c.rules, now)
			require.Empty(t, p.Goes)
			require.Zero(t, p.FirstSequence())
			require.Equal(t, c.want, reasons(p))
		})
	}
}

func TestAClockThatWasSetBackMakesNoSegmentOlder(t *testing.T) {
	j := ready()
	j.Segments[0].Youngest = now.Add(24 * time.Hour)
	p := retention.Decide(j, retention.Rules{"kyc": 0}, now)
	require.Empty(t, p.Goes)
	require.Equal(t, []retention.Reason{retention.TooYoung}, p.Stays[0].Reasons)
}

func TestOnlyWhatWouldGoIsAskedOfTheArchive(t *testing.T) {
	j := ready()
	var asked []uint64
	j.Archived = func(s retention.Segment) bool {
		asked = append(asked, s.First)
		return s.First == 1
	}
	p := retention.Decide(j, retention.Rules{"kyc": 9}, now)
	require.Len(t, p.Goes, 1)
	require.Equal(t, []uint64{1, 11}, asked)
}
