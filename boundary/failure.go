// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"

	"github.com/readtrail/readtrail/record"
)

// Failure returns what is known about the newest request that an http.Client with a [Transport]
// could not carry out, as an *[Error], also where err does not hold one: in place of
// the transport's error net/http mostly returns one of its own, which wraps nothing, when
// http.Client.Timeout is over, and it, CheckRedirect or the reading of a body may fail
// behind an answer. The context is the one from [WithCall] in which the request was
// made.
//
// It returns err as it is if nothing is known: then nothing came to the transport. A nil
// err stays nil.
func Failure(ctx context.Context, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest == nil {
		return err
	}
	failed := *c.newest
	// Requests of one context may have run at once, and this be about another of them.
	failed.SentBefore = failed.SentBefore || c.left && !failed.sent()
	failed.cause = errors.Join(failed.cause, err)
	return &failed
}

// went notes that something of an attempt left, or may have.
func (c *call) went(a *action) {
	a.left = true
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = true
}

// answered notes that an attempt was answered and that this is recorded.
func (c *call) answered(t *attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest = &Error{Code: CodeAnswerLost, State: record.ActionCompleted, ActionID: t.action.id, AttemptID: t.id, Recorded: true}
}

// noted notes how a request under a context failed, and completes what its error says
// of what went before: a redirect has something before it whatever else is known.
func noted(ctx context.Context, redirected bool, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.SentBefore = !e.sent() && (c.left || redirected)
	c.newest = e
	return err
}
