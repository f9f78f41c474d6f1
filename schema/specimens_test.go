// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"strings"
	"time"

	"github.com/readtrail/readtrail/record"
)

var (
	digest   = "sha256:" + strings.Repeat("3b9e", 16)
	keyed    = "hmac-sha256:tenant-1:" + strings.Repeat("c07a", 16)
	checksum = strings.Repeat("8f14", 16)
	noon     = time.Date(2026, 10, 9, 8, 12, 3, 418_000_000, time.UTC)
)

func after(seconds int) record.Time {
	return record.NewTime(noon.Add(time.Duration(seconds) * time.Second))
}

func header(eventType string, seconds int) record.Header {
	return record.Header{
		EventType: eventType, OccurredAt: after(seconds),
		Correlation: record.Correlation{
			ExecutionID: "run_syn_0193", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", SpanID: "00f067aa0ba902b7", ParentSpanID: "b7ad6b7169203331",
			StepID: "step_3",
		},
		ObservedBy: record.ObservedBy{UpstreamContextSource: "authenticated:executor-eu", Signal: record.SignalAPI},
	}
}

// action is one of a release that is published over HTTP.
func action(state record.ActionState, seconds int) *record.Action {
	a := &record.Action{
		Header: header(state.EventType(), seconds), ActionID: "act_5f17", EdgeType: record.EdgeExternalAction, State: state,
		Actor:     record.Actor{Kind: "agent_process", Identity: "spiffe://bank.example/executor"},
		Requested: record.Requested{ToolID: "publish_release", ArgumentsDigest: digest, ArgumentsCanonicalization: "jcs", ArgumentsSize: 52},
		Target: record.ActionTarget{
			Channel: record.ChannelHTTP, Host: "deploy.internal.example", Port: 443, Protocol: "https", Method: "POST",
			PathTemplate: "/v1/releases/{name}", CredentialRef: "ops-deploy", HeaderNames: []string{"authorization", "idempotency-key"},
			BodyDigest: digest, Redaction: record.RedactionValues,
		},
		IdempotencyToken: record.IdempotencyToken("act_5f17"), ApprovalID: "apr_77",
	}
	if state != record.ActionPlanned && state != record.ActionRevoked {
		a.AttemptID, a.Attempt = "att_1", 1
	}
	return a
}

func sshAction(state record.ActionState, seconds int) *record.Action {
	a := action(state, seconds)
	a.Target = record.ActionTarget{
		Channel: record.ChannelSSH, Host: "10.20.0.7", Port: 22, Protocol: "ssh", CommandTemplate: "systemctl restart {unit}", CommandDigest: digest,
		Account: "deploy", CredentialRef: "ssh/ops-deploy", Redaction: record.RedactionValues,
	}
	return a
}

func ended(a *record.Action, o record.Outcome) *record.Action {
	a.Outcome = &o
	return a
}

func pointer(n int64) *int64 { return &n }

func approval(kind record.ApprovalKind, seconds int) *record.Approval {
	a := &record.Approval{
		Header: header(kind.EventType(), seconds), ApprovalID: "apr_77", RequestID: "req_12", Kind: kind, Binds: record.BindsOf(action(record.ActionPlanned, 0)),
	}
	switch kind {
	case record.ApprovalRequested:
		a.EffectSummary, a.RequiredRole, a.ExpiresAt = "Publishes release 2025.03.08-rc2 to production", "release-manager", after(seconds+900)
	case record.ApprovalDecided:
		a.Reviewer, a.Decision = &record.Reviewer{Identity: "reviewer-4", Role: "release-manager"}, record.Approved
	case record.ApprovalRevoked:
		a.Reviewer = &record.Reviewer{Identity: "reviewer-4", Role: "release-manager"}
	}
	return a
}

// decision is that of the KYC review of seed 000.
func decision() *record.Decision {
	return &record.Decision{
		Header: header(record.EventDecisionMade, 60), DecisionID: "dec_syn_0193",
		Outcome: record.DecisionOutcome{Name: "propose_risk_medium", ValueDigest: keyed, ValueCanonicalization: "bytes", ValueSize: 64},
		Fields: map[string]record.DecisionField{
			"residence_country":       {ValueDigest: keyed, ValueCanonicalization: "bytes", ValueSize: 64},
			"id_document_expiry":      {},
			"policy_section":          {},
			"preferred_language":      {},
			"source_of_funds_summary": {},
		},
		FieldProvenance: map[string]record.FieldSource{
			"residence_country": {Source: record.FromTool, ToolCallID: "call_syn_0193_02", Path: "$.address.country"},
			"id_document_expiry": {
				Source: record.FromDocument, DocumentID: "doc_syn_771", ChecksumSHA256: checksum, Page: 1,
				Region: &record.Region{Box: []string{"0.12", "0.4", "0.31", "0.44"}, Method: record.RegionTextLayer},
			},
			"policy_section":          {Source: record.FromRetrieval, ReadID: "read_syn_0193_05", ChunkID: "chunk_9"},
			"preferred_language":      {Source: record.FromMemory, ReadID: "read_syn_0193_06", EntryID: "mem_3"},
			"source_of_funds_summary": {Source: record.FromModel, MarkedForReviewer: record.MarkedNo},
		},
		Boundary:   record.Boundary{DataBoundaryRef: "boundary_eu_kyc", Purpose: "kyc-periodic-review"},
		ContextIDs: []string{"ctx_syn_0193_1"}, ActionIDs: []string{"act_5f17"}, ApprovalID: "apr_77",
	}
}

