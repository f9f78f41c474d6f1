// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/readtrail/readtrail/record"
)

// Call says on whose behalf an action is carried out and under which trace. The
// executor is given it: nothing is taken from names or guessed from goroutines.
type Call struct {
	// ExecutionID is the run of the agent. Required.
	ExecutionID string
	// TraceID is the run's, 32 hexadecimal digits; one is minted if it is "".
	TraceID string
	// ParentSpanID is the caller's span in this process, 16 hexadecimal digits. The
	// action gets a span below it, and each attempt one below that.
	ParentSpanID string
	// Upstream is what another process claims about where the call came from.
	Upstream Upstream

	// ActionID names the intended operation. A Call with one is one action: give it
	// where a restart must find the same action again. If it is "", ids are derived
	// from the execution, CallID and the order of the requests, or minted if there is no
	// CallID. It is never the id of a span.
	ActionID string
	// ToolID is the tool as the model called it, CallID the call's id, ArgumentsDigest
	// the digest of its arguments (contract 2): what was asked for.
	ToolID, CallID, ArgumentsDigest string
	// CorrelationID and StepID go to the records as they are.
	CorrelationID, StepID string

	// CredentialRef names the credential to use, "" for none. Never the credential.
	CredentialRef string
	// PathTemplate is the path of the HTTP request with names in place of values, such
	// as /v1/releases/{name}.
	PathTemplate string
	// ApprovalID is an approval that was asked for elsewhere. The journal refuses it if
	// it is not bound to what is sent.
	ApprovalID string

	// Plan is an action that was planned before, by this process or another; see
	// [Transport.Plan].
	Plan *Plan
	// Job is set for work that was delegated; see [Job].
	Job *Job
}

// Upstream is context that came with a request into this process.
type Upstream struct {
	// Traceparent is the header of W3C Trace Context as it was received, or the same
	// text from another kind of message.
	Traceparent string
	// AuthenticatedBy names who gave it, or the Job, if that was proven (a client
	// certificate's subject, a token's). "" means that anybody may have written it: then
	// the trace is our own, and what was claimed is kept as claimed (requirement D5). Of a
	// Job the run is gone on with all the same, and the records say that it was not
	// verified.
	AuthenticatedBy string
}

// call is a Call and the actions that were made of it.
type call struct {
	Call
	received *record.ReceivedContext
	err      error

	mu sync.Mutex
	// actions are those of the call by what their request is.
	actions map[fingerprint]*action
	// redirects are the requests that were answered with one, by their attempt.
	redirects map[any]*attempt
	// made are the actions in the order of their requests.
	made []*action
	// left says that something of an attempt left, or may have.
	left bool
	// newest is what the newest request came to, nil before the first.
	newest *Error
}

type callKey struct{}

// WithCall returns a context in which a [Transport] and an [SSHRunner] act. One
// context is one tool call: the same request again under it is another attempt of the
// same action. Branches that run in parallel each get a context of their own.
//
// A Call that cannot be used makes the action fail, before anything is written.
func WithCall(ctx context.Context, c Call) context.Context {
	own := &call{Call: c, actions: map[fingerprint]*action{}, redirects: map[any]*attempt{}}
	own.err = own.complete()
	return context.WithValue(ctx, callKey{}, own)
}

// ActionIDs returns the ids of the actions made so far under the context, for the
// record of the wrapper tool (span attribute readtrail.action.id).
func ActionIDs(ctx context.Context) []string {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]string, len(c.made))
	for i, a := range c.made {
		ids[i] = a.id
	}
	return ids
}

// PlanOf returns the plan of the newest action under the context as it is now, with the
// attempts so far: what a later process needs to go on with it. It is that of the Call
// if no action was made of it, nil if nothing is durable as planned.
func PlanOf(ctx context.Context) *Plan {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return nil
	}
	c.mu.Lock()
	made := c.made
	c.mu.Unlock()
	if len(made) == 0 {
		return c.Plan
	}
	a := made[len(made)-1]
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.planned {
		return nil
	}
	return a.asPlan(c)
}

func callOf(ctx context.Context) (*call, error) {
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return nil, &Error{Code: CodeNoCall, cause: errors.New("boundary: the context holds no Call")}
	}
	if c.err != nil {
		return nil, &Error{Code: CodeNoCall, cause: c.err}
	}
	return c, nil
}

