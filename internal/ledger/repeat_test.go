// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// asRepeat is the receipt that a repeat gets.
func asRepeat(r journal.Receipt) journal.Receipt {
	r.Repeat = true
	return r
}

func TestARepeatGetsTheReceiptOfTheFirstEntry(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, l *ledger.Ledger, o *ledger.Options) *ledger.Ledger{
		"at once": func(_ *testing.T, l *ledger.Ledger, _ *ledger.Options) *ledger.Ledger { return l },
		"after a restart": func(t *testing.T, l *ledger.Ledger, o *ledger.Options) *ledger.Ledger {
			closeLedger(t, l)
			return open(t, *o)
		},
		"after rotations": func(t *testing.T, l *ledger.Ledger, _ *ledger.Options) *ledger.Ledger {
			for n := range 20 {
				appendAll(t, l, read(t, id(100+n), "1"))
			}
			return l
		},
		"after the index was deleted": func(t *testing.T, l *ledger.Ledger, o *ledger.Options) *ledger.Ledger {
			closeLedger(t, l)
			require.NoError(t, os.RemoveAll(o.IndexDir))
			return open(t, *o)
		},
		"after the index was overwritten": func(t *testing.T, l *ledger.Ledger, o *ledger.Options) *ledger.Ledger {
			closeLedger(t, l)
			require.NoError(t, os.WriteFile(filepath.Join(o.IndexDir, "repeats.db"), make([]byte, 50_000), 0o600))
			return open(t, *o)
		},
		"after the index fell behind": func(t *testing.T, l *ledger.Ledger, o *ledger.Options) *ledger.Ledger {
			closeLedger(t, l)
			file := filepath.Join(o.IndexDir, "repeats.db")
			old, err := os.ReadFile(file)
			require.NoError(t, err)
			l = open(t, *o)
			appendAll(t, l, batch(t, 50, 60)...)
			closeLedger(t, l)
			require.NoError(t, os.WriteFile(file, old, 0o600))
			l = open(t, *o)
			require.True(t, appendAll(t, l, read(t, id(55), "1"))[0].Repeat)
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			o := optionsFor(t, fs)
			o.MaxSegmentBytes = 8_000
			l := open(t, o)
			first := appendAll(t, l, batch(t, 0, 4)...)
			l = between(t, l, &o)
			again := appendAll(t, l, append(batch(t, 0, 4), read(t, id(9), "1"))...)
			for i := range first {
				require.Equal(t, asRepeat(first[i]), again[i])
			}
			require.False(t, again[4].Repeat)
			closeLedger(t, l)
			for name, n := range countIDs(t, audit(t, fs, dir)) {
				require.Equal(t, 1, n, name)
			}
		})
	}
}

func TestRepeatsInOneAppendAndInConcurrentOnesLeaveOneEntry(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, optionsFor(t, fs))
	receipts := appendAll(t, l, read(t, "read_a", "1"), read(t, "read_a", "1"))
	require.Equal(t, asRepeat(receipts[0]), receipts[1])

	got := make([]journal.Receipt, 32)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			receipts, err := l.Append(t.Context(), []*record.Draft{read(t, "read_b", "1")})
			if assert.NoError(t, err) {
				got[i] = receipts[0]
			}
		})
	}
	wg.Wait()
	firsts := 0
	for _, r := range got {
		if !r.Repeat {
			firsts++
		}
		require.Equal(t, asRepeat(got[0]), asRepeat(r))
	}
	require.Equal(t, 1, firsts)
	closeLedger(t, l)
	require.Equal(t, map[string]int{"read_a": 1, "read_b": 1}, countIDs(t, audit(t, fs, dir)))
}

func TestAnotherBodyWithTheSameIDConflictsOnceAndItsRedeliveryIsARepeat(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	var repeats, conflicts int
	o.Observer.Repeats = func(n int) { repeats += n }
	o.Observer.Conflicts = func(n int) { conflicts += n }
	l := open(t, o)
	versions := func() []*record.Draft {
		return []*record.Draft{read(t, "read_a", "1"), read(t, "read_a", "2"), read(t, "read_a", "3")}
	}
	first := appendAll(t, l, versions()...)
	for _, r := range first {
		require.False(t, r.Repeat)
	}
	for round := range 3 {
		for i, r := range appendAll(t, l, versions()...) {
			require.Equal(t, asRepeat(first[i]), r)
		}
		closeLedger(t, l)
		if round == 1 {
			require.NoError(t, os.RemoveAll(o.IndexDir))
		}
		l = open(t, o)
	}
	fourth := appendAll(t, l, read(t, "read_a", "4"))[0] // conflicts with a stored one
	require.False(t, fourth.Repeat)
	closeLedger(t, l)
	require.Equal(t, 9, repeats)
	require.Equal(t, 3, conflicts)

	entries := audit(t, fs, dir)
	require.Equal(t, 4, countIDs(t, entries)["read_a"])
	require.Empty(t, bodyOf(t, entries[first[0].Sequence-1]).ConflictsWith)
	for _, r := range append(first[1:], fourth) {
		require.Equal(t, first[0].EventID, bodyOf(t, entries[r.Sequence-1]).ConflictsWith)
	}
}

