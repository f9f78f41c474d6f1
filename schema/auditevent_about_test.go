// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// besides is the entry of a journal record about audit events.
func besides(t *testing.T, d *record.Draft, err error) object {
	require.NoError(t, err)
	require.True(t, d.OfActions(), "it stands in the journal of actions")
	envelope := envelopeOf(t, completeExecution(), record.AuditEventVersion, 185, verified("not_performed"))
	delete(envelope, "audit_event")
	envelope["integrity"].(object)["previous_event_hash"] = of("the entry before")
	envelope["schema_version"] = d.Version()
	body := d.Complete(record.Completion{
		EventID: "evt_2", JournalID: "jrn_1", Sequence: 185, RecordedAt: july(42), CollectorID: "collector-1",
		Scope: record.Scope{OrganizationRef: "bank", Environment: "production", RetentionClass: "credit"},
	})
	repeat, err := record.RepeatOf(record.KindJournal, body)
	require.NoError(t, err)
	require.Equal(t, d.ID(), repeat.ID)
	require.Equal(t, d.Digest(), repeat.Digest)
	require.True(t, repeat.Given && d.Given(), "its repeats are known for ever")
	var parsed object
	require.NoError(t, json.Unmarshal(body, &parsed))
	envelope["journal_record"] = parsed
	return envelope
}

func aboutHeader() record.Header {
	return record.Header{
		Correlation: record.Correlation{ExecutionID: "run_syn_0193", CorrelationID: "case_syn_0193"},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: "authenticated:credit-gateway", Signal: record.SignalAPI},
	}
}

var normalized = []record.Normalized{{Pointer: "/policy/decision", From: record.PolicyDeny, To: string(record.PolicyBlock)}}

func abouts(t *testing.T) map[string]object {
	received, incomplete, part := record.NewAuditReceivedDraft, record.NewAuditIncompleteDraft, record.NewAuditPartDraft
	make := func(d *record.Draft, err error) object { return besides(t, d, err) }
	return map[string]object{
		"received": make(received(aboutHeader(), record.AuditReceived{AuditEventID: "evt_1", AuditEventVersion: "1.0.0"})),
		"received, normalized": make(received(aboutHeader(), record.AuditReceived{
			AuditEventID: "evt_1", AuditEventVersion: "1.1.0", Normalized: normalized, ComposedOf: []string{"evt_a", "evt_b"},
		})),
		"incomplete": make(incomplete(aboutHeader(), record.AuditIncomplete{
			ActionID: "act_1", WaitedSeconds: 60, Missing: []string{"/policy", "/actors/accountable_owner"},
			Contradicted: []string{"/execution/business_outcome"}, Invalid: []string{"/tool_calls"}, Found: []string{"evt_a"},
		})),
		"part": make(part(aboutHeader(), record.AuditPart{
			ActionID: "act_1", Normalized: normalized, Members: jsontext.Value(`{"policy":{"decision":"block"}, "actors":{}}`),
		})),
	}
}

func TestWhatStandsBesideAnAuditEventFitsItsSchema(t *testing.T) {
	for name, entry := range abouts(t) {
		require.NoError(t, schema.Validate(record.KindJournal, "1.0.0", canonical(t, entry)), name)
	}
}

func TestWhatStandsBesideAnAuditEventIsWholeToo(t *testing.T) {
	for name, changes := range map[string][]func(object){
		"received": {
			removeIn("journal_record/detail"), removeIn("journal_record/correlation"), removeIn("journal_record/correlation/execution_id"),
			removeIn("journal_record/detail/audit_event_id"), removeIn("journal_record/detail/audit_event_version"),
			setIn("journal_record/detail/audit_event_version", "1"), setIn("journal_record/detail/normalized", []any{}),
			setIn("journal_record/detail/normalized", []any{object{"pointer": "policy", "from": "deny", "to": "block"}}),
			setIn("journal_record/detail/normalized", []any{object{"pointer": "/policy/decision", "from": "Jane Doe", "to": "block"}}),
		},
		"incomplete": {
			removeIn("journal_record/detail"), removeIn("journal_record/detail/action_id"), removeIn("journal_record/detail/waited_seconds"),
			both(removeIn("journal_record/detail/missing"), removeIn("journal_record/detail/contradicted"), removeIn("journal_record/detail/invalid")),
			setIn("journal_record/detail/missing", []any{}), setIn("journal_record/detail/missing", []any{"policy"}),
		},
		"part": {
			removeIn("journal_record/detail"), removeIn("journal_record/detail/part_id"), removeIn("journal_record/detail/action_id"),
			removeIn("journal_record/detail/members"), setIn("journal_record/detail/members", object{}),
			setIn("journal_record/detail/members/event_id", "evt_1"), setIn("journal_record/detail/members/policy", "block"),
		},
	} {
		for i, change := range changes {
			entry := abouts(t)[name]
			change(entry)
			require.Error(t, schema.Validate(record.KindJournal, "1.0.0", canonical(t, entry)), "%s %d", name, i)
		}
	}
}

// A client that sends an audit event again comes over another connection.
func TestARepeatOfWhatStandsBesideIsOneWhoeverBringsIt(t *testing.T) {
	r := record.AuditReceived{AuditEventID: "evt_1", AuditEventVersion: "1.0.0"}
	first, err := record.NewAuditReceivedDraft(aboutHeader(), r)
	require.NoError(t, err)
	again := aboutHeader()
	again.ObservedBy = record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, ReceivedContext: &record.ReceivedContext{TraceID: "0af7651916cd43dd8448eb211c80319c"}}
	second, err := record.NewAuditReceivedDraft(again, r)
	require.NoError(t, err)
	require.Equal(t, first.ID(), second.ID())
	require.Equal(t, first.Digest(), second.Digest())

	r.Normalized = normalized
	other, err := record.NewAuditReceivedDraft(aboutHeader(), r)
	require.NoError(t, err)
	require.Equal(t, first.ID(), other.ID())
	require.NotEqual(t, first.Digest(), other.Digest())
}

func TestOnlyTheSamePartOfAnActionIsARepeat(t *testing.T) {
	part := func(execution, action, members string) string {
		h := aboutHeader()
		h.Correlation.ExecutionID = execution
		d, err := record.NewAuditPartDraft(h, record.AuditPart{ActionID: action, Members: jsontext.Value(members)})
		require.NoError(t, err)
		return d.ID()
	}
	first := part("run_1", "act_1", `{"policy":{"decision":"allow","policy_id":"p"}}`)
	require.Equal(t, first, part("run_1", "act_1", `{ "policy" : {"policy_id":"p", "decision":"allow"}}`))
	for _, other := range []string{
		part("run_2", "act_1", `{"policy":{"decision":"allow","policy_id":"p"}}`), part("run_1", "act_2", `{"policy":{"decision":"allow","policy_id":"p"}}`),
		part("run_1", "act_1", `{"policy":{"decision":"warn","policy_id":"p"}}`),
	} {
		require.NotEqual(t, first, other)
	}
	_, err := record.NewAuditPartDraft(aboutHeader(), record.AuditPart{ActionID: "act_1", Members: jsontext.Value(`{"a":1,"a":2}`)})
	require.Error(t, err)
}
