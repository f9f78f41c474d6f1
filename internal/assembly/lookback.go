// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"encoding/json/v2"
	"time"

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

// lookBack finds the actions in the journals that are not held. It is done after a start,
// and whenever more had an outcome than could be held, once there is room.
func (a *Assembler) lookBack(ctx context.Context) {
	a.mu.Lock()
	again := a.overflowed && len(a.waits) <= a.options.MaxPending/2
	if again {
		a.overflowed = false
	}
	a.mu.Unlock()
	if !again {
		return
	}
	since := a.options.Now().Add(-a.options.Lookback)
	for _, scope := range a.options.Journal.ActionScopes() {
		if err := a.lookThrough(ctx, scope, since); err != nil && ctx.Err() == nil {
			a.mu.Lock()
			a.overflowed = true // and again at the next interval
			a.mu.Unlock()
			a.options.Failed(err)
		}
	}
}

// lookThrough notes the actions of one journal whose outcome stands there and whose audit
// event does not.
func (a *Assembler) lookThrough(ctx context.Context, scope record.Scope, since time.Time) error {
	for e, err := range a.options.Journal.ActionsSince(ctx, scope, since) {
		if err != nil {
			return err
		}
		if done := settledBy(e.Kind, e.Body); done != nil {
			a.mu.Lock()
			for _, actionID := range done.actions {
				delete(a.waits, pending{scope, done.execution, actionID})
			}
			a.mu.Unlock()
			continue
		}
		f, ok := factOf(e.Kind, e.Body)
		if !ok || !f.isOutcome() {
			continue
		}
		for _, actionID := range f.actions() {
			a.note(pending{scope, f.Correlation.ExecutionID, actionID}, true)
		}
	}
	return nil
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
