// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/readtrail/readtrail/record"
)

// DefaultRecordTimeout bounds the writing of an outcome.
const DefaultRecordTimeout = 15 * time.Second

// Executor is what all channels of a process share. Its fields are not changed once it
// is in use.
type Executor struct {
	// Journal takes the records. Required.
	Journal Journal
	// Actor is this process, as [NewActor] gives it. Required.
	Actor record.Actor
	// Approver says which actions need an approval and waits for it. nil: none is asked
	// for here. The journal checks every approval that names an action all the same.
	Approver Approver
	// Attempts keeps a note of each attempt whose outcome is not recorded yet, for
	// [Recover] after a crash. nil: after a crash the journal reads "may have gone out"
	// and stays so.
	Attempts Attempts
	// Digest digests bodies and commands. nil is a plain SHA-256, which confirms a guess
	// where there is little to guess: use a keyed digest there (contract 2, requirement
	// H2). The same bytes must give the same digest.
	Digest func([]byte) string
	// RecordTimeout bounds the writing of an outcome, which goes on when the caller has
	// given up. 0 is DefaultRecordTimeout.
	RecordTimeout time.Duration
}

// NewActor describes this process: what it is (agent_process, worker, gateway), the
// identity by which it is known, and that it began now.
func NewActor(kind, identity string) record.Actor {
	return record.Actor{Kind: kind, Identity: identity, StartedAt: record.NewTime(time.Now())}
}

// action is one intended operation and its attempts.
type action struct {
	// mu is held from the first record of an attempt to its last: two attempts of one
	// action are never open at once.
	mu sync.Mutex

	id       string
	spanID   string
	eventID  string // of planned
	attempts []string
	approval string
	// left says that something of an attempt left, or may have.
	left bool
	// parentEvent is the entry that led here: a redirect's or a delegated job's plan.
	parentEvent string
	// planned says that planned is durable, approved that the approval was given that
	// is asked for here, until it expires.
	planned, approved bool
	expires           time.Time
	// opening is what makes the action planned. It is made once: a journal that answered
	// to nobody may have it.
	opening *opening
	// owed are outcomes that the journal did not take yet: no attempt begins before them.
	owed []*record.Action
	// path is the path of the URL that was planned; it stands in no record.
	path   string
	target record.ActionTarget
}

// opening is the batch that makes an action planned, and the request for an approval in
// it, nil if there is none.
type opening struct {
	batch   []Record
	request *ApprovalRequest
}

// attempt is one send.
type attempt struct {
	*action
	id     string
	spanID string
	number int64
	// to is the target as it was resolved for this attempt.
	to record.ActionTarget
}

