// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"net/http"
	"slices"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func (f *Facts) addAction(e *journal.Entry, a *record.Action) {
	if a.ActionID != f.actionID {
		return
	}
	f.found = append(f.found, e.Header.EventID)
	f.sayCorrelation(&a.Correlation)
	if a.ApprovalID != "" {
		f.relies = a.ApprovalID
	}
	if a.AttemptIDs != nil {
		f.named = a.AttemptIDs
	}
	switch {
	case a.State == record.ActionPlanned:
		// The span of the action is the one that planned it: attempts have their own.
		f.said.otherwiseText(a.Correlation.TraceID, "correlation", "trace_id")
		f.said.otherwiseText(a.Correlation.SpanID, "correlation", "span_id")
	case a.State == record.ActionRevoked:
		f.revoked, f.outcome = true, e.Header.RecordedAt
	case a.State == record.ActionSent:
		f.attemptOf(a)
	case a.State.IsOutcome():
		f.outcome, f.ended = e.Header.RecordedAt, a.OccurredAt
		if a.AttemptID == "" {
			return // nothing was attempted
		}
		at := f.attemptOf(a)
		at.status = statusOf(a)
	}
}

// attemptOf finds the attempt of a record or adds it with its call.
func (f *Facts) attemptOf(a *record.Action) *attempt {
	i := slices.IndexFunc(f.attempts, func(known *attempt) bool { return known.id == a.AttemptID })
	if i >= 0 {
		return f.attempts[i]
	}
	id := a.Correlation.CallID
	if id == "" {
		id = a.AttemptID // which is the id of the call that left
	}
	at := &attempt{id: a.AttemptID, number: a.Attempt, call: callKey{id, a.Attempt}}
	f.attempts = append(f.attempts, at)
	call := f.calls.get(at.call)
	call.sayText(a.Requested.ToolID, "tool_id")
	call.sayText(a.Requested.ArgumentsDigest, "arguments_digest")
	call.sayText(a.Requested.ArgumentsCanonicalization, "arguments_canonicalization")
	if a.Requested.ArgumentsSize > 0 {
		call.sayAt(float64(a.Requested.ArgumentsSize), "arguments_size")
	}
	call.sayText(a.IdempotencyToken, "idempotency_token")
	if a.State == record.ActionSent {
		call.sayAt(a.OccurredAt.String(), "started_at")
	}
	return at
}

// statusOf is what the caller saw. An answer that says no is a failure; no answer never
// is (requirement D3).
func statusOf(a *record.Action) record.AuditToolCallStatus {
	switch a.State {
	case record.ActionTimeout:
		return record.AuditCallTimeout
	case record.ActionFailedBeforeSend:
		return record.AuditCallFailed
	case record.ActionCompleted:
		switch o := a.Outcome; {
		case o == nil:
		case o.ExitStatus != nil && *o.ExitStatus == 0, o.HTTPStatus >= http.StatusOK && o.HTTPStatus < http.StatusBadRequest:
			return record.AuditCallSucceeded
		case o.ExitStatus != nil, o.HTTPStatus >= http.StatusBadRequest, o.Error != "":
			return record.AuditCallFailed
		}
	}
	return record.AuditCallUnknown
}

func (f *Facts) sayCorrelation(c *record.Correlation) {
	f.said.sayText(c.CorrelationID, "correlation", "correlation_id")
}

func (s *saying) sayText(text string, path ...string) {
	if text != "" {
		s.sayAt(text, path...)
	}
}

func (s *saying) otherwiseText(text string, path ...string) {
	if text != "" {
		s.otherwise(text, path...)
	}
}

// approval is what is known of one approval that binds the action.
type approval struct {
	id                string
	requested, decide *record.Approval
	revoked           bool
}

func (f *Facts) addApproval(e *journal.Entry, a *record.Approval) {
	if a.Binds.ActionID != f.actionID {
		return
	}
	f.found = append(f.found, e.Header.EventID)
	f.sayCorrelation(&a.Correlation)
	i := slices.IndexFunc(f.approvals, func(known *approval) bool { return known.id == a.ApprovalID })
	if i < 0 {
		i, f.approvals = len(f.approvals), append(f.approvals, &approval{id: a.ApprovalID})
	}
	switch known := f.approvals[i]; a.Kind {
	case record.ApprovalRequested:
		known.requested = a
	case record.ApprovalDecided:
		known.decide = a
	case record.ApprovalRevoked:
		known.revoked = true
	}
}

// sayApproval says what became of the approval that counts: the one that the executor
// named, else the newest. An approval record does not say whether a reviewer is human;
// that is for a part to say.
func (f *Facts) sayApproval() {
	if len(f.approvals) == 0 {
		return
	}
	counts := f.approvals[len(f.approvals)-1]
	if i := slices.IndexFunc(f.approvals, func(a *approval) bool { return a.id == f.relies }); i >= 0 {
		counts = f.approvals[i]
	}
	say := func(text string, path ...string) { f.said.sayText(text, append([]string{"approval"}, path...)...) }
	decision := record.AuditApprovalPending
	if r := counts.requested; r != nil {
		say(r.RequestID, "request_id")
		say(r.RequiredRole, "required_role")
		say(r.OccurredAt.String(), "requested_at")
		if !r.ExpiresAt.IsZero() {
			say(r.ExpiresAt.String(), "expires_at")
			if !f.ended.IsZero() && !f.ended.Std().Before(r.ExpiresAt.Std()) {
				decision = record.AuditApprovalExpired
			}
		}
	}
	switch d := counts.decide; {
	case counts.revoked && len(f.attempts) == 0:
		decision = record.AuditApprovalRevoked
	case d != nil:
		decision = record.AuditApprovalDecision(d.Decision)
		say(d.OccurredAt.String(), "decided_at")
		if d.Reviewer != nil {
			say(d.Reviewer.Identity, "reviewer", "identity")
			say(d.Reviewer.Role, "reviewer", "role")
		}
	}
	say(string(decision), "decision")
}