// complete checks the ids and mints those that are ours.
func (c *call) complete() error {
	if c.Job != nil {
		if err := c.Job.check(); err != nil {
			return err
		}
		c.fromJob()
	}
	if c.Plan != nil {
		if err := c.Plan.check(); err != nil {
			return err
		}
		c.fromPlan()
	}
	if c.Upstream.Traceparent != "" {
		trace, parent, ok := ParseTraceparent(c.Upstream.Traceparent)
		switch {
		case !ok && c.Upstream.AuthenticatedBy != "":
			return errors.New("boundary: Call.Upstream.Traceparent is not a traceparent")
		case !ok: // somebody's text: nothing of it is kept
		case c.Upstream.AuthenticatedBy == "":
			c.received = &record.ReceivedContext{TraceID: trace, ParentSpanID: parent}
		default:
			c.received = &record.ReceivedContext{TraceID: trace, ParentSpanID: parent}
			if c.TraceID == "" {
				c.TraceID, c.ParentSpanID = trace, parent
			}
		}
	}
	if c.Job != nil && c.Upstream.AuthenticatedBy == "" && c.received == nil {
		c.received = &record.ReceivedContext{TraceID: c.Job.TraceID, ParentSpanID: c.Job.SpanID}
	}
	if c.TraceID == "" {
		if c.ParentSpanID != "" {
			return errors.New("boundary: Call.ParentSpanID without Call.TraceID")
		}
		c.TraceID = newTraceID()
	}
	switch {
	case c.ExecutionID == "":
		return errors.New("boundary: Call.ExecutionID is missing")
	case !isHexID(c.TraceID, 16):
		return errors.New("boundary: Call.TraceID is not 32 lowercase hexadecimal digits, or zero")
	case c.ParentSpanID != "" && !isHexID(c.ParentSpanID, 8):
		return errors.New("boundary: Call.ParentSpanID is not 16 lowercase hexadecimal digits, or zero")
	case c.ActionID != "" && !isGivenID(c.ActionID):
		return errors.New("boundary: Call.ActionID cannot be an id (contract 3)")
	case c.ActionID != "" && c.ActionID == c.ParentSpanID:
		return errors.New("boundary: Call.ActionID is the id of a span, which may not name an action")
	case c.ApprovalID != "" && !isGivenID(c.ApprovalID):
		return errors.New("boundary: Call.ApprovalID cannot be an id (contract 3)")
	}
	return nil
}

// isGivenID reports whether s can be an id that an application gives (contract 3).
func isGivenID(s string) bool { return record.ValidGivenID(s) }

// ParseTraceparent reads a traceparent header of version 00 or a later one that begins
// the same way (W3C Trace Context, 3.2). ok is false if it is none or an id is zero.
func ParseTraceparent(header string) (traceID, parentSpanID string, ok bool) {
	header = strings.TrimSpace(header)
	const length = len("00-") + 32 + len("-") + 16 + len("-00")
	if len(header) < length || len(header) > 512 || header[2] != '-' || header[35] != '-' || header[52] != '-' {
		return "", "", false
	}
	version, flags := header[:2], header[53:55]
	if version == "ff" || !isHex(version) || !isHex(flags) || (version == "00" && len(header) != length) || (len(header) > length && header[length] != '-') {
		return "", "", false
	}
	traceID, parentSpanID = header[3:35], header[36:52]
	if !isHexID(traceID, 16) || !isHexID(parentSpanID, 8) {
		return "", "", false
	}
	return traceID, parentSpanID, true
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// correlation is what joins a record of the call to its run.
func (c *call) correlation(spanID, parentSpanID string) record.Correlation {
	return record.Correlation{
		ExecutionID: c.ExecutionID, CorrelationID: c.CorrelationID, StepID: c.StepID, CallID: c.CallID,
		TraceID: c.TraceID, SpanID: spanID, ParentSpanID: parentSpanID,
	}
}

// observed says how far to trust where the call came from. The receiver writes who
// authenticated to it; only a downgrade is ours to say.
func (c *call) observed() record.ObservedBy {
	o := record.ObservedBy{ReceivedContext: c.received}
	if (c.Upstream.Traceparent != "" || c.Job != nil) && c.Upstream.AuthenticatedBy == "" {
		o.UpstreamContextSource = record.UnverifiedInput
	}
	return o
}
