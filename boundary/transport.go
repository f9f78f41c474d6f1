// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/readtrail/readtrail/record"
)

// DefaultMaxBodyBytes bounds the body of a request, which is held in memory: it is
// digested before anything is written, and sent as it was digested.
const DefaultMaxBodyBytes = 8 << 20

// Transport is an http.RoundTripper that records what it sends. Its requests need a
// context from [WithCall]. Its fields are not changed once it is in use.
type Transport struct {
	// Executor does the recording. Required.
	Executor *Executor
	// Credentials resolves references to secrets. Required if a Call or the Resolver
	// names one.
	Credentials Credentials
	// CredentialHeader is the header in which a credential is sent. "" is Authorization.
	CredentialHeader string
	// Base sends. nil is [Counting](nil). With another one than Counting returns,
	// bytes_sent is not known, and what got a connection may have gone out.
	Base http.RoundTripper
	// Resolver says where a request really goes. nil: where its URL says.
	Resolver Resolver
	// Redirects says whether a redirect to another target, path or method may be
	// followed, as an action of its own with a plan and an approval of its own. nil: none
	// is. One to the same target, path and method is another attempt of the same action.
	Redirects func(ctx context.Context, from, to record.ActionTarget) bool
	// RemoteEffect says what an answer proves about the other side. nil: an answer with
	// a 2xx status other than 202 confirms it, any other leaves it unknown.
	RemoteEffect func(*http.Response) record.RemoteEffect
	// MaxBodyBytes bounds the body of a request. 0 is DefaultMaxBodyBytes.
	MaxBodyBytes int64

	once    sync.Once
	counted http.RoundTripper
}

// Credentials resolves references. It is asked once for each attempt, after the
// journal has permitted it. What it returns goes to the target and nowhere else.
type Credentials interface {
	// Secret returns the value of the credential's header, such as "Bearer ...". The
	// text of its error is not passed on.
	Secret(ctx context.Context, ref string, to record.ActionTarget) (string, error)
}

// Resolver turns what was asked for into where it goes. It is asked twice, before the
// plan and right before the sending: the journal refuses if the answers differ.
type Resolver interface {
	Resolve(ctx context.Context, r *http.Request, c Call) (Resolved, error)
}

// Resolved is where a request goes and with what.
type Resolved struct {
	// URL is where. Its path is sent and does not stand in a record.
	URL *url.URL
	// PathTemplate, Account and CredentialRef stand in place of those of the Call if they
	// are set.
	PathTemplate, Account, CredentialRef string
}

// RoundTrip implements http.RoundTripper. An error is an *[Error]; http.Client hides it
// when its Timeout is over, see [Failure]. A response is returned when its outcome is
// durable; that nobody reads its body changes nothing.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.roundTrip(req)
	return resp, noted(req.Context(), req.Response != nil, err)
}

func (t *Transport) roundTrip(req *http.Request) (*http.Response, error) {
	body, err := t.body(req)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	c, a, err := t.prepare(req, body)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := t.Executor.plan(ctx, c, a); err != nil {
		return nil, err
	}
	// What held when the action was planned may not hold now.
	to, err := t.resolve(req, c, body)
	if err != nil {
		return nil, t.Executor.abandon(ctx, c, a, CodeResolutionFailed, err)
	}
	attempt, err := t.Executor.begin(ctx, c, a, to.target)
	if err != nil {
		return nil, err
	}
	resp, err := t.send(req, c, attempt, to, body)
	if err == nil && resp.Header.Get("Location") != "" {
		c.redirected(req, attempt)
	}
	return resp, err
}

// Plan makes an action durable as planned without sending it: for work that is
// delegated, or so that a restart can go on with it. The request's context says for
// whom; the body, if there is one, is read.
func (t *Transport) Plan(req *http.Request) (*Plan, error) {
	body, err := t.body(req)
	if err != nil {
		return nil, err
	}
	c, a, err := t.prepare(req, body)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := t.Executor.plan(req.Context(), c, a); err != nil {
		return nil, err
	}
	return a.asPlan(c), nil
}

// prepare finds the action that a request is, without writing anything.
func (t *Transport) prepare(req *http.Request, body []byte) (*call, *action, error) {
	c, err := callOf(req.Context())
	if err != nil {
		return nil, nil, err
	}
	if err := clean(req, t.header()); err != nil {
		return nil, nil, err
	}
	to, err := t.resolve(req, c, body)
	if err != nil {
		return nil, nil, &Error{Code: CodeResolutionFailed, cause: err}
	}
	a, err := t.actionOf(c, req, to)
	return c, a, err
}