func (e *Executor) digest(b []byte) string {
	if e.Digest != nil {
		return e.Digest(b)
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// base is what all records of an action have in common.
func (e *Executor) base(c *call, a *action, state record.ActionState) *record.Action {
	r := &record.Action{
		Header:   record.Header{OccurredAt: record.NewTime(time.Now()), EventType: state.EventType(), ObservedBy: c.observed()},
		ActionID: a.id, EdgeType: record.EdgeExternalAction, State: state, Actor: e.Actor,
		Requested: record.Requested{ToolID: c.ToolID, ArgumentsDigest: c.ArgumentsDigest},
		Target:    a.target, IdempotencyToken: record.IdempotencyToken(a.id), ApprovalID: a.approval,
	}
	r.Correlation = c.correlation(a.spanID, c.ParentSpanID)
	r.Correlation.ParentEventID = a.parentEvent
	if c.Job != nil {
		r.EdgeType, r.LinkedSpan = record.EdgeDelegatedJob, &record.Link{TraceID: c.Job.TraceID, SpanID: c.Job.SpanID}
	}
	r.EventID = derive(prefixEvent, "action", a.id, string(state))
	return r
}

// of is the record of a state of an attempt.
func (e *Executor) of(c *call, t *attempt, state record.ActionState) *record.Action {
	r := e.base(c, t.action, state)
	r.AttemptID, r.Attempt, r.Target = t.id, t.number, t.to
	r.Correlation.SpanID, r.Correlation.ParentSpanID = t.spanID, t.action.spanID
	if t.eventID != "" {
		r.Correlation.ParentEventID = t.eventID
	}
	r.EventID = derive(prefixEvent, "attempt", t.action.id, t.id, string(state))
	return r
}

// plan makes the action durable as planned, once, and asks for an approval where one is
// needed and there is none that still holds.
func (e *Executor) plan(ctx context.Context, c *call, a *action) error {
	if len(a.attempts) >= maxAttempts {
		return &Error{Code: CodeActionTaken, ActionID: a.id}
	}
	if err := e.payUp(ctx, a); err != nil {
		return err
	}
	if a.opening == nil {
		request, err := e.request(ctx, c, a)
		if err != nil {
			return &Error{Code: CodeApprovalUnavailable, ActionID: a.id, cause: err}
		}
		a.opening = e.open(c, a, request)
	}
	request := a.opening.request
	if len(a.opening.batch) > 0 {
		receipts, err := e.Journal.Append(ctx, a.opening.batch...)
		if err != nil {
			return &Error{Code: codeOf(err), ActionID: a.id, cause: err}
		}
		if !a.planned {
			a.planned, a.eventID = true, receipts[0].EventID
		}
	}
	a.opening = nil
	if request == nil {
		return nil
	}
	a.approved, a.expires = false, request.ExpiresAt.Std()
	if err := e.decide(ctx, c, a, request); err != nil {
		return err
	}
	a.approved = true
	return nil
}

// open makes the batch that an action needs before it can be sent.
func (e *Executor) open(c *call, a *action, request *ApprovalRequest) *opening {
	o := &opening{request: request}
	if request != nil {
		a.approval = request.ApprovalID
	}
	if !a.planned {
		o.batch = append(o.batch, ActionRecord(e.base(c, a, record.ActionPlanned)))
	}
	if request != nil {
		o.batch = append(o.batch, ApprovalRecord(e.requested(c, a, request)))
	}
	return o
}

// request returns the request for an approval, nil if none has to be asked for now.
func (e *Executor) request(ctx context.Context, c *call, a *action) (*ApprovalRequest, error) {
	if e.Approver == nil || c.ApprovalID != "" || (a.approved && (a.expires.IsZero() || time.Now().Before(a.expires))) {
		return nil, nil
	}
	p := Pending{
		ActionID: a.id, ExecutionID: c.ExecutionID, TraceID: c.TraceID, SpanID: a.spanID, Actor: e.Actor, Target: a.target,
		ToolID: c.ToolID, ArgumentsDigest: c.ArgumentsDigest,
	}
	terms, err := e.Approver.Terms(ctx, p)
	if err != nil || terms.ValidFor <= 0 {
		return nil, err
	}
	return newRequest(p, terms), nil
}

// begin makes an attempt durable as sent: its success is the permission to send. The
// target is what was resolved right before.
func (e *Executor) begin(ctx context.Context, c *call, a *action, target record.ActionTarget) (*attempt, error) {
	t := e.newAttempt(a, target)
	// Before sent, so that no crash leaves an attempt that nobody knows of.
	if err := e.note(ctx, c, t); err != nil {
		return nil, e.giveUp(ctx, c, t, CodeAttemptUnkept, err)
	}
	if _, err := e.Journal.Append(ctx, ActionRecord(e.of(c, t, record.ActionSent))); err != nil {
		a.approved = a.approved && !strings.HasPrefix(codeOf(err), "approval_") // the next attempt asks anew
		return nil, e.giveUp(ctx, c, t, codeOf(err), err)
	}
	return t, nil
}

func (e *Executor) newAttempt(a *action, to record.ActionTarget) *attempt {
	t := &attempt{action: a, id: mint(prefixAttempt), spanID: newSpanID(), number: int64(len(a.attempts) + 1), to: to}
	a.attempts = append(a.attempts, t.id)
	return t
}
