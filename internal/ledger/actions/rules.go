// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"strconv"
	"time"

	"github.com/readtrail/readtrail/record"
)

// The codes of a refusal, which the API of the receiver gives to its clients.
const (
	// CodeConflict: the journal has another body under the same id.
	CodeConflict = "conflict"
	// CodeNotPlanned: no durable plan says what the action is going to do.
	CodeNotPlanned = "action_not_planned"
	// CodeChanged: the action is not the one that was planned.
	CodeChanged = "action_changed"
	// CodeUnreadable: a record about the action has a version that this journal cannot
	// read; it may forbid what is asked for.
	CodeUnreadable = "action_unreadable"
	// CodeRevoked: the action was revoked.
	CodeRevoked = "action_revoked"
	// CodeNotBound: the approval that the action needs is not there, was not given,
	// is about something else, or expired.
	CodeNotBound = "approval_not_bound"
	// CodeWithdrawn: the approval was revoked.
	CodeWithdrawn = "approval_revoked"
	// CodeElsewhere: another journal of the organization has records of the action, and
	// its rules hold in one journal only.
	CodeElsewhere = "action_elsewhere"
	// CodeAttemptTaken: the number is not the next one, or the attempt was sent.
	CodeAttemptTaken = "attempt_taken"
	// CodeAttemptOpen: the attempt before has no outcome.
	CodeAttemptOpen = "attempt_open"
	// CodeAttemptOver: the attempt has its outcome.
	CodeAttemptOver = "attempt_over"
	// CodeAttemptsDiffer: the ids of the attempts are not those that the journal has, or
	// are missing where the action ends.
	CodeAttemptsDiffer = "attempts_differ"
	// CodeAttemptNotSent: there is no such attempt of which this could be the outcome.
	CodeAttemptNotSent = "attempt_not_sent"
)

// Refusal says why a record may not follow what the journal has.
type Refusal struct {
	Code string
	// Pointer is the RFC 6901 pointer to the member of the body that it is about, ""
	// for the whole.
	Pointer string
	// EventID is that of the record that is in the way, "" if none is.
	EventID string
	// Reason is one of the Reason constants, "" if the code says it all.
	Reason string
}

// ReasonExpired: the approval that is in the way has expired by the journal's clock.
const ReasonExpired = "expired"

// Known is a record that a journal has.
type Known struct {
	Facts   *Facts
	EventID string
	// Ours says that a key of the journal signed it. A record that permits something
	// counts only then; one that forbids something counts whoever wrote it.
	Ours bool
}

// Records finds what a journal has, durable or on its way to be.
type Records interface {
	// Named returns the newest record with one of Facts.Names, nil if there is none.
	Named(name string) (*Known, error)
}

// Judge says whether a record may follow what a journal has; nil means that it
// may. That the journal has the same record already, or another one with its id, is
// for the caller to see first. Now is the journal's clock.
func Judge(f *Facts, now time.Time, records Records) (*Refusal, error) {
	j := &judge{f: f, now: now, records: records}
	return j.refusal(), j.err
}

// JudgeAgain says whether a sending that a journal has is permitted still. Whoever
// asks a second time may have lost the answer, or may be somebody else: a receipt that
// is given now is acted on now.
func JudgeAgain(f *Facts, now time.Time, records Records) (*Refusal, error) {
	if !f.IsSending() {
		return nil, nil
	}
	j := &judge{f: f, now: now, records: records}
	refusal := j.stillAllowed(f.action)
	return refusal, j.err
}

// judge asks until there is an answer or an error.
type judge struct {
	f       *Facts
	now     time.Time
	records Records
	err     error
}

func (j *judge) refusal() *Refusal {
	switch {
	case j.f.unreadable != "":
		return nil
	case j.f.approval != nil:
		return j.approval(j.f.approval)
	}
	switch a := j.f.action; a.State {
	case record.ActionPlanned:
		return j.plan(a)
	case record.ActionSent:
		return j.sending(a)
	case record.ActionFailedBeforeSend:
		return j.failure(a)
	case record.ActionRevoked:
		return nil // whatever happened: it is never too early or too late to say so
	default:
		return j.outcome(a)
	}
}

// named returns what there is under a name, nil after an error.
func (j *judge) named(name string) *Known {
	if j.err != nil {
		return nil
	}
	var k *Known
	k, j.err = j.records.Named(name)
	return k
}

// permit returns what there is under a name if it may permit something.
func (j *judge) permit(name string) *Known {
	if k := j.named(name); k != nil && k.Ours {
		return k
	}
	return nil
}

func refuse(code, pointer string, inTheWay *Known) *Refusal {
	r := &Refusal{Code: code, Pointer: pointer}
	if inTheWay != nil {
		r.EventID = inTheWay.EventID
	}
	return r
}

// plan allows one plan of an action that nobody revoked before.
func (j *judge) plan(a *record.Action) *Refusal {
	if a.AttemptID != "" {
		return refuse(CodeConflict, "/attempt_id", nil)
	}
	if other := j.named(planOf(a.ActionID)); other != nil {
		return refuse(CodeConflict, "/action_id", other)
	}
	if r := j.named(revocationOf(a.ActionID)); r != nil {
		return refuse(CodeRevoked, "/action_id", r)
	}
	return nil
}

// sending allows an attempt to leave: it is the permission that an executor waits
// for (requirement D3).
func (j *judge) sending(a *record.Action) *Refusal {
	plan, r := j.planned(a)
	if r != nil {
		return r
	}
	if r := j.next(a); r != nil {
		return r
	}
	return j.approved(a, plan)
}

