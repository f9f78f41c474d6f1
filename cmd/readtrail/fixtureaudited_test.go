// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/readtrail/readtrail/record"
)

// cmdFixtureAudited writes a journal of audit events and of what stands beside them:
// fixtureaudited DIR.
func cmdFixtureAudited(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fixtureaudited DIR")
	}
	dir := ts.MkAbs(args[0])
	signer, err := writeFixtureKeys(dir)
	ts.Check(err)
	drafts, err := auditedDrafts()
	ts.Check(err)
	ts.Check(writeJournal(filepath.Join(dir, "journal", "demo-bank", "kyc", "actions"), actionsJournal, drafts, signer))
}

// auditedDrafts are an event that said deny, one that the collector composed, an
// action whose event is not whole with a part of it, and a record of an audit log
// whose proof was checked later.
func auditedDrafts() (drafts []*record.Draft, err error) {
	add := func(d *record.Draft, failed error) {
		if err == nil {
			drafts, err = append(drafts, d), failed
		}
	}
	header := func(eventType, source string) record.Header {
		h := record.Header{EventType: eventType, OccurredAt: record.NewTime(fixtureStart), Correlation: record.Correlation{ExecutionID: "run_1"}}
		if source != "" {
			h.ObservedBy = record.ObservedBy{UpstreamContextSource: source, Signal: record.SignalAPI}
		}
		return h
	}
	add(record.NewJournalDraft(&record.Journal{Header: header(record.EventJournalOpened, "")}))
	for _, name := range []string{"denied-action", "complete-execution"} {
		text, failed := os.ReadFile("../../schema/audit-event/1.0.0/examples/" + name + ".json")
		var envelope struct {
			Event map[string]any `json:"audit_event"`
		}
		if failed == nil {
			failed = json.Unmarshal(text, &envelope)
		}
		for _, own := range []string{"recorded_at", "scope", "sequence"} {
			delete(envelope.Event, own)
		}
		body, marshaled := json.Marshal(envelope.Event)
		if failed == nil {
			failed = marshaled
		}
		if failed != nil {
			return nil, failed
		}
		event, failed := record.NewBodyDraft(record.KindAuditEvent, record.SchemaVersion, true, jsontext.Value(body))
		add(event, failed)
		if err != nil {
			return nil, err
		}
		about, source := record.AuditReceived{AuditEventID: event.EventID(), AuditEventVersion: record.SchemaVersion}, "authenticated:gateway"
		if name == "denied-action" {
			about.Normalized = []record.Normalized{{Pointer: "/policy/decision", From: "deny", To: "block"}}
		} else {
			about.ComposedOf, source = []string{"evt_1", "evt_2"}, ""
		}
		add(record.NewAuditReceivedDraft(header("", source), about))
	}
	add(record.NewAuditPartDraft(header("", record.UnverifiedInput), record.AuditPart{
		ActionID: "act_1", Members: jsontext.Value(`{"policy":{"decision":"block","decision_id":"dec_9"}}`),
		Normalized: []record.Normalized{{Pointer: "/policy/decision", From: "deny", To: "block"}},
	}))
	add(record.NewAuditIncompleteDraft(header("", ""), record.AuditIncomplete{
		ActionID: "act_1", WaitedSeconds: 30, Missing: []string{"/actors", "/privacy"}, Contradicted: []string{"/execution/status"},
	}))
	passed := record.AuditIntegrity{Signer: "collector", Status: record.ProofPassed}
	user := record.Text{Value: "user:42"}
	add(record.NewAuditLogDraft(header("", "authenticated:gateway"), &record.AuditLog{
		Mapping: "otep-0267/1", RecordID: record.Text{Value: "rec_1"}, EventName: record.Text{Value: "user.login"}, Actor: record.AuditParty{ID: &user},
		Action: record.Text{Value: "LOGIN"}, Outcome: "failure", PayloadDigest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		Integrity: record.AuditIntegrity{Signer: "collector", Status: record.ProofNotPerformed, Reason: "key_unknown"},
		Sequence:  &record.AuditSequence{StreamAssumed: "sha256:00", Check: record.ChainBroken, Problems: []string{"gap"}},
	}))
	add(record.NewAuditLogVerifiedDraft(header("", "authenticated:gateway"), &record.AuditLogVerified{
		RecordID: record.Text{Value: "rec_1"}, EntryID: "evt_01M4G7X2Q00000000000000008", Integrity: passed,
	}))
	return drafts, err
}
