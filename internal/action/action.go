// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"cmp"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// Action is one action as its entries tell of it. Of what no rule allows twice all
// entries are there: another writer's journal may hold them.
type Action struct {
	Organization, ID string
	Plans            []*Entry
	Approvals        []*Approval
	// Attempts are in the order of their numbers.
	Attempts []*Attempt
	// Failed says of the action itself that nothing was sent, and Revoked that nothing
	// may be.
	Failed, Revoked []*Entry
}

// Approval is what was asked and answered under one approval id.
type Approval struct {
	ID                          string
	Requested, Decided, Revoked []*Entry
}

// Attempt is one send of an action.
type Attempt struct {
	ID     string
	Number int64
	// Sent are the entries that permitted it, Outcomes those that say how it ended, in
	// the order of the journal.
	Sent, Outcomes []*Entry
}

// Standing is how far an action or an attempt is known to have gone.
type Standing string

// What may be known. That of an attempt is the state of its last outcome, if it has
// one.
const (
	// MayHaveGoneOut: planned or sent, and no entry says how it ended (requirement
	// D3).
	MayHaveGoneOut   Standing = "may_have_gone_out"
	Completed        Standing = "completed"
	TimedOut         Standing = "timeout"
	Unknown          Standing = "unknown"
	FailedBeforeSend Standing = "failed_before_send"
	// Revoked: it was revoked before anything was sent.
	Revoked Standing = "revoked"
	// NotPlanned: approvals only.
	NotPlanned Standing = "not_planned"
)

// Text returns a standing as people read it.
func (s Standing) Text() string { return strings.ReplaceAll(string(s), "_", " ") }

// Standing returns how far the attempt is known to have gone.
func (a *Attempt) Standing() Standing {
	if n := len(a.Outcomes); n > 0 {
		return Standing(a.Outcomes[n-1].Action.State)
	}
	return MayHaveGoneOut
}

// Standing returns how far the action is known to have gone: an attempt without an
// outcome counts most, then one that was completed, and one of which the effect is
// not known before one that failed.
func (a *Action) Standing() Standing {
	for _, s := range []Standing{MayHaveGoneOut, Completed, Unknown, TimedOut, FailedBeforeSend} {
		if slices.ContainsFunc(a.Attempts, func(t *Attempt) bool { return t.Standing() == s }) {
			return s
		}
	}
	switch {
	case len(a.Failed) > 0:
		return FailedBeforeSend
	case len(a.Revoked) > 0:
		return Revoked
	case len(a.Plans) > 0:
		return MayHaveGoneOut
	}
	return NotPlanned
}

// InOrder returns the entries of the action as a reader wants them: the plan, the
// approvals, each attempt with its outcomes, and what was said of the action.
func (a *Action) InOrder() []*Entry {
	all := slices.Clone(a.Plans)
	for _, p := range a.Approvals {
		all = append(append(append(all, p.Requested...), p.Decided...), p.Revoked...)
	}
	for _, t := range a.Attempts {
		all = append(append(all, t.Sent...), t.Outcomes...)
	}
	return append(append(all, a.Failed...), a.Revoked...)
}

// AttemptOf returns the attempt that an entry is about, nil if it is about none.
func (a *Action) AttemptOf(e *Entry) *Attempt {
	if e.Action == nil || e.Action.AttemptID == "" {
		return nil
	}
	i := slices.IndexFunc(a.Attempts, func(t *Attempt) bool { return t.ID == e.Action.AttemptID })
	if i < 0 {
		return nil
	}
	return a.Attempts[i]
}

func (a *Action) add(e *Entry) {
	if p := e.Approval; p != nil {
		approval := a.approval(p.ApprovalID)
		switch p.Kind {
		case record.ApprovalRequested:
			approval.Requested = append(approval.Requested, e)
		case record.ApprovalDecided:
			approval.Decided = append(approval.Decided, e)
		default:
			approval.Revoked = append(approval.Revoked, e)
		}
		return
	}
	switch s := e.Action.State; {
	case s == record.ActionPlanned:
		a.Plans = append(a.Plans, e)
	case s == record.ActionRevoked:
		a.Revoked = append(a.Revoked, e)
	case e.Action.AttemptID == "":
		a.Failed = append(a.Failed, e)
	case s == record.ActionSent:
		t := a.attempt(e.Action)
		t.Sent = append(t.Sent, e)
	default:
		t := a.attempt(e.Action)
		t.Outcomes = append(t.Outcomes, e)
	}
}

func (a *Action) approval(id string) *Approval {
	if i := slices.IndexFunc(a.Approvals, func(p *Approval) bool { return p.ID == id }); i >= 0 {
		return a.Approvals[i]
	}
	a.Approvals = append(a.Approvals, &Approval{ID: id})
	return a.Approvals[len(a.Approvals)-1]
}

func (a *Action) attempt(r *record.Action) *Attempt {
	if i := slices.IndexFunc(a.Attempts, func(t *Attempt) bool { return t.ID == r.AttemptID }); i >= 0 {
		return a.Attempts[i]
	}
	t := &Attempt{ID: r.AttemptID, Number: r.Attempt}
	at, _ := slices.BinarySearchFunc(a.Attempts, t.Number, func(t *Attempt, n int64) int { return cmp.Compare(t.Number, n+1) })
	a.Attempts = slices.Insert(a.Attempts, at, t)
	return t
}
