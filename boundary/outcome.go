// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// abandon records that an action will not be sent this time, as an attempt of its own.
func (e *Executor) abandon(ctx context.Context, c *call, a *action, code string, cause error) error {
	if !a.planned {
		return &Error{Code: code, ActionID: a.id, cause: cause}
	}
	return e.giveUp(ctx, c, e.newAttempt(a, a.target), code, cause)
}

// giveUp records that nothing of an attempt left.
func (e *Executor) giveUp(ctx context.Context, c *call, t *attempt, code string, cause error) error {
	none := int64(0)
	return e.end(ctx, c, t, record.ActionFailedBeforeSend, record.Outcome{Error: code, BytesSent: &none, RemoteEffect: record.EffectNone}, cause)
}

// end makes the outcome of an attempt durable, also when the caller has given up. It
// returns the *Error for the caller: nil after completed.
func (e *Executor) end(ctx context.Context, c *call, t *attempt, state record.ActionState, o record.Outcome, cause error) error {
	if state != record.ActionFailedBeforeSend {
		c.went(t.action)
	}
	r := e.of(c, t, state)
	r.Outcome, r.AttemptIDs = &o, slices.Clone(t.attempts)
	timeout := e.RecordTimeout
	if timeout <= 0 {
		timeout = DefaultRecordTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	failed := &Error{Code: o.Error, State: state, ActionID: t.action.id, AttemptID: t.id, cause: cause}
	if err := e.keep(ctx, r); err != nil { // the note now says what is known
		failed.cause = err
	}
	var err error
	_, failed.Recorded, err = e.write(ctx, r)
	switch {
	case err == nil && !failed.Recorded: // the number is another attempt's: this one is none
		t.attempts = t.attempts[:len(t.attempts)-1]
		_ = e.forget(ctx, t.id)
		return failed
	case err != nil:
		t.owed = append(t.owed, r)
		if state == record.ActionCompleted {
			failed.Code, failed.cause = CodeOutcomeUnrecorded, err
		}
		return failed
	case state != record.ActionCompleted:
		_ = e.forget(ctx, t.id) // a note that outlives its outcome is found to by Recover
		return failed
	}
	if err := e.forget(ctx, t.id); err != nil {
		failed.Code, failed.cause = CodeAttemptUnkept, err
		return failed
	}
	c.answered(t)
	return nil
}

// payUp writes the outcomes that an action still owes to the journal.
func (e *Executor) payUp(ctx context.Context, a *action) error {
	for len(a.owed) > 0 {
		r := a.owed[0]
		if _, _, err := e.write(ctx, r); err != nil {
			return &Error{Code: codeOf(err), ActionID: a.id, cause: err}
		}
		_ = e.forget(ctx, r.AttemptID)
		a.owed = a.owed[1:]
	}
	return nil
}
