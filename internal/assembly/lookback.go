// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"encoding/json/v2"
	"iter"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// fact is what tells which action a record is about, and whether it tells of an outcome.
type fact struct {
	Correlation struct {
		ExecutionID string `json:"execution_id"`
	} `json:"correlation"`
	EventType string             `json:"event_type"`
	ActionID  string             `json:"action_id"`
	ActionIDs []string           `json:"action_ids"`
	State     record.ActionState `json:"state"`
	Binds     struct {
		ActionID string `json:"action_id"`
	} `json:"binds"`
	Detail struct {
		ActionID string `json:"action_id"`
		Members  struct {
			Execution map[string]any `json:"execution"`
		} `json:"members"`
	} `json:"detail"`
	kind record.Kind
}

// factOf reads as much of a body as tells which action it is about.
func factOf(kind record.Kind, body []byte) (f fact, ok bool) {
	switch kind {
	case record.KindAction, record.KindApproval, record.KindDecision, record.KindJournal:
	default:
		return f, false
	}
	if json.Unmarshal(body, &f) != nil || f.Correlation.ExecutionID == "" {
		return f, false
	}
	f.kind = kind
	return f, kind != record.KindJournal || f.EventType == record.EventAuditPart
}

func (f *fact) actions() []string {
	switch f.kind {
	case record.KindAction:
		return []string{f.ActionID}
	case record.KindApproval:
		return []string{f.Binds.ActionID}
	case record.KindJournal:
		return []string{f.Detail.ActionID}
	default:
		return f.ActionIDs
	}
}

func (f *fact) isOutcome() bool {
	return f.State.IsOutcome() || f.State == record.ActionRevoked || f.Detail.Members.Execution != nil
}

// lookingBack is where in the journals of actions the look for actions without an audit
// event stands. It stops when as many are held as may be, and goes on from there: what is
// behind is looked at too, however much is before it.
type lookingBack struct {
	scopes []record.Scope // that are left
	next   func() (*journal.Entry, error, bool)
	stop   func()
}

func (l *lookingBack) done() bool { return l.next == nil && len(l.scopes) == 0 }

// end gives up what is left.
func (l *lookingBack) end() {
	if l.stop != nil {
		l.stop()
	}
	*l = lookingBack{}
}

// lookBack finds the actions in the journals that are not held. It is done after a start,
// and again when more had an outcome than could be held.
func (a *Assembler) lookBack(ctx context.Context) {
	l := &a.back
	a.mu.Lock()
	if l.done() && a.overflowed {
		a.overflowed = false
		l.scopes = a.options.Journal.ActionScopes()
	}
	a.mu.Unlock()
	for !l.done() && a.hasRoom() {
		if l.next == nil {
			l.next, l.stop = iter.Pull2(a.options.Journal.ActionsSince(ctx, l.scopes[0], a.options.Now().Add(-a.options.Lookback)))
		}
		e, err, more := l.next()
		switch {
		case err != nil:
			l.end()
			if ctx.Err() == nil {
				a.LookAgain() // at the next interval
				a.options.Failed(err)
			}
		case !more:
			l.stop()
			l.scopes, l.next, l.stop = l.scopes[1:], nil, nil
		default:
			a.lookAt(l.scopes[0], e)
		}
	}
}

func (a *Assembler) hasRoom() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waits) < a.options.MaxPending
}

// lookAt notes an action whose outcome stands in the journal, unless its audit event does.
func (a *Assembler) lookAt(scope record.Scope, e *journal.Entry) {
	if done := settledBy(e.Kind, e.Body); done != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, actionID := range done.actions {
			delete(a.waits, pending{scope, done.execution, actionID})
		}
		return
	}
	f, ok := factOf(e.Kind, e.Body)
	if !ok || !f.isOutcome() {
		return
	}
	for _, actionID := range f.actions() {
		a.note(pending{scope, f.Correlation.ExecutionID, actionID}, true)
	}
}

// settlement says of which actions an entry is the last word.
type settlement struct {
	execution string
	actions   []string
}

func settledBy(kind record.Kind, body []byte) *settlement {
	if kind != record.KindAuditEvent && kind != record.KindJournal {
		return nil
	}
	var f fact
	if json.Unmarshal(body, &f) != nil {
		return nil
	}
	switch {
	case kind == record.KindAuditEvent && f.ActionIDs != nil:
		return &settlement{f.Correlation.ExecutionID, f.ActionIDs}
	case f.EventType == record.EventAuditIncomplete:
		return &settlement{f.Correlation.ExecutionID, []string{f.Detail.ActionID}}
	default:
		return nil
	}
}
