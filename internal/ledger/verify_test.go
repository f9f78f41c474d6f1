// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The verifier, which shares nothing with the writer but the format, accepts what
// the writer leaves on a real disk: every kind of entry, rotations, a restart,
// a torn tail, a conflict, another key; with a signature for every entry, and with
// one for every group.
func TestTheVerifierAcceptsWhatTheWriterLeaves(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		t.Run(fmt.Sprint("group signatures ", grouped), func(t *testing.T) { requireVerifiable(t, grouped) })
	}
}

func requireVerifiable(t *testing.T, grouped bool) {
	t.Helper()
	o := optionsFor(t, durable.OS{})
	o.Dir = filepath.Join(t.TempDir(), "bank", "kyc", "reads")
	o.IndexDir = "" // beside the segments
	o.MaxSegmentBytes = 9_000
	o.GroupSignatures = grouped
	l := open(t, o)
	unrecordable, err := record.NewUnrecordableDraft(record.Header{
		Correlation: record.Correlation{ExecutionID: "run_1"},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalLog},
	}, record.Unrecordable{Reason: "too_large", ItemID: "read_x", Item: record.SignalLog})
	require.NoError(t, err)
	appendAll(t, l, append(batch(t, 0, 10), read(t, id(0), "2"), unrecordable, lineage(t, "00000000000000aa"))...)
	require.NoError(t, l.Rotate(t.Context(), second))
	appendAll(t, l, batch(t, 10, 20)...)
	closeLedger(t, l)
	o.Outgoing = []journal.Signer{second} // and back to the first key

	segments, err := segment.List(o.FS, o.Dir)
	require.NoError(t, err)
	last := filepath.Join(o.Dir, segment.Name(segments[len(segments)-1].First))
	b, err := os.ReadFile(last)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(last, b[:len(b)-20], 0o600))
	l = open(t, o)
	require.True(t, appendAll(t, l, batch(t, 19, 20)...)[0].Repeat)
	closeLedger(t, l)

	registry := &journal.Registry{}
	for _, k := range []testSigner{signer, second} {
		require.NoError(t, registry.Add(journal.Key{
			ID: k.KeyID(), PublicKey: k.PublicKey(), ValidFrom: record.NewTime(newClock().Now().AddDate(-1, 0, 0)),
		}))
	}
	sources, err := journal.Open(o.Dir)
	require.NoError(t, err)
	require.Len(t, sources, 1)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry})
	require.NoError(t, err)
	require.Zero(t, report.ExitCode(), "%+v", report)
	require.Equal(t, l.JournalID(), report.JournalID)
}
