// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// reach is what an action reaches for and an approval is bound to.
type reach struct{ host, credential, arguments, identity string }

// usual is the reach of an action of which a test says nothing.
var usual = reach{"crm.bank.example", "vault:crm/writer", "sha256:1111111111111111111111111111111111111111111111111111111111111111", "spiffe://bank.example/agent"}

// step is a record of an action or, with a kind, of an approval.
type step struct {
	action, attempt string
	number          int
	state           string
	reach           reach
	approval        string
	// attempts are the attempt_ids, with blanks between them.
	attempts string

	kind     string
	decision string
	expires  time.Time
}

func (s step) id() string {
	return fmt.Sprint(s.approval, s.kind, "|", s.action, "|", s.attempt, s.state)
}

// sameID reports whether two steps are records with one id.
func (s step) sameID(o step) bool {
	if s.kind != o.kind {
		return false
	}
	if s.kind != "" {
		return s.approval == o.approval
	}
	return s.action == o.action && s.attempt == o.attempt && s.state == o.state
}

func (s step) draft(t testing.TB) *record.Draft {
	t.Helper()
	if s.kind != "" {
		return bodyDraft(t, record.KindApproval, s.body())
	}
	return bodyDraft(t, record.KindAction, s.body())
}

func (s step) body() map[string]any {
	target := map[string]any{"channel": "http", "host": s.reach.host, "port": 443, "protocol": "https", "method": "POST"}
	body := map[string]any{
		"occurred_at": "2026-11-30T00:00:00.000000000Z", "correlation": map[string]any{"execution_id": "run_1"},
		"observed_by": map[string]any{"signal": "api", "upstream_context_source": "unverified_input"},
	}
	if s.kind != "" {
		body["event_type"] = "approval." + s.kind
		body["approval_id"], body["request_id"], body["kind"] = s.approval, "req_"+s.approval, s.kind
		body["binds"] = map[string]any{
			"action_id": s.action, "target": target, "credential_ref": s.reach.credential,
			"arguments_digest": s.reach.arguments, "actor_identity": s.reach.identity,
		}
		if s.decision != "" {
			body["decision"] = s.decision
			body["reviewer"] = map[string]any{"identity": "j.doe", "role": "four_eyes"}
		}
		if !s.expires.IsZero() {
			body["expires_at"] = record.NewTime(s.expires).String()
		}
		return body
	}
	target["credential_ref"], target["redaction"] = s.reach.credential, "none"
	body["event_type"] = "action." + s.state
	body["action_id"], body["state"], body["edge_type"], body["idempotency_token"] = s.action, s.state, "external_action", "idem_"+s.action
	body["actor"] = map[string]any{"kind": "worker", "identity": s.reach.identity}
	body["requested"] = map[string]any{"tool_id": "crm.update", "arguments_digest": s.reach.arguments}
	body["action"] = target
	if s.attempt != "" {
		body["attempt_id"], body["attempt"] = s.attempt, s.number
	}
	if s.approval != "" {
		body["approval_id"] = s.approval
	}
	if s.attempts != "" {
		body["attempt_ids"] = strings.Fields(s.attempts)
	}
	return body
}

func bodyDraft(t testing.TB, kind record.Kind, body any) *record.Draft {
	t.Helper()
	return versionDraft(t, kind, record.SchemaVersion, body)
}

func versionDraft(t testing.TB, kind record.Kind, version string, body any) *record.Draft {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	d, err := record.NewBodyDraft(kind, version, true, jsontext.Value(raw))
	require.NoError(t, err)
	return d
}

func drafts(t testing.TB, steps ...step) (all []*record.Draft) {
	for _, s := range steps {
		all = append(all, s.draft(t))
	}
	return all
}

