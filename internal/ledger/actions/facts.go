// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package actions has the rules that records of actions and approvals obey
// (contract 11, requirements D2, D3, D7; ADR 0030): which of them may follow what a
// journal has. It knows no journal: whoever asks it finds the records that it
// names, in the order in which the journal has them, and asks it about one record
// at a time.
package actions

import (
	"encoding/json/v2"
	"errors"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// Facts are what the rules need of one record: it is of an action or of an approval.
type Facts struct {
	action   *record.Action
	approval *record.Approval
	// unreadable is the action that a record of a version is about which nobody here can
	// read, "" for every other record: nothing else is taken from it.
	unreadable string
	// conflicts says that the entry was written although its id has another body: no
	// rule builds on it.
	conflicts bool
}

var (
	errUnreadable   = errors.New("record of an action or approval is not one of contract 11")
	errUnknownState = errors.New("record of an action or approval has a state that contract 11 does not know")
)

// Of reads the facts of a body, stored or not, nil if no rule is about records of its
// kind. The error quotes nothing.
func Of(kind record.Kind, text []byte) (*Facts, error) {
	if kind != record.KindAction && kind != record.KindApproval {
		return nil, nil
	}
	f := &Facts{}
	var with conflict
	var err error
	if kind == record.KindAction {
		var body struct {
			record.Action
			conflict
		}
		err = json.Unmarshal(text, &body)
		f.action, with = &body.Action, body.conflict
	} else {
		var body struct {
			record.Approval
			conflict
		}
		err = json.Unmarshal(text, &body)
		f.approval, with = &body.Approval, body.conflict
	}
	if err != nil {
		return nil, errUnreadable
	}
	f.conflicts = with.ConflictsWith != ""
	if f.isKnown() {
		return f, nil
	}
	return nil, errUnknownState
}

// conflict is what the writer of a journal may have added to a body.
type conflict struct {
	ConflictsWith string `json:"conflicts_with"`
}

// OfUnreadable is Of for a body of a version that is not known: its facts are that there
// is such a record about an action, nil if it does not say about which.
func OfUnreadable(kind record.Kind, body []byte) *Facts {
	if kind != record.KindAction && kind != record.KindApproval {
		return nil
	}
	var about struct {
		ActionID string `json:"action_id"`
		Binds    struct {
			ActionID string `json:"action_id"`
		} `json:"binds"`
	}
	id := &about.ActionID
	if kind == record.KindApproval {
		id = &about.Binds.ActionID
	}
	if json.Unmarshal(body, &about) != nil || *id == "" {
		return nil
	}
	return &Facts{unreadable: *id}
}

func (f *Facts) isKnown() bool {
	if f.approval != nil {
		switch f.approval.Kind {
		case record.ApprovalRequested, record.ApprovalDecided, record.ApprovalRevoked:
			return true
		}
		return false
	}
	switch s := f.action.State; s {
	case record.ActionPlanned, record.ActionSent, record.ActionRevoked:
		return true
	default:
		return s.IsOutcome()
	}
}

// Names returns the names under which the rules look for a record. An entry of a
// journal is known by each until a later one has the same.
func (f *Facts) Names() []string {
	if f.conflicts {
		return nil
	}
	names := []string{About(f.ActionID())}
	if f.unreadable != "" {
		return append(names, unreadableOf(f.unreadable))
	}
	if p := f.approval; p != nil {
		switch p.Kind {
		case record.ApprovalRequested:
			return append(names, requestOf(p.ApprovalID), approvalFor(p.Binds.ActionID))
		case record.ApprovalDecided:
			return append(names, decisionOf(p.ApprovalID))
		default:
			return append(names, withdrawalOf(p.ApprovalID))
		}
	}
	a := f.action
	switch a.State {
	case record.ActionPlanned:
		return append(names, planOf(a.ActionID))
	case record.ActionRevoked:
		return append(names, revocationOf(a.ActionID))
	case record.ActionSent:
		return append(names, sendingOf(a.ActionID, a.AttemptID), attemptOf(a.ActionID, a.Attempt))
	case record.ActionFailedBeforeSend:
		if a.AttemptID == "" {
			return names
		}
		return append(names, outcomeOf(a.ActionID, a.AttemptID), attemptOf(a.ActionID, a.Attempt))
	default:
		return append(names, outcomeOf(a.ActionID, a.AttemptID))
	}
}

// ActionID returns the id of the action that a record is about.
func (f *Facts) ActionID() string {
	switch {
	case f.unreadable != "":
		return f.unreadable
	case f.approval != nil:
		return f.approval.Binds.ActionID
	default:
		return f.action.ActionID
	}
}

// IsSending reports whether a record is the permission of an attempt to leave.
func (f *Facts) IsSending() bool { return f.action != nil && f.action.State == record.ActionSent }

// IsOutcomeOf reports whether a record says how the attempt of another one ended.
func (f *Facts) IsOutcomeOf(attempt *Facts) bool {
	a, of := f.action, attempt.action
	return a != nil && of != nil && a.State.IsOutcome() && a.ActionID == of.ActionID && a.AttemptID == of.AttemptID
}

// About is the name of every record about an action.
func About(action string) string { return "about\n" + action }

// The names have control characters between their parts, which no id has.
func unreadableOf(action string) string       { return "unreadable\n" + action }
func planOf(action string) string             { return "plan\n" + action }
func revocationOf(action string) string       { return "revocation\n" + action }
func sendingOf(action, attempt string) string { return "sending\n" + action + "\n" + attempt }
func outcomeOf(action, attempt string) string { return "outcome\n" + action + "\n" + attempt }
func attemptOf(action string, number int64) string {
	return "attempt\n" + action + "\n" + strconv.FormatInt(number, 10)
}
func requestOf(approval string) string    { return "request\n" + approval }
func decisionOf(approval string) string   { return "decision\n" + approval }
func withdrawalOf(approval string) string { return "withdrawal\n" + approval }
func approvalFor(action string) string    { return "approval\n" + action }
