// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// auditEvent makes the drafts of an audit event and of what stands beside it.
func auditEvent(t *testing.T, eventID, outcome, upstream string) []*record.Draft {
	t.Helper()
	at := record.TimeFromUnixNano(1_700_000_000_000_000_000)
	event, err := record.NewBodyDraft(record.KindAuditEvent, record.AuditEventVersion, true, &record.AuditEvent{
		EventID: eventID, EventType: record.AuditActionCompleted, OccurredAt: at,
		Correlation: record.AuditCorrelation{CorrelationID: "case_1", ExecutionID: "run_1"},
		ToolCalls:   []record.AuditToolCall{},
		Execution:   record.AuditExecution{Status: record.AuditExecutionSucceeded, BusinessOutcome: record.AuditBusinessOutcome(outcome)},
	})
	require.NoError(t, err)
	received, err := record.NewAuditReceivedDraft(record.Header{
		Correlation: record.Correlation{ExecutionID: "run_1"},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: upstream, Signal: record.SignalAPI},
	}, record.AuditReceived{AuditEventID: eventID, AuditEventVersion: record.AuditEventVersion})
	require.NoError(t, err)
	return []*record.Draft{event, received}
}

func TestAnAuditEventThatIsSentAgainLeavesNothingSecond(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	first, err := l.AppendStrict(t.Context(), auditEvent(t, "evt_given", "achieved", "authenticated:gateway"))
	require.NoError(t, err)
	require.Equal(t, "evt_given", first[0].EventID)
	again := func() {
		receipts, err := l.AppendStrict(t.Context(), auditEvent(t, "evt_given", "achieved", record.UnverifiedInput))
		require.NoError(t, err)
		for i := range receipts {
			require.True(t, receipts[i].Repeat, i)
			require.Equal(t, first[i].Sequence, receipts[i].Sequence)
			require.Equal(t, first[i].RecordHash, receipts[i].RecordHash)
		}
		_, err = l.AppendStrict(t.Context(), auditEvent(t, "evt_given", "not_achieved", "authenticated:gateway"))
		require.Equal(t, &ledger.Refusal{Index: 0, Code: ledger.CodeConflict, EventID: "evt_given"}, err)
	}
	again()
	closeLedger(t, l)
	l = open(t, o)
	again() // after a restart
	closeLedger(t, l)
	o.IndexDir = t.TempDir()
	l = open(t, o)
	again() // and without the cache
	closeLedger(t, l)
	require.Equal(t, []string{
		"journal.opened", "agent.action.completed", "audit_event.received", "journal.closed", "journal.resumed", "journal.closed",
		"journal.resumed", "journal.closed",
	}, eventTypes(audit(t, fs, dir)))
}

func TestAnAuditEventHasASignatureOfItsOwnAmongGroups(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.GroupSignatures = true
	l := open(t, o)
	drafts := append([]*record.Draft{read(t, id(0), "1")}, auditEvent(t, "evt_given", "achieved", "authenticated:gateway")...)
	appendAll(t, l, append(drafts, read(t, id(1), "1"))...)
	closeLedger(t, l)
	for _, e := range audit(t, fs, dir) {
		want := "Ed25519-RFC6962"
		if e.Kind == record.KindAuditEvent {
			want = "Ed25519"
			require.Empty(t, e.Header.JournalID)
		}
		require.Equal(t, want, e.Integrity.Signature.Algorithm, e.Header.EventType)
	}
	require.False(t, journal.Groupable(record.KindAuditEvent))
}

// What names no journal is as much of it as the rest: nothing that was acknowledged is
// lost, or taken for the entry of another journal, whatever stands at the end.
func TestAcknowledgedAuditEventsSurviveThePower(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			fs := crashfs.New(seed)
			o := optionsFor(t, fs)
			o.MaxSegmentBytes = 3_000
			var acknowledged []journal.Receipt
			journalID := ""
			for life := range 6 {
				o.FS, o.GroupSignatures = fs, rng.IntN(2) == 0
				fs.CrashAfter(5 + rng.IntN(80))
				if l, err := ledger.Open(t.Context(), o); err == nil {
					if journalID == "" {
						journalID = l.JournalID()
					}
					require.Equal(t, journalID, l.JournalID())
					for n := 0; ; n++ {
						drafts := auditEvent(t, fmt.Sprintf("evt_%d_%d", life, n), "achieved", "authenticated:gateway")
						receipts, err := l.AppendStrict(t.Context(), drafts[:1+rng.IntN(2)])
						if err != nil {
							break
						}
						acknowledged = append(acknowledged, receipts...)
					}
					_ = l.Close(t.Context())
				}
				fs = fs.Reboot()
			}
			o.FS = fs
			l := open(t, o)
			closeLedger(t, l)
			entries := audit(t, fs, dir)
			for _, r := range acknowledged {
				require.Equal(t, r.RecordHash, entries[r.Sequence-1].Integrity.RecordHash)
			}
			id, err := ledger.JournalID(fs, dir)
			require.NoError(t, err)
			require.Equal(t, entries[0].Header.JournalID, id)
		})
	}
}

// A last segment of audit events alone says not which journal it is of.
func TestAJournalThatEndsWithAuditEventsIsStillTheSame(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 1
	l := open(t, o)
	id := l.JournalID()
	for n := range 3 {
		_, err := l.AppendStrict(t.Context(), auditEvent(t, fmt.Sprintf("evt_%d", n), "achieved", "authenticated:gateway")[:1])
		require.NoError(t, err)
	}
	fs.CrashAfter(0)
	require.Error(t, l.Close(t.Context()))
	o.FS = fs.Reboot()
	asked := ""
	o.Attested = func(_ context.Context, journalID string, _ uint64) (*journal.SignedCheckpoint, error) {
		asked = journalID
		return nil, nil
	}
	l = open(t, o)
	require.Equal(t, id, l.JournalID())
	require.Equal(t, id, asked, "a place outside is asked about it")
	closeLedger(t, l)

	inventory, err := ledger.TakeInventory(t.Context(), o.FS, dir, nil, newClock().Now(), func(string, uint64) (*journal.SignedCheckpoint, error) { return nil, nil })
	require.NoError(t, err)
	require.Equal(t, id, inventory.JournalID)
	require.Equal(t, "kyc", inventory.Class)
}