func context() *record.Context {
	entry := func(id, property string) record.ContextEntry {
		return record.ContextEntry{
			EntryID: id, ObjectID: "cust_syn_55120", ObjectType: "customer", Property: property, Side: record.SideData,
			Origin: record.Origin{Source: "crm-eu", Line: 41}, ValidTime: after(-86400), RecordTime: after(-3600), OntologyVersion: "2026.9",
			ValueDigest: keyed, ValueCanonicalization: "bytes", ValueSize: 64,
		}
	}
	summary := entry("ent_9", "summary")
	summary.Pseudonym = true
	summary.DerivedFrom = []string{"ent_1", "ent_2"}
	return &record.Context{
		Header: header(record.EventContextUsed, 30), ContextID: "ctx_syn_0193_1",
		Model:  record.Model{Provider: "example", Request: "model-a", Response: "model-a-2026-09"},
		Plan:   &record.Plan{Kind: "kyc-periodic-review", Version: "7"},
		Rights: &record.Rights{PersonRef: "person_4", AgentRole: "kyc-agent"}, Purpose: "kyc-periodic-review", Objects: []string{"cust_syn_55120"},
		Entries:       []record.ContextEntry{entry("ent_3", "residence_country"), summary},
		ContextDigest: keyed, ContextCanonicalization: "jcs", ContextSize: 1024, ContextForm: record.FormEntries,
		Selection:          &record.Selection{Ranking: "relevance-then-age/2", LeftOut: pointer(0)},
		ToolCallsRequested: []record.RequestedCall{{ID: "call_syn_0193_02", ToolID: "crm.customer.get"}},
		Claims:             []record.Claim{{ClaimID: "claim_1", EntryIDs: []string{"ent_3"}, Supported: true}, {ClaimID: "claim_2", EntryIDs: []string{}}},
	}
}

// valid are bodies as an application gives them, by kind and name of example.
func valid() map[record.Kind]map[string]any {
	attempt2 := ended(action(record.ActionCompleted, 20), record.Outcome{HTTPStatus: 202, BytesSent: pointer(418), RemoteEffect: record.EffectConfirmed})
	attempt2.AttemptID, attempt2.Attempt, attempt2.AttemptIDs = "att_2", 2, []string{"att_1", "att_2"}
	job := action(record.ActionSent, 7200)
	job.EdgeType, job.LinkedSpan = record.EdgeDelegatedJob, &record.Link{TraceID: job.Correlation.TraceID, SpanID: "b7ad6b7169203331"}
	job.Actor = record.Actor{Kind: "worker", Identity: "spiffe://bank.example/worker/2", StartedAt: after(7100)}
	unseen := &record.Context{
		Header: header(record.EventContextUsed, 30), ContextID: "ctx_syn_0193_2", Model: record.Model{Request: "model-a"},
		Entries: []record.ContextEntry{}, ToolCallsRequested: []record.RequestedCall{},
		Capture: &record.ContextCapture{Input: record.CapturedNothing, Output: record.CapturedNothing},
		Basis:   map[string]record.Basis{"model.request": record.BasisAttribute},
	}
	unseen.ObservedBy.Signal = record.SignalSpan
	return map[record.Kind]map[string]any{
		record.KindAction: {
			"planned":            action(record.ActionPlanned, 0),
			"planned-ssh":        sshAction(record.ActionPlanned, 0),
			"sent":               action(record.ActionSent, 5),
			"sent-delegated":     job,
			"timeout":            ended(action(record.ActionTimeout, 15), record.Outcome{Error: "deadline_exceeded", BytesSent: pointer(418), RemoteEffect: record.EffectUnknown}),
			"completed-retry":    attempt2,
			"completed-ssh":      ended(sshAction(record.ActionCompleted, 15), record.Outcome{ExitStatus: pointer(0), BytesSent: pointer(210), RemoteEffect: record.EffectConfirmed}),
			"failed-before-send": ended(action(record.ActionFailedBeforeSend, 15), record.Outcome{Error: "connection_refused", BytesSent: pointer(0), RemoteEffect: record.EffectNone}),
			"unknown":            ended(action(record.ActionUnknown, 60), record.Outcome{RemoteEffect: record.EffectUnknown}),
			"revoked":            action(record.ActionRevoked, 10),
		},
		record.KindApproval: {
			"requested": approval(record.ApprovalRequested, 1),
			"decided":   approval(record.ApprovalDecided, 3),
			"revoked":   approval(record.ApprovalRevoked, 4),
		},
		record.KindDecision: {"kyc-review": decision()},
		record.KindContext:  {"kyc-review": context(), "not-captured": unseen},
	}
}
