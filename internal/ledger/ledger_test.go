// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/ed25519"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/record"
)

func TestAJournalTellsItsOwnLifeAroundItsRecords(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	first := appendAll(t, l, batch(t, 0, 3)...)
	closeLedger(t, l)
	l = open(t, o)
	appendAll(t, l, read(t, id(3), "1"))
	closeLedger(t, l)
	closeLedger(t, l) // again

	entries := audit(t, fs, dir)
	require.Equal(t, []string{
		"journal.opened", "read.tool", "read.tool", "read.tool", "journal.closed", "journal.resumed", "read.tool", "journal.closed",
	}, eventTypes(entries))
	for i, r := range first {
		e := entries[i+1]
		require.Equal(t, e.Header.EventID, r.EventID)
		require.Equal(t, e.Header.Sequence, r.Sequence)
		require.Equal(t, e.Integrity.RecordHash, r.RecordHash)
		require.Equal(t, signer.KeyID(), r.KeyID)
		require.False(t, r.Repeat)
	}
	for _, e := range entries {
		require.Equal(t, l.JournalID(), e.Header.JournalID)
		require.Regexp(t, `^evt_[0-9A-HJKMNP-TV-Z]{26}$`, e.Header.EventID)
		require.Equal(t, o.Scope, e.Header.Scope)
	}
	require.Regexp(t, `^jrn_[0-9A-HJKMNP-TV-Z]{26}$`, l.JournalID())
	_, err := l.Append(t.Context(), batch(t, 9, 10))
	require.ErrorIs(t, err, ledger.ErrClosed)
}

func TestSegmentsRotateAndTheChainGoesOn(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	c := newClock()
	o.Now, o.MaxSegmentBytes, o.MaxSegmentAge = c.Now, 10_000, time.Hour
	l := open(t, o)
	for n := range 30 {
		appendAll(t, l, read(t, id(n), "1"))
	}
	bySize, err := segment.List(fs, dir)
	require.NoError(t, err)
	require.Greater(t, len(bySize), 3)
	c.advance(time.Hour)
	appendAll(t, l, read(t, id(30), "1"))
	byAge, err := segment.List(fs, dir)
	require.NoError(t, err)
	require.Len(t, byAge, len(bySize)+1)
	closeLedger(t, l)
	require.Len(t, audit(t, fs, dir), 33)
}

func TestConcurrentAppendersGetTheReceiptsOfTheirOwnRecords(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, optionsFor(t, fs))
	const callers, rounds = 16, 12
	got := make([]map[string]uint64, callers)
	var wg sync.WaitGroup
	for c := range callers {
		got[c] = map[string]uint64{}
		wg.Go(func() {
			for r := range rounds {
				from := (c*rounds + r) * 3
				receipts, err := l.Append(t.Context(), batch(t, from, from+3))
				if !assert.NoError(t, err) {
					return
				}
				for i := range receipts {
					got[c][id(from+i)] = receipts[i].Sequence
				}
			}
		})
	}
	wg.Wait()
	closeLedger(t, l)
	entries := audit(t, fs, dir)
	require.Len(t, countIDs(t, entries), callers*rounds*3)
	for _, m := range got {
		for id, sequence := range m {
			require.Equal(t, id, bodyOf(t, entries[sequence-1]).ReadID)
		}
	}
}

func TestARequestLargerThanAGroupIsAcknowledgedBehindItsLastGroup(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxGroupBytes, o.MaxPendingBytes = segment.MaxLineBytes, 1 // the whole budget, then
	groups := 0
	o.Observer.Committed = func(int, int64, time.Duration) { groups++ }
	l := open(t, o)
	receipts := appendAll(t, l, batch(t, 0, 6000)...)
	closeLedger(t, l)
	require.Greater(t, groups, 8)
	entries := audit(t, fs, dir)
	require.Len(t, countIDs(t, entries), 6000)
	for i, r := range receipts {
		require.Equal(t, id(i), bodyOf(t, entries[r.Sequence-1]).ReadID)
	}
}

func TestTheLargestDraftBecomesAnEntryAndFitsItsLimit(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.CollectorID = strings.Repeat(`"`, 256)
	o.Scope = record.Scope{OrganizationRef: o.CollectorID, Environment: o.CollectorID, RetentionClass: o.CollectorID, Region: o.CollectorID}
	l := open(t, o)
	draft := func(version string, size int) (*record.Draft, error) {
		return record.NewReadDraft(&record.Read{
			Header: record.Header{EventType: record.EventReadTool}, ReadID: strings.Repeat("r", 256),
			Source: record.Source{ToolID: version + strings.Repeat("t", size)},
		}, false)
	}
	size := sort.Search(record.MaxEntryBytes, func(size int) bool {
		_, err := draft("1", size)
		return err != nil
	}) - 1
	for _, version := range []string{"1", "2"} { // the second one conflicts
		d, err := draft(version, size)
		require.NoError(t, err)
		appendAll(t, l, d)
	}
	closeLedger(t, l)
	for _, e := range audit(t, fs, dir) {
		require.LessOrEqual(t, len(e.Line), record.MaxEntryBytes)
	}
}

