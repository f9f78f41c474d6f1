// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"encoding/json/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var this = pending{scope, execution, action}

// settled looks at the action once, as an assembler that was just started does.
func (m *memory) settled() bool {
	m.t.Helper()
	var troubles []error
	a := New(m.options(&troubles))
	a.lookBack(m.t.Context())
	for _, p := range a.due(true) {
		a.look(m.t.Context(), p)
	}
	require.Empty(m.t, troubles)
	return len(a.waits) == 0
}

func detailOf[T any](t *testing.T, e *journal.Entry) T {
	var b struct {
		Detail T `json:"detail"`
	}
	require.NoError(t, json.Unmarshal(e.Body, &b))
	return b.Detail
}

func eventIn(t *testing.T, m *memory) (event record.AuditEvent) {
	for _, e := range m.entries[true] {
		if e.Kind == record.KindAuditEvent {
			require.NoError(t, json.Unmarshal(e.Body, &event))
		}
	}
	return event
}

func TestTheAuditEventIsComposedOnceTheOutcomeIsThere(t *testing.T) {
	m := newMemory(t)
	drafts := story(t)
	for _, d := range drafts[:len(drafts)-1] {
		m.put(d)
		m.settled()
		require.Empty(t, m.types(), "%s is there", d.ID())
	}
	m.put(drafts[len(drafts)-1])
	require.True(t, m.settled())
	require.Equal(t, []string{"agent.action.completed", "audit_event.received"}, m.types())

	event := eventIn(t, m)
	assert.Equal(t, record.ComposedEventID(execution, action), event.EventID)
	assert.Equal(t, record.AuditCorrelation{
		CorrelationID: "case_1", ExecutionID: execution, TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331",
	}, event.Correlation)
	assert.Equal(t, record.NewTime(epoch.Add(time.Minute)), event.OccurredAt, "when the attempt ended")
	assert.Equal(t, &record.AuditApproval{
		RequestID: "req_1", RequiredRole: "senior_underwriter", Decision: record.AuditApproved, RequestedAt: record.NewTime(epoch), DecidedAt: record.NewTime(epoch),
		Reviewer: &record.AuditReviewer{Identity: "user_senior", Kind: record.AuditReviewerHuman, Role: "senior_underwriter"}, ExpiresAt: record.NewTime(epoch.Add(time.Hour)),
	}, event.Approval)
	assert.Equal(t, []record.AuditToolCall{{
		CallID: "call_1", Attempt: 1, ToolID: "loan.application.update", ToolVersion: "2026-05-11", Status: record.AuditCallSucceeded,
		ArgumentsDigest: digestOf("a"), ArgumentsCanonicalization: "jcs", ArgumentsSize: 26,
		ResultDigest: digestOf("b"), ResultCanonicalization: "jcs", ResultSize: 11,
		StartedAt: record.NewTime(epoch), IdempotencyToken: record.IdempotencyToken(action),
	}}, event.ToolCalls)
	assert.Equal(t, record.AuditExecution{Status: record.AuditExecutionSucceeded, BusinessOutcome: record.AuditOutcomeAchieved}, event.Execution)
	assert.Equal(t, []string{action}, event.ActionIDs)
	assert.Equal(t, []string{"read_1"}, event.ReadIDs)
	received := detailOf[record.AuditReceived](t, m.last())
	assert.Equal(t, event.EventID, received.AuditEventID)
	assert.Len(t, received.ComposedOf, len(drafts))
	assert.Equal(t, received.ComposedOf, event.Lineage.EventIDs)
	assert.Equal(t, execution, m.last().Header.Correlation.ExecutionID)
}

// Requirement E9, through a part.
func TestWhatWasNormalizedInAPartIsSaidBesideTheEvent(t *testing.T) {
	m := newMemory(t)
	m.put(story(t, "policy", "planned", "sent", "completed", "read", "requested", "decided", "approval", "execution")...)
	policy := parts(t)["policy"]["policy"].(object)
	policy["decision"] = "block"
	denied, err := record.NewAuditPartDraft(record.Header{Correlation: record.Correlation{ExecutionID: execution}}, record.AuditPart{
		ActionID: action, Members: canonicalOf(t, object{"policy": policy}), Normalized: []record.Normalized{{Pointer: "/policy/decision", From: "deny", To: "block"}},
	})
	require.NoError(t, err)
	m.put(denied, part(t, object{"occurred_at": "2026-10-09T08:12:03.000000000Z", "execution": object{"status": "denied", "business_outcome": "not_achieved"}}))
	require.True(t, m.settled())
	require.Equal(t, []string{"agent.action.denied", "audit_event.received"}, m.types())
	require.Empty(t, eventIn(t, m).ToolCalls)
	require.Equal(t, []record.Normalized{{Pointer: "/policy/decision", From: "deny", To: "block"}}, detailOf[record.AuditReceived](t, m.last()).Normalized)
}

