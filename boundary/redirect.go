// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// fingerprint tells requests under one Call apart, in memory only.
type fingerprint [sha256.Size]byte

func (r *resolved) fingerprint() fingerprint {
	h := sha256.New()
	for _, field := range []string{r.target.Method, r.url.String(), r.target.BodyDigest} {
		h.Write([]byte(strconv.Itoa(len(field)) + ":" + field))
	}
	return fingerprint(h.Sum(nil))
}

// actionOf finds the action that a request under a Call is an attempt of, or begins a
// new one.
func (t *Transport) actionOf(c *call, req *http.Request, to *resolved) (*action, error) {
	if req.Response != nil { // which net/http sets when it follows a redirect
		return t.redirectedTo(c, req, to)
	}
	return c.action(to.fingerprint(), to.target, to.url.Path)
}

// action returns the action of a request that no redirect led to.
func (c *call) action(f fingerprint, target record.ActionTarget, path string) (*action, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.actions[f]; a != nil {
		return a, nil
	}
	if c.ActionID != "" && len(c.actions) > 0 {
		return nil, &Error{Code: CodeActionTaken, ActionID: c.ActionID}
	}
	a := &action{id: c.nextID(), spanID: newSpanID(), approval: c.ApprovalID, target: target, path: path}
	if c.Job != nil {
		a.parentEvent = c.Job.PlannedBy
	}
	if p := c.Plan; p != nil {
		a.planned, a.eventID, a.spanID, a.attempts = true, p.EventID, p.SpanID, slices.Clone(p.AttemptIDs)
		a.left = p.left()
		// Whether the approval still holds the journal knows; one for another process does
		// not.
		a.approval, a.approved = p.ApprovalID, p.ApprovalID != "" && c.Job == nil
		if c.Job != nil { // the planner's span is linked; the worker works below its own
			a.spanID = first(c.ParentSpanID, newSpanID())
		}
	}
	c.add(f, a)
	return a, nil
}

// nextID is the id of the call's next action: given, derived or minted.
func (c *call) nextID() string {
	switch {
	case c.ActionID != "":
		return c.ActionID
	case c.CallID != "":
		return derive(prefixAction, "call", c.ExecutionID, c.CallID, strconv.Itoa(len(c.made)+1))
	default:
		return mint(prefixAction)
	}
}

func (c *call) add(f fingerprint, a *action) {
	c.actions[f] = a
	c.made = append(c.made, a)
}

// redirected notes that a request was answered with a redirect.
func (c *call) redirected(req *http.Request, t *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.redirects[req] = t
}

// redirectedTo decides on a request that net/http makes of a redirect. What stays with
// the target, path and method is an attempt of the same action. Anything else is what
// nobody planned and nobody approved.
func (t *Transport) redirectedTo(c *call, req *http.Request, to *resolved) (*action, error) {
	c.mu.Lock()
	from := c.redirects[req.Response.Request]
	delete(c.redirects, req.Response.Request)
	c.mu.Unlock()
	if from == nil {
		return nil, &Error{Code: CodeRedirectRefused}
	}
	from.mu.Lock()
	was, path, id, event := from.target, from.path, from.action.id, from.eventID
	from.mu.Unlock()
	if was.Host == to.target.Host && was.Port == to.target.Port && was.Protocol == to.target.Protocol && was.Method == to.target.Method && path == to.url.Path {
		return from.action, nil
	}
	if t.Redirects == nil || !t.Redirects(req.Context(), was, to.target) {
		// What was refused was not planned and has no id: the error is about the action that
		// was answered with it.
		return nil, &Error{Code: CodeRedirectRefused, State: record.ActionCompleted, ActionID: id, AttemptID: from.id, Recorded: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &action{id: derive(prefixAction, "redirect", id, strconv.Itoa(len(c.made)+1)), spanID: newSpanID(), parentEvent: event, target: to.target, path: to.url.Path}
	c.add(to.fingerprint(), a)
	return a, nil
}

// ownOf returns what of a Call holds for a request: after a redirect to another host not
// the credential, and to another path not the template.
func ownOf(c *call, req *http.Request) (pathTemplate, credentialRef string) {
	pathTemplate, credentialRef = c.PathTemplate, c.CredentialRef
	if req.Response == nil {
		return pathTemplate, credentialRef
	}
	before := req.Response.Request
	if before == nil || before.URL.Path != req.URL.Path {
		pathTemplate = ""
	}
	if before == nil || before.URL.Host != req.URL.Host || before.URL.Scheme != req.URL.Scheme {
		credentialRef = ""
	}
	return pathTemplate, credentialRef
}
