// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Approver decides, or has a person decide, whether a resolved action may be sent.
type Approver interface {
	// Terms says whether a pending action needs an approval: the zero Terms says no.
	Terms(ctx context.Context, p Pending) (Terms, error)
	// Decide waits for the decision on a request that is durable in the journal.
	Decide(ctx context.Context, r ApprovalRequest) (Decision, error)
}

// Pending is a resolved action that was not sent yet, as a reviewer has to see it
// (requirement D7).
type Pending struct {
	ActionID, ExecutionID, TraceID, SpanID string
	// Actor is the process that will execute.
	Actor record.Actor
	// Target is where it goes and how: channel, host, port, method or command,
	// credential reference.
	Target record.ActionTarget
	// ToolID and ArgumentsDigest are what the agent asked for.
	ToolID, ArgumentsDigest string
}

// Terms are those of an approval.
type Terms struct {
	// ValidFor is how long the approval holds from its request. 0: none is needed.
	ValidFor time.Duration
	// EffectSummary is a short statement of effects for the reviewer. It stands in the
	// journal: no content.
	EffectSummary string
	// RequiredRole is the role that the reviewer must hold.
	RequiredRole string
}

// ApprovalRequest is what the reviewer is asked. The approval is for this action and
// no other, and covers all its attempts until it expires.
type ApprovalRequest struct {
	ApprovalID, RequestID  string
	Pending                Pending
	Terms                  Terms
	RequestedAt, ExpiresAt record.Time
}

// Decision is a reviewer's.
type Decision struct {
	Approved bool
	// Reviewer is the person, with the role in which the decision was made.
	Reviewer record.Reviewer
	// DecidedAt is when; the zero time is now.
	DecidedAt record.Time
	// Recorded says that the approval tool wrote the approval_record itself, which is
	// better: it authenticates as itself.
	Recorded bool
}

func newRequest(p Pending, terms Terms) *ApprovalRequest {
	now := time.Now()
	return &ApprovalRequest{
		ApprovalID: mint(prefixApproval), RequestID: mint(prefixRequest), Pending: p, Terms: terms,
		RequestedAt: record.NewTime(now), ExpiresAt: record.NewTime(now.Add(terms.ValidFor)),
	}
}

// approvalRecord is what the records of one approval have in common: bound to the
// action as it was planned.
func (e *Executor) approvalRecord(c *call, a *action, r *ApprovalRequest, kind record.ApprovalKind, at record.Time) *record.Approval {
	planned := e.base(c, a, record.ActionPlanned)
	body := &record.Approval{
		Header:     record.Header{OccurredAt: at, EventType: kind.EventType(), ObservedBy: planned.ObservedBy, Correlation: planned.Correlation},
		ApprovalID: r.ApprovalID, RequestID: r.RequestID, Kind: kind, Binds: record.BindsOf(planned),
	}
	body.EventID = derive(prefixEvent, "approval", r.ApprovalID, string(kind))
	return body
}

func (e *Executor) requested(c *call, a *action, r *ApprovalRequest) *record.Approval {
	body := e.approvalRecord(c, a, r, record.ApprovalRequested, r.RequestedAt)
	body.EffectSummary, body.RequiredRole, body.ExpiresAt = r.Terms.EffectSummary, r.Terms.RequiredRole, r.ExpiresAt
	return body
}

var errRejected = errors.New("boundary: a reviewer rejected the action")

// decide waits for the decision and makes it durable. Whether it lets the action pass
// is for the journal to say, when sent is written.
func (e *Executor) decide(ctx context.Context, c *call, a *action, r *ApprovalRequest) error {
	d, err := e.Approver.Decide(ctx, *r)
	if err != nil {
		return e.abandon(ctx, c, a, CodeApprovalUnavailable, err)
	}
	verdict := record.Rejected
	if d.Approved {
		verdict = record.Approved
	}
	if !d.Recorded {
		if d.DecidedAt.IsZero() {
			d.DecidedAt = record.NewTime(time.Now())
		}
		body := e.approvalRecord(c, a, r, record.ApprovalDecided, d.DecidedAt)
		body.Reviewer, body.Decision = &d.Reviewer, verdict
		if _, err := e.Journal.Append(ctx, ApprovalRecord(body)); err != nil {
			return e.abandon(ctx, c, a, codeOf(err), err)
		}
	}
	if !d.Approved {
		return e.abandon(ctx, c, a, CodeApprovalRejected, errRejected)
	}
	return nil
}