// stepOf reads a step from an entry; ok is false for one that is none.
func stepOf(t testing.TB, e *journal.Entry) (s step, ok bool) {
	t.Helper()
	type place struct {
		Host          string `json:"host"`
		CredentialRef string `json:"credential_ref"`
	}
	var b struct {
		ActionID  string `json:"action_id"`
		AttemptID string `json:"attempt_id"`
		Attempt   int    `json:"attempt"`
		State     string `json:"state"`
		Action    place  `json:"action"`
		Requested struct {
			D string `json:"arguments_digest"`
		} `json:"requested"`
		Actor struct {
			Identity string `json:"identity"`
		} `json:"actor"`
		ApprovalID string      `json:"approval_id"`
		AttemptIDs []string    `json:"attempt_ids"`
		Kind       string      `json:"kind"`
		Decision   string      `json:"decision"`
		ExpiresAt  record.Time `json:"expires_at"`
		Binds      struct {
			ActionID        string `json:"action_id"`
			Target          place  `json:"target"`
			CredentialRef   string `json:"credential_ref"`
			ArgumentsDigest string `json:"arguments_digest"`
			ActorIdentity   string `json:"actor_identity"`
		} `json:"binds"`
	}
	switch e.Kind {
	case record.KindAction:
		require.NoError(t, json.Unmarshal(e.Body, &b))
		return step{
			action: b.ActionID, attempt: b.AttemptID, number: b.Attempt, state: b.State, approval: b.ApprovalID,
			attempts: strings.Join(b.AttemptIDs, " "),
			reach:    reach{b.Action.Host, b.Action.CredentialRef, b.Requested.D, b.Actor.Identity},
		}, true
	case record.KindApproval:
		require.NoError(t, json.Unmarshal(e.Body, &b))
		return step{
			action: b.Binds.ActionID, approval: b.ApprovalID, kind: b.Kind, decision: b.Decision, expires: b.ExpiresAt.Std(),
			reach: reach{b.Binds.Target.Host, b.Binds.CredentialRef, b.Binds.ArgumentsDigest, b.Binds.ActorIdentity},
		}, true
	}
	return step{}, false
}

// model is the rules of actions once more, over a list of what was accepted.
type model []step

func (m model) last(is func(step) bool) (step, bool) {
	for _, s := range slices.Backward(m) {
		if is(s) {
			return s, true
		}
	}
	return step{}, false
}

func (m model) has(is func(step) bool) bool { return slices.ContainsFunc(m, is) }

// Answers of the model that are no codes.
const (
	isAccepted = "accepted"
	isRepeat   = "repeat"
)

func (m model) judge(s step, now time.Time) string {
	if other, found := m.last(s.sameID); found {
		if other == s {
			return m.judgeAgain(s, now)
		}
		return ledger.CodeConflict
	}
	if s.kind != "" {
		return m.judgeApproval(s)
	}
	of := func(state string) func(step) bool {
		return func(o step) bool { return o.kind == "" && o.action == s.action && o.state == state }
	}
	ended := func(o step) bool {
		return o.kind == "" && o.action == s.action && o.attempt == s.attempt && o.attempt != "" && isOutcome(o.state)
	}
	plan, isPlanned := m.last(of("planned"))
	sending, isSent := m.last(func(o step) bool { return of("sent")(o) && o.attempt == s.attempt })
	outcome, isOver := m.last(ended)
	switch s.state {
	case "planned":
		if m.has(of("revoked")) {
			return ledger.CodeActionRevoked
		}
	case "sent":
		switch {
		case !isPlanned:
			return ledger.CodeNotPlanned
		case m.has(of("revoked")):
			return ledger.CodeActionRevoked
		case plan.reach.host != s.reach.host, plan.reach.credential != s.reach.credential, plan.reach.arguments != s.reach.arguments:
			return ledger.CodeChanged
		case isOver:
			return ledger.CodeAttemptOver
		}
		if code := m.judgeNumber(s); code != isAccepted {
			return code
		}
		return m.judgeApproved(s, plan, now)
	case "failed_before_send":
		switch {
		case !isPlanned:
			return ledger.CodeNotPlanned
		case isOver:
			return ledger.CodeAttemptOver
		case !isSent:
			if code := m.judgeNumber(s); code != isAccepted {
				return code
			}
			return m.judgeAttempts(s, false)
		}
		return m.judgeEnd(s, sending, false)
	case "completed", "timeout", "unknown":
		switch {
		case !isSent:
			return ledger.CodeAttemptNotSent
		case isOver && (s.state != "completed" || outcome.state != "timeout" && outcome.state != "unknown"):
			return ledger.CodeAttemptOver
		}
		return m.judgeEnd(s, sending, isOver)
	}
	return isAccepted
}