func TestASecondWriterIsRefused(t *testing.T) {
	o := optionsFor(t, durable.OS{})
	o.Dir = t.TempDir()
	l := open(t, o)
	_, err := ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, durable.ErrLocked)
	closeLedger(t, l)
	closeLedger(t, open(t, o))
}

func TestCloseWritesWhatWaitsAndRefusesWhatComesLater(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, optionsFor(t, fs))
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	enough := make(chan struct{})
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				name := id(c*1_000_000 + n)
				_, err := l.Append(context.Background(), []*record.Draft{read(t, name, "1")})
				if err != nil {
					assert.ErrorIs(t, err, ledger.ErrClosed)
					return
				}
				mu.Lock()
				acknowledged[name] = true
				if len(acknowledged) == 200 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	closeLedger(t, l)
	wg.Wait()
	entries := audit(t, fs, dir)
	require.Equal(t, record.EventJournalClosed, entries[len(entries)-1].Header.EventType)
	count := countIDs(t, entries)
	for name := range acknowledged {
		require.Equal(t, 1, count[name])
	}
}

func TestACallerThatGivesUpLosesNothing(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	syncing, proceed := make(chan struct{}), make(chan struct{})
	l := open(t, o)
	fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpSync {
			select {
			case syncing <- struct{}{}:
			default:
			}
			<-proceed
		}
		return crashfs.Fault{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-syncing
		cancel()
	}()
	_, err := l.Append(ctx, batch(t, 0, 2))
	require.ErrorIs(t, err, context.Canceled)
	close(proceed)
	receipts := appendAll(t, l, batch(t, 0, 2)...)
	require.True(t, receipts[0].Repeat)
	closeLedger(t, l)
	require.Equal(t, map[string]int{id(0): 1, id(1): 1}, countIDs(t, audit(t, fs, dir)))
}

func TestAppendWaitsForRoomAndHonorsItsContext(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxPendingBytes = 1
	l := open(t, o)
	syncing, proceed := make(chan struct{}, 1), make(chan struct{})
	fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpSync {
			select {
			case syncing <- struct{}{}:
			default:
			}
			<-proceed
		}
		return crashfs.Fault{}
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := l.Append(t.Context(), batch(t, 0, 1))
		assert.NoError(t, err)
	})
	<-syncing
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := l.Append(ctx, batch(t, 1, 2))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	wg.Go(func() {
		_, err := l.Append(t.Context(), batch(t, 2, 3))
		assert.NoError(t, err)
	})
	close(proceed)
	wg.Wait()
	closeLedger(t, l)
	require.Len(t, countIDs(t, audit(t, fs, dir)), 2)
}

func TestOptionsThatWouldSpoilEntriesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*ledger.Options){
		"no directory":           func(o *ledger.Options) { o.Dir = "" },
		"no signer":              func(o *ledger.Options) { o.Signer = nil },
		"no collector":           func(o *ledger.Options) { o.CollectorID = "" },
		"no organization":        func(o *ledger.Options) { o.Scope.OrganizationRef = "" },
		"invalid UTF-8":          func(o *ledger.Options) { o.Scope.Environment = "\xff" },
		"control characters":     func(o *ledger.Options) { o.Scope.RetentionClass = "a\nb" },
		"a region that is long":  func(o *ledger.Options) { o.Scope.Region = strings.Repeat("x", 257) },
		"a negative size":        func(o *ledger.Options) { o.MaxSegmentBytes = -1 },
		"a negative age":         func(o *ledger.Options) { o.MaxSegmentAge = -1 },
		"a group beyond G":       func(o *ledger.Options) { o.MaxGroupBytes = segment.MaxGroupBytes + 1 },
		"a group below an entry": func(o *ledger.Options) { o.MaxGroupBytes = 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			o := optionsFor(t, crashfs.New(1))
			spoil(&o)
			_, err := ledger.Open(t.Context(), o)
			require.Error(t, err)
		})
	}
}

// An entry of a second key without a bridge would not verify.
func TestAJournalIsNotContinuedWithAnotherKey(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	closeLedger(t, open(t, o))
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	o.Signer = testSigner{private}
	_, err = ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrOtherKey)
}
