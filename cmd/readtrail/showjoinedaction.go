// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/record"
)

// joinedAction is an action as show --joined prints it.
type joinedAction struct {
	Action actionSummary `json:"action"`
}

type actionSummary struct {
	ActionID  string            `json:"action_id"`
	Standing  action.Standing   `json:"standing"`
	Planned   []actionEntry     `json:"planned"`
	Approvals []approvalSummary `json:"approvals"`
	Attempts  []attemptSummary  `json:"attempts"`
	Failed    []actionEntry     `json:"failed_before_send"`
	Revoked   []actionEntry     `json:"revoked"`
	// ToolCalls are the reads that name the action, with their own outcomes.
	ToolCalls []toolCall `json:"tool_calls"`
}

type approvalSummary struct {
	ApprovalID string        `json:"approval_id"`
	Requested  []actionEntry `json:"requested"`
	Decided    []actionEntry `json:"decided"`
	Revoked    []actionEntry `json:"revoked"`
}

type attemptSummary struct {
	AttemptID string          `json:"attempt_id"`
	Attempt   int64           `json:"attempt"`
	Standing  action.Standing `json:"standing"`
	Sent      []actionEntry   `json:"sent"`
	Outcomes  []actionEntry   `json:"outcomes"`
}

// actionEntry is an entry, and what it says that the others may not.
type actionEntry struct {
	JournalID string `json:"journal_id"`
	Sequence  uint64 `json:"sequence"`
	EventID   string `json:"event_id"`
	Upstream  string `json:"upstream_context_source"`

	State      record.ActionState      `json:"state,omitzero"`
	Actor      *record.Actor           `json:"actor,omitzero"`
	Requested  *record.Requested       `json:"requested,omitzero"`
	Target     *record.ActionTarget    `json:"action,omitzero"`
	Outcome    *record.Outcome         `json:"outcome,omitzero"`
	LinkedSpan *record.Link            `json:"linked_span,omitzero"`
	Received   *record.ReceivedContext `json:"received_context,omitzero"`
	Binds      *record.Binds           `json:"binds,omitzero"`
	Reviewer   *record.Reviewer        `json:"reviewer,omitzero"`
	Decision   record.Verdict          `json:"decision,omitzero"`
	ExpiresAt  record.Time             `json:"expires_at,omitzero"`
}

type toolCall struct {
	JournalID  string `json:"journal_id"`
	Sequence   uint64 `json:"sequence"`
	ReadID     string `json:"read_id"`
	ToolCallID string `json:"tool_call_id,omitzero"`
	Status     string `json:"status"`
}

func describeAction(a *action.Action, calls []*shownEntry) joinedAction {
	s := actionSummary{
		ActionID: a.ID, Standing: a.Standing(), Planned: entriesOf(a.Plans), Failed: entriesOf(a.Failed), Revoked: entriesOf(a.Revoked),
		Approvals: []approvalSummary{}, Attempts: []attemptSummary{}, ToolCalls: []toolCall{},
	}
	for _, p := range a.Approvals {
		s.Approvals = append(s.Approvals, approvalSummary{p.ID, entriesOf(p.Requested), entriesOf(p.Decided), entriesOf(p.Revoked)})
	}
	for _, t := range a.Attempts {
		s.Attempts = append(s.Attempts, attemptSummary{t.ID, t.Number, t.Standing(), entriesOf(t.Sent), entriesOf(t.Outcomes)})
	}
	for _, c := range calls {
		s.ToolCalls = append(s.ToolCalls, toolCall{c.journalID, c.sequence, c.readID, c.toolCall, c.status})
	}
	return joinedAction{s}
}

func entriesOf(entries []*action.Entry) []actionEntry {
	out := []actionEntry{}
	for _, e := range entries {
		entry := actionEntry{JournalID: e.JournalID, Sequence: e.Sequence, EventID: e.EventID, Upstream: e.Upstream}
		if a := e.Action; a != nil {
			entry.State, entry.Actor, entry.Requested, entry.Target = a.State, &a.Actor, &a.Requested, &a.Target
			entry.Outcome, entry.LinkedSpan, entry.Received = a.Outcome, a.LinkedSpan, a.ObservedBy.ReceivedContext
		}
		if p := e.Approval; p != nil {
			entry.Binds, entry.Reviewer, entry.Decision, entry.ExpiresAt = &p.Binds, p.Reviewer, p.Decision, p.ExpiresAt
			entry.Received = p.ObservedBy.ReceivedContext
		}
		out = append(out, entry)
	}
	return out
}