func (m model) judgeEnd(s, sending step, late bool) string {
	switch {
	case sending.number != s.number:
		return ledger.CodeAttemptNotSent
	case sending.reach.host != s.reach.host, sending.reach.credential != s.reach.credential, sending.reach.arguments != s.reach.arguments:
		return ledger.CodeChanged
	}
	return m.judgeAttempts(s, late)
}

// judgeAttempts demands the ids of all attempts, or of a late outcome of those up to
// its own at least.
func (m model) judgeAttempts(s step, late bool) string {
	all, own := strings.Fields(m.attemptsWith(s)), strings.Fields(s.attempts)
	switch {
	case len(own) == 0 && s.state != "completed", slices.Equal(own, all):
		return isAccepted
	case late && len(own) >= s.number && len(own) <= len(all) && slices.Equal(own, all[:len(own)]):
		return isAccepted
	}
	return ledger.CodeAttemptsDiffer
}

// attemptsWith are the ids of all attempts with that of a step.
func (m model) attemptsWith(s step) string {
	ids := map[int]string{s.number: s.attempt}
	for _, o := range m {
		if o.kind == "" && o.action == s.action && (o.state == "sent" || o.state == "failed_before_send") {
			ids[o.number] = o.attempt
		}
	}
	var all []string
	for _, number := range slices.Sorted(maps.Keys(ids)) {
		all = append(all, ids[number])
	}
	return strings.Join(all, " ")
}

// judgeAgain demands of a sending that it still is permitted.
func (m model) judgeAgain(s step, now time.Time) string {
	if s.state != "sent" {
		return isRepeat
	}
	of := func(state string) func(step) bool {
		return func(o step) bool { return o.kind == "" && o.action == s.action && o.state == state }
	}
	plan, _ := m.last(of("planned"))
	switch {
	case m.has(of("revoked")):
		return ledger.CodeActionRevoked
	case m.has(func(o step) bool { return o.isOutcomeOf(s) }):
		return ledger.CodeAttemptOver
	}
	if code := m.judgeApproved(s, plan, now); code != isAccepted {
		return code
	}
	return isRepeat
}

func (s step) isOutcomeOf(o step) bool {
	return s.kind == "" && s.action == o.action && s.attempt == o.attempt && isOutcome(s.state)
}

func isOutcome(state string) bool {
	return slices.Contains([]string{"completed", "timeout", "unknown", "failed_before_send"}, state)
}

// judgeNumber demands the number behind the greatest, and an outcome of that one.
func (m model) judgeNumber(s step) string {
	begun := map[string]int{}
	over := map[string]bool{}
	for _, o := range m {
		if o.kind != "" || o.action != s.action {
			continue
		}
		if o.state == "sent" || o.state == "failed_before_send" {
			begun[o.attempt] = o.number
		}
		if isOutcome(o.state) {
			over[o.attempt] = true
		}
	}
	if s.number != len(begun)+1 {
		return ledger.CodeAttemptTaken
	}
	for attempt := range begun {
		if !over[attempt] {
			return ledger.CodeAttemptOpen
		}
	}
	return isAccepted
}

func (m model) judgeApproved(s, plan step, now time.Time) string {
	id := s.approval
	if id == "" {
		id = plan.approval
	}
	if id == "" {
		asked, found := m.last(func(o step) bool { return o.kind == "requested" && o.action == s.action })
		if !found {
			return isAccepted
		}
		id = asked.approval
	}
	of := func(kind string) (step, bool) {
		return m.last(func(o step) bool { return o.kind == kind && o.approval == id })
	}
	request, isRequested := of("requested")
	decision, isDecided := of("decided")
	_, isWithdrawn := of("revoked")
	switch {
	case !isRequested:
		return ledger.CodeNotBound
	case isWithdrawn:
		return ledger.CodeApprovalRevoked
	case request.action != s.action || request.reach != s.reach, !isDecided, decision.decision != "approved",
		!request.expires.IsZero() && !now.Before(request.expires), !decision.expires.IsZero() && !now.Before(decision.expires):
		return ledger.CodeNotBound
	}
	return isAccepted
}

func (m model) judgeApproval(s step) string {
	if s.kind == "requested" {
		return isAccepted
	}
	request, found := m.last(func(o step) bool { return o.kind == "requested" && o.approval == s.approval })
	if !found || request.action != s.action || request.reach != s.reach {
		return ledger.CodeNotBound
	}
	return isAccepted
}
