// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Attempts keeps the executor's own notes: for each attempt whose outcome is not in
// the journal yet, what is to be written if nothing more becomes known. A note is
// durable when Put returns. It holds ids and references, never content.
type Attempts interface {
	// Put keeps the note of an attempt, in place of an older one.
	Put(ctx context.Context, attemptID string, note []byte) error
	// Delete drops a note; one that is not there is no error.
	Delete(ctx context.Context, attemptID string) error
	// List returns the notes that are kept.
	List(ctx context.Context) ([][]byte, error)
}

// note keeps, before an attempt is sent, that nobody will know what came of it.
func (e *Executor) note(ctx context.Context, c *call, t *attempt) error {
	r := e.of(c, t, record.ActionUnknown)
	r.Outcome, r.AttemptIDs = &record.Outcome{Error: CodeExecutorLost, RemoteEffect: record.EffectUnknown}, slices.Clone(t.attempts)
	return e.keep(ctx, r)
}

func (e *Executor) keep(ctx context.Context, r *record.Action) error {
	if e.Attempts == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return e.Attempts.Put(ctx, r.AttemptID, text)
}

func (e *Executor) forget(ctx context.Context, attemptID string) error {
	if e.Attempts == nil {
		return nil
	}
	return e.Attempts.Delete(ctx, attemptID)
}

// Recover writes the outcomes of attempts that another life of this executor left
// without: what it knew, else `unknown`; and failed_before_send for one that never
// had the permission to be sent. It returns the plans that may be gone on with: of
// actions whose newest attempt never left, or of which nobody knows. That one may have had
// its effect, and only its caller knows whether another attempt, with the same
// idempotency token, is right. An action whose attempt was answered is not among them.
//
// Run it before the first action. What it could not write stays noted.
func (e *Executor) Recover(ctx context.Context) ([]Plan, error) {
	if e.Attempts == nil {
		return nil, nil
	}
	notes, err := e.Attempts.List(ctx)
	if err != nil {
		return nil, err
	}
	var plans []Plan
	var failed []error
	for _, note := range notes {
		r := &record.Action{}
		if err := json.Unmarshal(note, r, json.RejectUnknownMembers(true)); err != nil || r.AttemptID == "" || r.Outcome == nil {
			failed = append(failed, errors.New("boundary: a note of an attempt cannot be read; it is left as it is"))
			continue
		}
		recorded, err := e.settle(ctx, r)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("boundary: attempt %s: %w", r.AttemptID, err))
		case recorded && r.State != record.ActionCompleted:
			plans = append(plans, planOf(r))
		}
	}
	return plans, errors.Join(failed...)
}

// settle writes what a note says and drops it. It reports whether it was for the note to
// say: the journal may have an outcome of the attempt already, or know of no such attempt.
func (e *Executor) settle(ctx context.Context, r *record.Action) (own bool, err error) {
	if r.Outcome.Error == CodeExecutorLost {
		r.OccurredAt = record.NewTime(time.Now()) // when it became clear
	}
	own, _, err = e.write(ctx, r)
	if refusedWith(err, codeAttemptNotSent) { // sent never became durable, so nothing left
		none := int64(0)
		r.State, r.EventType = record.ActionFailedBeforeSend, record.ActionFailedBeforeSend.EventType()
		r.EventID = derive(prefixEvent, "attempt", r.ActionID, r.AttemptID, string(r.State))
		r.Outcome = &record.Outcome{Error: CodeExecutorLost, BytesSent: &none, RemoteEffect: record.EffectNone}
		own, _, err = e.write(ctx, r)
	}
	if err != nil {
		return false, err
	}
	return own, e.forget(ctx, r.AttemptID)
}

// write writes an outcome, unless the journal has one of the attempt, or has another
// executor's attempt in the place of one that was never sent, or before it: then there
// is no attempt of which it could be the outcome.
//
// recorded says that the journal has an outcome of the attempt, own that it is of the same
// state: a conflict is with one of those, such as from a Recover that did not end.
func (e *Executor) write(ctx context.Context, r *record.Action) (own, recorded bool, err error) {
	_, err = e.Journal.Append(ctx, ActionRecord(r))
	switch {
	case refusedWith(err, codeAttemptOver), refusedWith(err, codeConflict):
		return refusedWith(err, codeConflict), true, nil
	case r.State == record.ActionFailedBeforeSend && (refusedWith(err, codeAttemptTaken) || refusedWith(err, codeAttemptOpen)):
		return false, false, nil
	default:
		return err == nil, err == nil, err
	}
}

// Codes of the journal that recovery acts on.
const (
	codeConflict       = "conflict"
	codeAttemptNotSent = "attempt_not_sent"
	codeAttemptOver    = "attempt_over"
	codeAttemptOpen    = "attempt_open"
	codeAttemptTaken   = "attempt_taken"
)

func refusedWith(err error, code string) bool {
	var refused *Refusal
	return errors.As(err, &refused) && refused.Code == code
}
