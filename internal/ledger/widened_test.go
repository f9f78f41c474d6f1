// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

// set returns the draft of a step of which members of its target say something else;
// nil leaves one out.
func set(t testing.TB, s step, members map[string]any) *record.Draft {
	t.Helper()
	body := s.body()
	kind, target := record.KindAction, body["action"]
	if s.kind != "" {
		kind, target = record.KindApproval, body["binds"].(map[string]any)["target"]
	}
	maps.Copy(target.(map[string]any), members)
	maps.DeleteFunc(target.(map[string]any), func(_ string, v any) bool { return v == nil })
	return bodyDraft(t, kind, body)
}

func (x *executor) appendDrafts(drafts ...*record.Draft) error {
	_, err := x.ledger.AppendStrict(x.t.Context(), drafts)
	return err
}

func (x *executor) requireRefused(code, pointer string, drafts ...*record.Draft) {
	x.t.Helper()
	var refusal *ledger.Refusal
	require.ErrorAs(x.t, x.appendDrafts(drafts...), &refusal)
	require.Equal(x.t, []string{code, pointer}, []string{refusal.Code, refusal.Pointer})
}

func TestNothingIsSentThatThePlanDoesNotHave(t *testing.T) {
	planned := map[string]any{"header_names": []string{"Content-Type", "Idempotency-Key"}}
	for pointer, widened := range map[string]map[string]any{
		"/action/header_names/1":   {"header_names": []string{"content-type", "X-Admin-Override"}},
		"/action/body_digest":      {"body_digest": usual.arguments},
		"/action/redaction":        {"redaction": "values_left_out"},
		"/action/path_template":    {"path_template": "/v1/delete/{everything}"},
		"/action/account":          {"account": "root"},
		"/action/command_template": {"command_template": "reboot"},
		"/action/command_digest":   {"command_digest": usual.arguments},
		"/action/method":           {"method": nil},
	} {
		x := newExecutor(t, 1)
		require.NoError(t, x.appendDrafts(set(t, plan, planned), requested.draft(t), approval.draft(t)))
		x.requireRefused(ledger.CodeChanged, pointer, set(t, sending, widened))
		require.NoError(t, x.appendDrafts(set(t, sending, map[string]any{"header_names": []string{"content-type"}})), "a header less is no more")
	}
	x := newExecutor(t, 1)
	require.NoError(t, x.appendDrafts(set(t, plan.with(func(s *step) { s.approval = "" }), map[string]any{"body_digest": usual.arguments})))
	x.requireRefused(ledger.CodeChanged, "/action/body_digest", sending.draft(t))
	x.requireRefused(ledger.CodeChanged, "/action/header_names/0", set(t, sending, map[string]any{"header_names": []string{"A"}, "body_digest": usual.arguments}))
}

func TestWhatAnApprovalLeavesOutIsNotApproved(t *testing.T) {
	for member, value := range map[string]any{"path_template": "/v1/delete/{everything}", "account": "root", "command_template": "reboot", "command_digest": usual.arguments} {
		x := newExecutor(t, 1)
		wide := map[string]any{member: value}
		require.NoError(t, x.appendDrafts(requested.draft(t), approval.draft(t), set(t, plan, wide)))
		x.requireRefused(ledger.CodeNotBound, "/action/"+member, set(t, sending, wide))
		x.requireRefused(ledger.CodeNotBound, "/binds/target/"+member, set(t, approval.with(func(s *step) { s.kind, s.decision = "revoked", "" }), wide))
	}
}

func TestAnOutcomeIsThatOfWhatWasSent(t *testing.T) {
	completed := timedOut.with(func(s *step) { s.state, s.attempts = "completed", "att_1" })
	failed := timedOut.with(func(s *step) { s.state = "failed_before_send" })
	x := newExecutor(t, 1)
	receipts := x.append(plan, requested, approval, sending)
	for _, outcome := range []step{completed, timedOut, failed} {
		refused := x.refused(outcome.with(func(s *step) { s.reach.host = "innocent.example" }))
		require.Equal(t, ledger.Refusal{Code: ledger.CodeChanged, Pointer: "/action/host", EventID: receipts[3].EventID}, refused)
		require.Equal(t, "/action/credential_ref", x.refused(outcome.with(func(s *step) { s.reach.credential = "none" })).Pointer)
		require.Equal(t, "/requested/arguments_digest", x.refused(outcome.with(func(s *step) { s.reach.arguments = "sha256:00" })).Pointer)
		x.requireRefused(ledger.CodeChanged, "/action/path_template", set(t, outcome, map[string]any{"path_template": "/harmless"}))
	}
	x.append(completed.with(func(s *step) { s.reach.identity = "spiffe://bank.example/other" }))
}

func TestTheLastEntryOfAnActionNamesItsAttempts(t *testing.T) {
	x := newExecutor(t, 1)
	x.append(plan, requested, approval, sending)
	named := func(outcome step, attempts string) step {
		return outcome.with(func(s *step) { s.attempts = attempts })
	}
	completed := timedOut.with(func(s *step) { s.state = "completed" })
	second := again.with(func(s *step) { s.state = "completed" })
	requireDiffer := func(pointer string, s step) {
		t.Helper()
		got := x.refused(s)
		require.Equal(t, []string{ledger.CodeAttemptsDiffer, pointer}, []string{got.Code, got.Pointer})
	}
	requireDiffer("/attempt_ids", completed)
	requireDiffer("/attempt_ids/0", named(completed, "att_ghost"))
	requireDiffer("/attempt_ids/1", named(timedOut, "att_1 att_2"))
	x.append(named(timedOut, "att_1"), again)
	requireDiffer("/attempt_ids", second)
	requireDiffer("/attempt_ids/0", named(second, "att_ghost att_2"))
	requireDiffer("/attempt_ids/0", named(second, "att_2 att_1"))
	requireDiffer("/attempt_ids/2", named(second, "att_1 att_2 att_never"))
	x.append(named(second, "att_1 att_2"))
	failed := step{action: "act_1", attempt: "att_3", number: 3, state: "failed_before_send", reach: usual}
	requireDiffer("/attempt_ids/2", named(failed, "att_1 att_2 att_4"))
	x.append(named(failed, "att_1 att_2 att_3"))
	requireDiffer("/attempt_ids/1", named(completed, "att_1 att_3"))
	x.append(named(completed, "att_1")) // which was learned late, by one who knows of no other attempt
}