func TestSpansAlreadyRecordedAreLeftOutAndNothingIsWrittenIfNoneIsLeft(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	a, b, c := "00000000000000aa", "00000000000000bb", "00000000000000cc"
	receipts := appendAll(t, l, lineage(t, a, b, a), lineage(t, b, c), lineage(t, c, a))
	require.False(t, receipts[1].Repeat)
	require.Equal(t, asRepeat(receipts[1]), receipts[2])
	for round := range 2 {
		require.Equal(t, asRepeat(receipts[0]), appendAll(t, l, lineage(t, a, c))[0])
		closeLedger(t, l)
		if round == 0 {
			require.NoError(t, os.RemoveAll(o.IndexDir))
		}
		l = open(t, o)
	}
	require.Equal(t, asRepeat(receipts[0]), appendAll(t, l, lineage(t, b))[0])
	closeLedger(t, l)
	var spans []string
	for _, e := range audit(t, fs, dir) {
		for _, s := range bodyOf(t, e).Spans {
			spans = append(spans, s.SpanID)
		}
	}
	require.Equal(t, []string{a, b, c}, spans)
}

func TestTheHorizonOfRepeatsEndsForDerivedIDsOnly(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	c := newClock()
	o.Now, o.DedupWindow = c.Now, time.Hour
	l := open(t, o)
	appendAll(t, l, read(t, "read_derived", "1"), readGiven(t, "read_given", "1", true))
	for _, rebuilt := range []bool{false, true} {
		c.advance(50 * time.Minute)
		r := appendAll(t, l, read(t, "read_derived", "1"), readGiven(t, "read_given", "1", true))
		require.True(t, r[1].Repeat)
		if !rebuilt {
			require.True(t, r[0].Repeat, "within the window")
		}
		closeLedger(t, l)
		if rebuilt {
			require.NoError(t, os.RemoveAll(o.IndexDir))
		}
		c.advance(2 * time.Hour)
		l = open(t, o)
	}
	r := appendAll(t, l, read(t, "read_derived", "1"), readGiven(t, "read_given", "1", true))
	require.False(t, r[0].Repeat)
	require.True(t, r[1].Repeat)
}

func TestAConflictingEntryStaysARepeatAfterTheFirstOneWasForgotten(t *testing.T) {
	for _, behind := range []bool{false, true} {
		t.Run(fmt.Sprint("index behind: ", behind), func(t *testing.T) {
			o := optionsFor(t, crashfs.New(1))
			c := newClock()
			o.Now, o.DedupWindow = c.Now, time.Hour
			l := open(t, o)
			appendAll(t, l, read(t, "read_a", "1"))
			closeLedger(t, l)
			file := filepath.Join(o.IndexDir, "repeats.db")
			old, err := os.ReadFile(file)
			require.NoError(t, err)

			c.advance(50 * time.Minute)
			l = open(t, o)
			second := appendAll(t, l, read(t, "read_a", "2"))[0]
			require.False(t, second.Repeat)
			closeLedger(t, l)
			if behind {
				require.NoError(t, os.WriteFile(file, old, 0o600))
			}
			for range 2 { // each flush at closing drops what expired
				closeLedger(t, open(t, o))
				c.advance(25 * time.Minute)
			}
			closeLedger(t, open(t, o))
			require.Equal(t, asRepeat(second), appendAll(t, open(t, o), read(t, "read_a", "2"))[0])
		})
	}
}

func readWithEvent(t *testing.T, id, version, eventID string) *record.Draft {
	t.Helper()
	d, err := record.NewReadDraft(&record.Read{
		Header:   record.Header{EventID: eventID, EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1)},
		ReadID:   id,
		Response: record.Response{SourceRecordVersion: version},
	}, false)
	require.NoError(t, err)
	return d
}

func TestAnEventIDThatTheApplicationGaveIsKept(t *testing.T) {
	l := open(t, optionsFor(t, crashfs.New(1)))
	first := appendAll(t, l, readWithEvent(t, "read_a", "1", "evt_mine"))[0]
	require.Equal(t, "evt_mine", first.EventID)
	require.Equal(t, asRepeat(first), appendAll(t, l, readWithEvent(t, "read_a", "1", "evt_retry"))[0])
}

func TestAnEventIDNamesOneEntryOnly(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, readWithEvent(t, "read_a", "1", "evt_mine"), readWithEvent(t, "read_b", "1", "evt_mine"))
	appendAll(t, l, readWithEvent(t, "read_a", "2", "evt_mine"))
	closeLedger(t, l)
	require.NoError(t, os.RemoveAll(o.IndexDir))
	l = open(t, o)
	appendAll(t, l, readWithEvent(t, "read_c", "1", "evt_mine"))
	closeLedger(t, l)

	seen := map[string]bool{}
	conflicts := 0
	for _, e := range audit(t, fs, o.Dir) {
		require.False(t, seen[e.Header.EventID], "%s names two entries", e.Header.EventID)
		seen[e.Header.EventID] = true
		if bodyOf(t, e).ConflictsWith == "evt_mine" {
			conflicts++
		}
	}
	require.True(t, seen["evt_mine"])
	require.Equal(t, 3, conflicts)
}
