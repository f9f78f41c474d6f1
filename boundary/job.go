// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"encoding/json/v2"
	"errors"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// Plan is an action that is durable as planned, for whoever carries it out: later, in
// another process, or once more after a restart. It holds ids, never content.
type Plan struct {
	ActionID string `json:"action_id"`
	// EventID is the entry that says planned.
	EventID     string `json:"event_id"`
	ExecutionID string `json:"execution_id"`
	TraceID     string `json:"trace_id"`
	// SpanID is the action's span.
	SpanID     string `json:"span_id"`
	ApprovalID string `json:"approval_id,omitzero"`
	// ToolID, ArgumentsDigest and PathTemplate are those that were planned. Whoever goes on
	// with the plan has to say the same, and does where its Call leaves them out.
	ToolID          string `json:"tool_id,omitzero"`
	ArgumentsDigest string `json:"arguments_digest,omitzero"`
	PathTemplate    string `json:"path_template,omitzero"`
	// AttemptIDs are the attempts so far, in their order: the journal takes the next one
	// only. Unsent says that nothing of them left.
	AttemptIDs []string `json:"attempt_ids,omitzero"`
	Unsent     bool     `json:"unsent,omitzero"`
}

// left reports whether something of the attempts so far left, or may have.
func (p *Plan) left() bool { return len(p.AttemptIDs) > 0 && !p.Unsent }

func planOf(r *record.Action) Plan {
	return Plan{
		ActionID: r.ActionID, EventID: r.Correlation.ParentEventID, ExecutionID: r.Correlation.ExecutionID, TraceID: r.Correlation.TraceID,
		SpanID: r.Correlation.ParentSpanID, ApprovalID: r.ApprovalID,
		ToolID: r.Requested.ToolID, ArgumentsDigest: r.Requested.ArgumentsDigest, PathTemplate: r.Target.PathTemplate,
		AttemptIDs: r.AttemptIDs, Unsent: r.State == record.ActionFailedBeforeSend && len(r.AttemptIDs) == 1,
	}
}

// asPlan is what another process has to know of an action that is planned.
func (a *action) asPlan(c *call) *Plan {
	return &Plan{
		ActionID: a.id, EventID: a.eventID, ExecutionID: c.ExecutionID, TraceID: c.TraceID, SpanID: a.spanID, ApprovalID: a.approval,
		ToolID: c.ToolID, ArgumentsDigest: c.ArgumentsDigest, PathTemplate: a.target.PathTemplate,
		AttemptIDs: slices.Clone(a.attempts), Unsent: len(a.attempts) > 0 && !a.left,
	}
}

func (p *Plan) check() error {
	ok := isGivenID(p.ActionID) && isGivenID(p.EventID) && p.ExecutionID != "" && isHexID(p.TraceID, 16) && isHexID(p.SpanID, 8) && (p.ApprovalID == "" || isGivenID(p.ApprovalID))
	for _, id := range p.AttemptIDs {
		ok = ok && isGivenID(id)
	}
	if !ok || len(p.AttemptIDs) > maxAttempts {
		return errors.New("boundary: a Plan holds something that is no id")
	}
	return nil
}

// maxAttempts bounds the attempts of one action.
const maxAttempts = 1000

// Job is what travels in the payload of work that is done later by another worker
// (requirement D4): the run it belongs to and the span that asked for it. The worker
// acts in spans of its own, linked to that one, under its own identity and start time.
type Job struct {
	ExecutionID string `json:"execution_id"`
	TraceID     string `json:"trace_id"`
	// SpanID is the span that asked.
	SpanID        string `json:"span_id"`
	CorrelationID string `json:"correlation_id,omitzero"`
	// Plan is the action that the worker is to carry out, if it was planned when the
	// job was made.
	Plan *Plan `json:"plan,omitzero"`
	// PlannedBy is the entry in which the work was planned, if there is no Plan.
	PlannedBy string `json:"planned_by,omitzero"`
}

// maxJobBytes bounds a job that is read from a payload.
const maxJobBytes = 256 << 10

// ParseJob reads a job from a payload, as json.Marshal wrote it. Whether whoever wrote
// it was entitled to is for the queue to prove: [Upstream.AuthenticatedBy].
func ParseJob(text []byte) (*Job, error) {
	j := &Job{}
	if len(text) > maxJobBytes || json.Unmarshal(text, j, json.RejectUnknownMembers(true)) != nil {
		return nil, errors.New("boundary: the payload holds no Job")
	}
	return j, j.check()
}

func (j *Job) check() error {
	if j.ExecutionID == "" || !isHexID(j.TraceID, 16) || !isHexID(j.SpanID, 8) || (j.PlannedBy != "" && !isGivenID(j.PlannedBy)) {
		return errors.New("boundary: a Job holds something that is no id")
	}
	if j.Plan != nil {
		if j.Plan.ExecutionID != j.ExecutionID || j.Plan.TraceID != j.TraceID {
			return errors.New("boundary: a Job's Plan is of another run")
		}
		return j.Plan.check()
	}
	return nil
}

// fromJob takes over what the job says of its run. The worker has no parent there.
func (c *call) fromJob() {
	c.ExecutionID, c.TraceID = c.Job.ExecutionID, c.Job.TraceID
	if c.CorrelationID == "" {
		c.CorrelationID = c.Job.CorrelationID
	}
	if c.Job.Plan != nil {
		c.Plan = c.Job.Plan
	}
}

// fromPlan takes over what the plan says of its action.
func (c *call) fromPlan() {
	c.ExecutionID, c.TraceID, c.ActionID = c.Plan.ExecutionID, c.Plan.TraceID, c.Plan.ActionID
	c.left = c.Plan.left()
	c.ToolID, c.ArgumentsDigest, c.PathTemplate = first(c.ToolID, c.Plan.ToolID), first(c.ArgumentsDigest, c.Plan.ArgumentsDigest), first(c.PathTemplate, c.Plan.PathTemplate)
}
