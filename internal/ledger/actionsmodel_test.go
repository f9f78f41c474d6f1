// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/readtrail/readtrail/internal/ledger"
)

// model is the rules of actions once more, over a list of what was accepted.
type model []step

func (m model) last(is func(step) bool) (step, bool) {
	for _, s := range slices.Backward(m) {
		if is(s) {
			return s, true
		}
	}
	return step{}, false
}

func (m model) has(is func(step) bool) bool { return slices.ContainsFunc(m, is) }

// Answers of the model that are no codes.
const (
	isAccepted = "accepted"
	isRepeat   = "repeat"
)

func (m model) judge(s step, now time.Time) string {
	if other, found := m.last(s.sameID); found {
		if other == s {
			return m.judgeAgain(s, now)
		}
		return ledger.CodeConflict
	}
	if s.kind != "" {
		return m.judgeApproval(s)
	}
	of := func(state string) func(step) bool {
		return func(o step) bool { return o.kind == "" && o.action == s.action && o.state == state }
	}
	ended := func(o step) bool {
		return o.kind == "" && o.action == s.action && o.attempt == s.attempt && o.attempt != "" && isOutcome(o.state)
	}
	plan, isPlanned := m.last(of("planned"))
	sending, isSent := m.last(func(o step) bool { return of("sent")(o) && o.attempt == s.attempt })
	outcome, isOver := m.last(ended)
	switch s.state {
	case "planned":
		if m.has(of("revoked")) {
			return ledger.CodeActionRevoked
		}
	case "sent":
		switch {
		case !isPlanned:
			return ledger.CodeNotPlanned
		case m.has(of("revoked")):
			return ledger.CodeActionRevoked
		case plan.reach.host != s.reach.host, plan.reach.credential != s.reach.credential, plan.reach.arguments != s.reach.arguments:
			return ledger.CodeChanged
		case isOver:
			return ledger.CodeAttemptOver
		}
		if code := m.judgeNumber(s); code != isAccepted {
			return code
		}
		return m.judgeApproved(s, plan, now)
	case "failed_before_send":
		switch {
		case !isPlanned:
			return ledger.CodeNotPlanned
		case isOver:
			return ledger.CodeAttemptOver
		case !isSent:
			if code := m.judgeNumber(s); code != isAccepted {
				return code
			}
			return m.judgeAttempts(s, false)
		}
		return m.judgeEnd(s, sending, false)
	case "completed", "timeout", "unknown":
		switch {
		case !isSent:
			return ledger.CodeAttemptNotSent
		case isOver && (s.state != "completed" || outcome.state != "timeout" && outcome.state != "unknown"):
			return ledger.CodeAttemptOver
		}
		return m.judgeEnd(s, sending, isOver)
	}
	return isAccepted
}

func (m model) judgeEnd(s, sending step, late bool) string {
	switch {
	case sending.number != s.number:
		return ledger.CodeAttemptNotSent
	case sending.reach.host != s.reach.host, sending.reach.credential != s.reach.credential, sending.reach.arguments != s.reach.arguments:
		return ledger.CodeChanged
	}
	return m.judgeAttempts(s, late)
}

// judgeAttempts demands the ids of all attempts, or of a late outcome of those up to
// its own at least.
func (m model) judgeAttempts(s step, late bool) string {
	all, own := strings.Fields(m.attemptsWith(s)), strings.Fields(s.attempts)
	switch {
	case len(own) == 0 && s.state != "completed", slices.Equal(own, all):
		return isAccepted
	case late && len(own) >= s.number && len(own) <= len(all) && slices.Equal(own, all[:len(own)]):
		return isAccepted
	}
	return ledger.CodeAttemptsDiffer
}

// attemptsWith are the ids of all attempts with that of a step.
func (m model) attemptsWith(s step) string {
	ids := map[int]string{s.number: s.attempt}
	for _, o := range m {
		if o.kind == "" && o.action == s.action && (o.state == "sent" || o.state == "failed_before_send") {
			ids[o.number] = o.attempt
		}
	}
	var all []string
	for _, number := range slices.Sorted(maps.Keys(ids)) {
		all = append(all, ids[number])
	}
	return strings.Join(all, " ")
}

// judgeAgain demands of a sending that it still is permitted.
func (m model) judgeAgain(s step, now time.Time) string {
	if s.state != "sent" {
		return isRepeat
	}
	of := func(state string) func(step) bool {
		return func(o step) bool { return o.kind == "" && o.action == s.action && o.state == state }
	}
	plan, _ := m.last(of("planned"))
	switch {
	case m.has(of("revoked")):
		return ledger.CodeActionRevoked
	case m.has(func(o step) bool { return o.isOutcomeOf(s) }):
		return ledger.CodeAttemptOver
	}
	if code := m.judgeApproved(s, plan, now); code != isAccepted {
		return code
	}
	return isRepeat
}

func (s step) isOutcomeOf(o step) bool {
	return s.kind == "" && s.action == o.action && s.attempt == o.attempt && isOutcome(s.state)
}

func isOutcome(state string) bool {
	return slices.Contains([]string{"completed", "timeout", "unknown", "failed_before_send"}, state)
}

// judgeNumber demands the number behind the greatest, and an outcome of that one.
func (m model) judgeNumber(s step) string {
	begun := map[string]int{}
	over := map[string]bool{}
	for _, o := range m {
		if o.kind != "" || o.action != s.action {
			continue
		}
		if o.state == "sent" || o.state == "failed_before_send" {
			begun[o.attempt] = o.number
		}
		if isOutcome(o.state) {
			over[o.attempt] = true
		}
	}
	if s.number != len(begun)+1 {
		return ledger.CodeAttemptTaken
	}
	for attempt := range begun {
		if !over[attempt] {
			return ledger.CodeAttemptOpen
		}
	}
	return isAccepted
}

func (m model) judgeApproved(s, plan step, now time.Time) string {
	id := s.approval
	if id == "" {
		id = plan.approval
	}
	if id == "" {
		asked, found := m.last(func(o step) bool { return o.kind == "requested" && o.action == s.action })
		if !found {
			return isAccepted
		}
		id = asked.approval
	}
	of := func(kind string) (step, bool) {
		return m.last(func(o step) bool { return o.kind == kind && o.approval == id })
	}
	request, isRequested := of("requested")
	decision, isDecided := of("decided")
	_, isWithdrawn := of("revoked")
	switch {
	case !isRequested:
		return ledger.CodeNotBound
	case isWithdrawn:
		return ledger.CodeApprovalRevoked
	case request.action != s.action || request.reach != s.reach, !isDecided, decision.decision != "approved",
		!request.expires.IsZero() && !now.Before(request.expires), !decision.expires.IsZero() && !now.Before(decision.expires):
		return ledger.CodeNotBound
	}
	return isAccepted
}

func (m model) judgeApproval(s step) string {
	if s.kind == "requested" {
		return isAccepted
	}
	request, found := m.last(func(o step) bool { return o.kind == "requested" && o.approval == s.approval })
	if !found || request.action != s.action || request.reach != s.reach {
		return ledger.CodeNotBound
	}
	return isAccepted
}
