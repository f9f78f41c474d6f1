// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"strconv"

	"github.com/readtrail/readtrail/record"
)

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
