// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// exampleEvent is the draft of a published example, which names no member that the
// writer of a journal adds.
func exampleEvent(t testing.TB, version string) *record.Draft {
	text, err := os.ReadFile("../schema/audit-event/" + version + "/examples/complete-execution.json")
	require.NoError(t, err)
	var envelope struct {
		Event map[string]any `json:"audit_event"`
	}
	require.NoError(t, json.Unmarshal(text, &envelope))
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(envelope.Event, own)
	}
	body, err := json.Marshal(envelope.Event)
	require.NoError(t, err)
	draft, err := record.NewBodyDraft(record.KindAuditEvent, version, true, jsontext.Value(body))
	require.NoError(t, err)
	return draft
}

// auditEvent writes an audit event and what stands beside it.
func (w *writer) auditEvent(version string) *writer {
	event := exampleEvent(w.t, version)
	w.begin()
	c := w.completion()
	c.EventID = event.EventID()
	w.seal(event.Kind(), version, event.Complete(c))
	return w.draft(record.NewAuditReceivedDraft(record.Header{
		Correlation: record.Correlation{ExecutionID: "run_syn_0193"},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: "authenticated:credit-gateway", Signal: record.SignalAPI},
	}, record.AuditReceived{AuditEventID: event.EventID(), AuditEventVersion: version}))
}

func TestAnAuditEventStandsInAJournalWithoutItsID(t *testing.T) {
	w := journalOf(t, 2).auditEvent("1.0.0").auditEvent("1.1.0").event(record.EventJournalClosed, nil)
	report := verifyLines(t, w.lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, []journal.Check{journal.Valid, journal.Valid, journal.Valid}, []journal.Check{report.Chain, report.Signature, report.Schema})
	require.NotContains(t, report.Counts, journal.CodeUnsupportedSchemaVersion)

	e := entryOf(t, w.lines[2])
	require.Equal(t, record.KindAuditEvent, e.Kind)
	require.Empty(t, e.Header.JournalID)
	require.Equal(t, "evt_01JZ8V4R9K2Q7M1W3D5N6P8X0A", e.Header.EventID)
	require.Equal(t, "run_syn_0193", e.Header.Correlation.ExecutionID)
	require.Equal(t, "case_syn_20260728_0193", e.Header.Correlation.CorrelationID)
	require.Equal(t, "kyc", e.Header.Scope.RetentionClass)
	require.Equal(t, w.id, entryOf(t, w.lines[3]).Header.JournalID, "what stands beside it names the journal")
	require.Equal(t, "1.1.0", entryOf(t, w.lines[4]).SchemaVersion)
}

// Who wrote the journal verified nothing, and no line says otherwise, though the
// dictionary has a place for it.
func TestAnAuditEventInAJournalDoesNotSayThatItIsValid(t *testing.T) {
	w := journalOf(t, 2).auditEvent("1.0.0")
	line := forged(t, w.lines[2], trusted, verifiedBefore)
	require.Equal(t, []journal.Code{journal.CodeSchemaInvalid}, brokenCodes(verifyLines(t, w.lines[0], w.lines[1], line)))
	require.Equal(t, 0, journal.VerifyEnvelope(line, journal.Options{Registry: registryOf(t, trustedKey(trusted))}).ExitCode(), "a published one may")
	_, err := journal.ParseLine(line[:len(line)-1])
	require.ErrorContains(t, err, "verification")
}

func TestOnlyAnAuditEventMaySayThatItWasVerified(t *testing.T) {
	w := journalOf(t, 2)
	registry := registryOf(t, trustedKey(trusted))
	e := journal.VerifyEnvelope(forged(t, w.lines[1], trusted, verifiedBefore), journal.Options{Registry: registry})
	require.Equal(t, journal.CodeSchemaInvalid, e.Report().FirstBad.Code)
}

func TestAnAuditEventHasASignatureOfItsOwn(t *testing.T) {
	for _, version := range []string{"1.0.0", "1.1.0"} {
		w := journalOf(t, 2).groupedEvent(version)
		require.Equal(t, []journal.Code{journal.CodeSchemaInvalid}, brokenCodes(verifyLines(t, w.lines...)))
	}
	require.False(t, journal.Groupable(record.KindAuditEvent))
}

// groupedEvent gives an audit event what it may not have: the signature of a group.
func (w *writer) groupedEvent(version string) *writer {
	event := exampleEvent(w.t, version)
	w.begin()
	u := journal.AssembleGrouped(event.Kind(), version, event.Complete(w.completion()), w.previous, w.signer)
	w.previous = u.RecordHash()
	signed, err := journal.SignGroup([]*journal.Unsigned{u}, w.signer)
	require.NoError(w.t, err)
	w.lines = append(w.lines, signed.Line(0))
	return w
}

// A journal whose beginning was pruned may begin with audit events.
func TestAJournalMayBeginWithAuditEvents(t *testing.T) {
	w := journalOf(t, 1).auditEvent("1.0.0").auditEvent("1.1.0")
	registry := registryOf(t, trustedKey(trusted))
	report := verify(t, store(t, 2, w.lines[1:]...), registry)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, w.id, report.JournalID)
	report = verify(t, store(t, 2, w.lines[1]), registry)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Empty(t, report.JournalID, "nothing names it")
}

// What an audit event names stands elsewhere: a verifier that did not look says so.
func TestThatNothingOfAnAuditEventWasReconciledIsSaid(t *testing.T) {
	w := journalOf(t, 2).auditEvent("1.0.0").auditEvent("1.1.0")
	report := verifyLines(t, w.lines...)
	require.Equal(t, uint64(1), report.Counts[journal.CodeReconcileNotPerformed])
	require.Equal(t, 0, report.ExitCode())
	i := slices.IndexFunc(report.Findings, func(f journal.Finding) bool { return f.Code == journal.CodeReconcileNotPerformed })
	require.Equal(t, journal.Finding{Code: journal.CodeReconcileNotPerformed, Class: journal.ClassNote, Sequence: 3, Detail: "2 audit events"}, report.Findings[i])
	require.NotContains(t, verifyLines(t, journalOf(t, 2).lines...).Counts, journal.CodeReconcileNotPerformed)

	registry := registryOf(t, trustedKey(trusted))
	for _, demanded := range []journal.Demand{journal.DemandLineage, journal.DemandArtifacts} {
		policy := &journal.Policy{Demand: []journal.Demand{demanded}}
		envelope := journal.VerifyEnvelope(w.lines[2], journal.Options{Registry: registry, Policy: policy})
		require.Equal(t, 2, envelope.ExitCode())
		require.Equal(t, uint64(1), envelope.Report().Counts[journal.CodeReconcileNotPerformed])
		sources, err := journal.Open(store(t, 1, w.lines...))
		require.NoError(t, err)
		report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Policy: policy})
		require.NoError(t, err)
		require.Equal(t, 2, report.ExitCode())
	}
}