func canonicalOf(t *testing.T, v any) []byte {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// No audit event is invented: each thing that nobody said is named.
func TestWhatNeverComesIsNamedAtTheDeadline(t *testing.T) {
	for lacking, missing := range map[string][]string{
		"correlation":      {"/correlation/correlation_id"},
		"actors":           {"/actors"},
		"components":       {"/components"},
		"requested_action": {"/requested_action"},
		"policy":           {"/policy"},
		"approval":         {"/approval/reviewer/kind"},
		"lineage":          {"/lineage/lineage_ref"},
		"evidence":         {"/evidence"},
		"privacy":          {"/privacy"},
		"requested":        {"/approval/request_id", "/approval/requested_at", "/approval/required_role"},
		"read":             {"/tool_calls/0/result_digest"},
		"execution":        {"/execution/business_outcome"},
	} {
		t.Run(lacking, func(t *testing.T) {
			m := newMemory(t)
			m.put(story(t, lacking)...)
			require.False(t, m.settled(), "it may come")
			m.advance(deadline - time.Second)
			require.False(t, m.settled())
			require.Empty(t, m.types())
			m.advance(2 * time.Second)
			require.True(t, m.settled())
			require.Equal(t, []string{record.EventAuditIncomplete}, m.types())
			said := detailOf[record.AuditIncomplete](t, m.last())
			require.Equal(t, missing, said.Missing)
			require.Empty(t, said.Contradicted)
			require.Equal(t, action, said.ActionID)
			require.EqualValues(t, deadline/time.Second+1, said.WaitedSeconds)
			require.NotEmpty(t, said.Found)
			m.advance(deadline)
			require.True(t, m.settled())
			require.Len(t, m.types(), 1, "it is said once")
		})
	}
}

func TestWhatComesInTimeIsWaitedForAcrossARestart(t *testing.T) {
	m := newMemory(t)
	m.put(story(t, "read", "evidence")...)
	require.False(t, m.settled())
	m.advance(deadline / 2)
	m.put(toolRead(t, "read_1", nil))
	require.False(t, m.settled(), "each look is one of an assembler that was started anew")
	m.put(part(t, parts(t)["evidence"]))
	require.True(t, m.settled())
	require.Equal(t, []string{"agent.action.completed", "audit_event.received"}, m.types())
	require.True(t, m.settled())
	require.Len(t, m.types(), 2)
}

func TestTwoWhoDisagreeAreBothHeard(t *testing.T) {
	for name, c := range map[string]struct {
		more    []*record.Draft
		pointer string
	}{
		"two policy engines":      {[]*record.Draft{part(t, object{"policy": object{"policy_version": "4.2.2"}})}, "/policy/policy_version"},
		"an outcome that is not":  {[]*record.Draft{part(t, object{"execution": object{"status": "failed"}})}, "/execution/status"},
		"another list":            {[]*record.Draft{part(t, object{"privacy": object{"redactions": []any{}}})}, "/privacy/redactions"},
		"two results of one call": {[]*record.Draft{toolRead(t, "read_2", func(r *record.Read) { r.Response.ResultDigest = digestOf("c") })}, "/tool_calls/0/result_digest"},
		"a call that was another": {[]*record.Draft{part(t, object{"tool_calls": []any{object{"call_id": "call_1", "attempt": 1, "tool_id": "other"}}})}, "/tool_calls/0/tool_id"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			m.put(story(t)[:1]...)
			m.put(story(t)...)
			m.put(c.more...)
			require.False(t, m.settled())
			m.advance(deadline)
			require.True(t, m.settled())
			require.Equal(t, []string{record.EventAuditIncomplete}, m.types())
			require.Equal(t, []string{c.pointer}, detailOf[record.AuditIncomplete](t, m.last()).Contradicted)
		})
	}
}

