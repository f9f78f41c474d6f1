// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

const actionsJournal = "jrn_01M4G7X2Q0N5T8V3B6K9D1F4A1"

// cmdFixtureActions writes a journal of actions, and one of reads with the tool that
// asked for one of them, below a folder: fixtureactions DIR.
func cmdFixtureActions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fixtureactions DIR")
	}
	dir := ts.MkAbs(args[0])
	signer, err := writeFixtureKeys(dir)
	ts.Check(err)
	ts.Check(writeActions(filepath.Join(dir, "journal", "demo-bank", "kyc"), signer))
}

func writeActions(dir string, signer journal.Signer) error {
	wrapper := fixtureRead("read_1", record.SignalSpan, "crm.customer.update", record.Correlation{
		ExecutionID: "run_1", TraceID: trace, SpanID: "b7ad6b7169203331",
	})
	wrapper.ToolCallID, wrapper.ActionIDs = "call_1", []string{"act_1"}
	wrapper.Response.Status = record.StatusOK
	d, err := record.NewReadDraft(wrapper, true)
	if err != nil {
		return err
	}
	opened, err := record.NewJournalDraft(&record.Journal{Header: record.Header{EventType: record.EventJournalOpened}})
	if err != nil {
		return err
	}
	if err := writeJournal(filepath.Join(dir, "reads"), fixtureJournal, []*record.Draft{opened, d}, signer); err != nil {
		return err
	}
	drafts, err := actionDrafts()
	if err != nil {
		return err
	}
	return writeJournal(filepath.Join(dir, "actions"), actionsJournal, append([]*record.Draft{opened}, drafts...), signer)
}

// actionDrafts are an action that timed out and was sent again, and a job of which
// nobody knows more than that it was planned.
func actionDrafts() (drafts []*record.Draft, err error) {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	header := func(eventType string) record.Header {
		return record.Header{
			EventType: eventType, OccurredAt: record.NewTime(fixtureStart),
			Correlation: record.Correlation{ExecutionID: "run_1", TraceID: trace},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: "authenticated:crm-executor", Signal: record.SignalAPI},
		}
	}
	add := func(kind record.Kind, body any) {
		var d *record.Draft
		if err == nil {
			if d, err = record.NewBodyDraft(kind, record.SchemaVersion, true, body); err == nil {
				drafts = append(drafts, d)
			}
		}
	}
	plan := record.Action{
		ActionID: "act_1", EdgeType: record.EdgeExternalAction, State: record.ActionPlanned, IdempotencyToken: record.IdempotencyToken("act_1"),
		Actor:     record.Actor{Kind: "worker", Identity: "spiffe://bank.example/crm-executor"},
		Requested: record.Requested{ToolID: "crm.customer.update", ArgumentsDigest: digest, ArgumentsCanonicalization: "jcs", ArgumentsSize: 27},
		Target: record.ActionTarget{
			Channel: record.ChannelHTTP, Host: "crm.bank.example", Port: 443, Protocol: "https", Method: "PATCH", PathTemplate: "/customers/{id}",
			CredentialRef: "vault:crm/writer", Redaction: record.RedactionValues,
		},
		ApprovalID: "apr_1",
	}
	attempt := func(n int64, id string, state record.ActionState, outcome *record.Outcome) {
		a := plan
		a.Header, a.State, a.AttemptID, a.Attempt, a.Outcome = header(state.EventType()), state, id, n, outcome
		a.ApprovalID = ""
		add(record.KindAction, &a)
	}
	planned := plan
	planned.Header = header("action.planned")
	add(record.KindAction, &planned)
	approval := record.Approval{
		Header: header("approval.requested"), ApprovalID: "apr_1", RequestID: "req_1", Kind: record.ApprovalRequested, Binds: record.BindsOf(&plan),
		RequiredRole: "four_eyes", EffectSummary: "changes one customer", ExpiresAt: record.NewTime(fixtureStart.Add(time.Hour)),
	}
	add(record.KindApproval, &approval)
	approval.Header, approval.Kind, approval.EffectSummary, approval.ExpiresAt = header("approval.decided"), record.ApprovalDecided, "", record.Time{}
	approval.Reviewer, approval.Decision = &record.Reviewer{Identity: "j.doe", Role: "four_eyes"}, record.Approved
	add(record.KindApproval, &approval)

	job := plan
	job.Header = header("action.planned")
	job.ObservedBy.UpstreamContextSource = record.UnverifiedInput
	job.ObservedBy.ReceivedContext = &record.ReceivedContext{TraceID: secondTrace, ParentSpanID: "00f067aa0ba902b7"}
	job.ActionID, job.ApprovalID, job.EdgeType, job.IdempotencyToken = "act_2", "", record.EdgeDelegatedJob, record.IdempotencyToken("act_2")
	job.Actor.StartedAt, job.LinkedSpan = record.NewTime(fixtureStart), &record.Link{TraceID: trace, SpanID: "b7ad6b7169203331"}
	job.Target = record.ActionTarget{
		Channel: record.ChannelSSH, Host: "batch.bank.example", Port: 22, Protocol: "ssh", Account: "deploy", CommandTemplate: "reindex {table}",
		CredentialRef: "vault:batch/key", Redaction: record.RedactionValues,
	}
	sent := int64(312)
	attempt(1, "att_1", record.ActionSent, nil)
	add(record.KindAction, &job)
	attempt(1, "att_1", record.ActionTimeout, &record.Outcome{BytesSent: &sent, Error: "read_timeout", RemoteEffect: record.EffectUnknown})
	attempt(2, "att_2", record.ActionSent, nil)
	add(record.KindDecision, &record.Decision{
		Header: header(record.EventDecisionMade), DecisionID: "dec_1", Outcome: record.DecisionOutcome{Name: "update"},
		Fields: map[string]record.DecisionField{"address": {}}, FieldProvenance: map[string]record.FieldSource{},
		Boundary:  record.Boundary{DataBoundaryRef: "kyc", Purpose: "update"},
		ActionIDs: []string{"act_1"}, ApprovalID: "apr_1", Unmet: []record.Unmet{{Field: "address", Code: "missing_field_provenance"}},
	})
	return drafts, err
}