// stillAllowed is sending for an attempt that was allowed to leave before.
func (j *judge) stillAllowed(a *record.Action) *Refusal {
	plan, r := j.planned(a)
	if r != nil {
		return r
	}
	if o := j.named(outcomeOf(a.ActionID, a.AttemptID)); o != nil {
		return refuse(CodeAttemptOver, "/attempt_id", o)
	}
	return j.approved(a, plan)
}

// planned returns the plan of an attempt that may still be carried out as it is.
func (j *judge) planned(a *record.Action) (*record.Action, *Refusal) {
	if u := j.named(unreadableOf(a.ActionID)); u != nil {
		return nil, refuse(CodeUnreadable, "/action_id", u)
	}
	plan := j.permit(planOf(a.ActionID))
	if plan == nil {
		return nil, refuse(CodeNotPlanned, "/action_id", nil)
	}
	if r := j.named(revocationOf(a.ActionID)); r != nil {
		return nil, refuse(CodeRevoked, "/action_id", r)
	}
	if pointer := differsFromPlan(a, plan.Facts.action); pointer != "" {
		return nil, refuse(CodeChanged, pointer, plan)
	}
	return plan.Facts.action, nil
}

// next demands that an attempt is the next one of its action and that the one
// before is over: an executor that came back after a crash says first that it does
// not know how that one went.
func (j *judge) next(a *record.Action) *Refusal {
	if o := j.named(outcomeOf(a.ActionID, a.AttemptID)); o != nil {
		return refuse(CodeAttemptOver, "/attempt_id", o)
	}
	if s := j.named(sendingOf(a.ActionID, a.AttemptID)); s != nil || a.AttemptID == "" {
		return refuse(CodeAttemptTaken, "/attempt_id", s)
	}
	if other := j.named(attemptOf(a.ActionID, a.Attempt)); other != nil || a.Attempt < 1 {
		return refuse(CodeAttemptTaken, "/attempt", other)
	}
	if a.Attempt == 1 {
		return nil
	}
	before := j.named(attemptOf(a.ActionID, a.Attempt-1))
	if before == nil {
		return refuse(CodeAttemptTaken, "/attempt", nil)
	}
	if j.permit(outcomeOf(a.ActionID, before.Facts.action.AttemptID)) == nil {
		return refuse(CodeAttemptOpen, "/attempt", before)
	}
	return nil
}

// failure allows a record that nothing left, of the action or of an attempt that
// was sent or is the next one.
func (j *judge) failure(a *record.Action) *Refusal {
	if j.permit(planOf(a.ActionID)) == nil {
		return refuse(CodeNotPlanned, "/action_id", nil)
	}
	if a.AttemptID == "" {
		return j.attempts(a, false)
	}
	s := j.permit(sendingOf(a.ActionID, a.AttemptID))
	if s == nil {
		if r := j.next(a); r != nil {
			return r
		}
		return j.attempts(a, false)
	}
	if o := j.named(outcomeOf(a.ActionID, a.AttemptID)); o != nil {
		return refuse(CodeAttemptOver, "/attempt_id", o)
	}
	return j.ends(a, s, false)
}

// outcome allows one outcome of an attempt that was sent, and one more for what was
// learned later: that it was completed after all.
func (j *judge) outcome(a *record.Action) *Refusal {
	s := j.permit(sendingOf(a.ActionID, a.AttemptID))
	if s == nil {
		return refuse(CodeAttemptNotSent, "/attempt_id", nil)
	}
	o := j.named(outcomeOf(a.ActionID, a.AttemptID))
	if o != nil && (a.State != record.ActionCompleted || !leavesOpen(o.Facts.action.State)) {
		return refuse(CodeAttemptOver, "/attempt_id", o)
	}
	return j.ends(a, s, o != nil)
}

// ends demands that an outcome is that of what was sent. Late is one of an attempt
// that has another one already.
func (j *judge) ends(a *record.Action, s *Known, late bool) *Refusal {
	if s.Facts.action.Attempt != a.Attempt {
		return refuse(CodeAttemptNotSent, "/attempt", s)
	}
	if pointer := differsFromSent(a, s.Facts.action); pointer != "" {
		return refuse(CodeChanged, pointer, s)
	}
	return j.attempts(a, late)
}

// attempts demands that the ids of attempts are those of all attempts of the action,
// in order (requirement D2); what completed has them. Whoever learns late how an
// attempt ended may know of none behind it.
func (j *judge) attempts(a *record.Action, late bool) *Refusal {
	const pointer = "/attempt_ids"
	if a.AttemptIDs == nil {
		if a.State == record.ActionCompleted {
			return refuse(CodeAttemptsDiffer, pointer, nil)
		}
		return nil
	}
	for i, id := range a.AttemptIDs {
		number := int64(i) + 1
		if number == a.Attempt && id == a.AttemptID {
			continue
		}
		k := j.named(attemptOf(a.ActionID, number))
		if k == nil && number < a.Attempt {
			continue // it was there, and was pruned
		}
		if k == nil || k.Facts.action.AttemptID != id {
			return refuse(CodeAttemptsDiffer, pointer+"/"+strconv.Itoa(i), k)
		}
	}
	count := int64(len(a.AttemptIDs))
	if count < a.Attempt {
		return refuse(CodeAttemptsDiffer, pointer, nil)
	}
	if next := j.named(attemptOf(a.ActionID, count+1)); next != nil && !late {
		return refuse(CodeAttemptsDiffer, pointer, next)
	}
	return nil
}

// leavesOpen reports whether more can be learned after an outcome.
func leavesOpen(s record.ActionState) bool {
	return s == record.ActionUnknown || s == record.ActionTimeout
}