func TestAnEventThatBreaksARuleIsNoEvent(t *testing.T) {
	m := newMemory(t)
	m.put(story(t, "approval", "decided")...)
	m.put(part(t, object{"approval": object{"reviewer": object{"kind": "human"}}}))
	m.advance(deadline)
	require.True(t, m.settled())
	said := detailOf[record.AuditIncomplete](t, m.last())
	require.Equal(t, []string{record.EventAuditIncomplete}, m.types())
	require.Contains(t, said.Invalid, "/execution/status", "it was executed while the approval was pending")
}

// Attempts are listed, a timeout is never a failure, and what is open is no outcome.
func TestEveryAttemptIsACall(t *testing.T) {
	m := newMemory(t)
	m.put(story(t, "completed", "read")...)
	m.put(state(t, record.ActionTimeout, 1, func(a *record.Action) {
		a.Outcome.HTTPStatus, a.Outcome.RemoteEffect = 0, record.EffectUnknown
	}), state(t, record.ActionSent, 2, nil))
	m.advance(deadline / 2)
	m.put(part(t, object{"tool_calls": []any{
		object{"call_id": "call_1", "attempt": 1, "result_digest": digestOf("0")}, object{"call_id": "call_1", "attempt": 2, "result_digest": digestOf("b")},
	}}))
	require.False(t, m.settled())
	m.put(state(t, record.ActionCompleted, 2, nil))
	m.advance(deadline - time.Second)
	require.False(t, m.settled(), "the last entry does not say that there are no more attempts")
	m.advance(time.Second)
	require.True(t, m.settled())
	event := eventIn(t, m)
	require.Len(t, event.ToolCalls, 2)
	require.Equal(t, []record.AuditToolCallStatus{record.AuditCallTimeout, record.AuditCallSucceeded}, []record.AuditToolCallStatus{event.ToolCalls[0].Status, event.ToolCalls[1].Status})
	require.Equal(t, record.AuditExecutionSucceeded, event.Execution.Status)
}

func TestAnOpenAttemptIsNamed(t *testing.T) {
	m := newMemory(t)
	m.put(story(t, "completed")...)
	m.put(part(t, parts(t)["execution"]))
	m.advance(deadline)
	require.True(t, m.settled())
	require.Equal(t, []string{"/execution/status", "/occurred_at", "/tool_calls/0/status"}, detailOf[record.AuditIncomplete](t, m.last()).Missing)
}

func TestNobodyMakesAnEventTooLarge(t *testing.T) {
	f := NewFacts(execution, action)
	m := newMemory(t)
	m.put(story(t)...)
	for e := range m.AllOf(t.Context(), scope, execution) {
		for range maxFound {
			require.NoError(t, f.Add(e))
		}
		if f.Overfull() {
			break
		}
	}
	c, err := f.Compose()
	require.NoError(t, err)
	require.False(t, c.Whole())
	require.Contains(t, c.Invalid, "/lineage/event_ids")
	_, err = c.Incomplete(deadline)
	require.NoError(t, err)
}

func TestARevokedActionDidNotStart(t *testing.T) {
	m := newMemory(t)
	m.put(story(t, "sent", "read", "completed", "approval", "decided", "execution")...)
	m.put(approvalStep(t, record.ApprovalRevoked), state(t, record.ActionRevoked, 0, nil))
	m.put(part(t, object{"execution": object{"business_outcome": "not_achieved"}, "occurred_at": "2026-10-09T08:12:03.000000000Z"}))
	require.True(t, m.settled())
	event := eventIn(t, m)
	require.Equal(t, record.AuditExecutionNotStarted, event.Execution.Status)
	require.Equal(t, record.AuditApprovalRevoked, event.Approval.Decision)
	require.Empty(t, event.ToolCalls)
}

func TestAnEventThatAProducerGaveIsNotComposedAgain(t *testing.T) {
	m := newMemory(t)
	drafts := story(t)
	m.put(drafts...)
	require.True(t, m.settled())
	m.put(part(t, object{"execution": object{"incident_ref": "inc_1"}}))
	m.advance(deadline)
	require.True(t, m.settled())
	require.Len(t, m.types(), 2, "what comes later stands in its own record")
}
