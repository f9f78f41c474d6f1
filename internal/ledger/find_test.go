// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"os"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestEveryEntryIsFoundByItsEventID(t *testing.T) {
	fs, clock := crashfs.New(1), newClock()
	o := optionsFor(t, fs)
	o.Now, o.MaxSegmentBytes = clock.Now, 8_000
	l := open(t, o)
	for n := range 60 {
		if n%3 == 0 {
			clock.advance(time.Second)
		}
		receipts := appendAll(t, l, read(t, id(n), "1"))
		e, err := l.Find(t.Context(), receipts[0].EventID)
		require.NoError(t, err)
		require.Equal(t, receipts[0].Sequence, e.Header.Sequence)
	}
	receipts, err := l.AppendStrict(t.Context(), drafts(t, plan))
	require.NoError(t, err)
	given := bodyDraft(t, record.KindDecision, map[string]any{
		"decision_id": "dec_1", "event_id": "their-own-1", "event_type": "decision.made", "occurred_at": "2026-11-30T00:00:00.000000000Z",
		"correlation": map[string]any{"execution_id": "run_1"}, "observed_by": map[string]any{"signal": "api"},
	})
	_, err = l.AppendStrict(t.Context(), []*record.Draft{given})
	require.NoError(t, err)
	found := func() {
		for _, e := range stored(t, fs) {
			same, err := l.Find(t.Context(), e.Header.EventID)
			require.NoError(t, err, e.Header.Sequence)
			require.Equal(t, e.Line, same.Line)
		}
		for _, id := range []string{"", "their-own-2", "evt_", "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV", "evt_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", record.EventID(unknownULID(clock.Now()))} {
			_, err := l.Find(t.Context(), id)
			require.ErrorIs(t, err, ledger.ErrNotFound, id)
			require.NotErrorIs(t, err, ledger.ErrPruned)
		}
	}
	found()
	closeLedger(t, l)
	require.NoError(t, os.RemoveAll(o.IndexDir))
	l = open(t, o)
	found()
	e, err := l.Find(t.Context(), receipts[0].EventID)
	require.NoError(t, err)
	require.Equal(t, receipts[0], e.Receipt())
}

// unknownULID returns a ULID of a time that no entry has.
func unknownULID(at time.Time) string {
	id, err := ulid.New(ulid.Timestamp(at), zeros{})
	if err != nil {
		panic(err)
	}
	return id.String()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestAStrictReceiptHasWhatItsEntryHas(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		fs := crashfs.New(1)
		o := optionsFor(t, fs)
		o.GroupSignatures = grouped
		l := open(t, o)
		// The same twice in one batch: the second is a repeat of one on its way. Some were
		// appended by somebody who asked for no signature.
		appendAll(t, l, read(t, id(1), "1"))
		var all []journal.Receipt
		for _, batch := range [][]*record.Draft{
			append(drafts(t, plan, plan, requested), read(t, id(0), "1"), read(t, id(1), "1")), drafts(t, plan),
		} {
			receipts, err := l.AppendStrict(t.Context(), batch)
			require.NoError(t, err)
			all = append(all, receipts...)
		}
		closeLedger(t, l)
		entries := audit(t, fs, dir)
		for i, r := range all {
			require.Equal(t, i == 1 || i >= 4, r.Repeat, i)
			r.Repeat = false
			require.Equal(t, entries[r.Sequence-1].Receipt(), r)
		}
	}
}
