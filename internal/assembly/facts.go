// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"encoding/json/v2"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// Facts are what the entries of one execution say about one of its actions.
type Facts struct {
	executionID, actionID string

	said       saying
	calls      calls
	attempts   []*attempt
	approvals  []*approval
	normalized []record.Normalized
	reads      []string
	found      []string

	// revoked says that the action may not be sent any more.
	revoked bool
	// relies is the approval that the executor named last.
	relies string
	// named are the attempts that the last entry of the action names, nil if none did.
	named []string
	// outcome is recorded_at of the newest entry that tells of an outcome, and ended the
	// occurred_at of the last one of an attempt.
	outcome, ended record.Time
	// done says that there is an audit event of the action, or an incomplete one.
	done bool
}

// attempt is one send of the action.
type attempt struct {
	id     string
	call   callKey
	number int64
	status record.AuditToolCallStatus // "" while it is open
}

// NewFacts returns the facts about an action of which nothing is known.
func NewFacts(executionID, actionID string) *Facts {
	return &Facts{executionID: executionID, actionID: actionID, said: newSaying()}
}

// maxFound bounds the entries that one audit event is composed of: it lists their ids
// twice, within the largest entry.
const maxFound = 1500

// Overfull reports whether more entries are about the action than one event can name. No
// more of them need be added.
func (f *Facts) Overfull() bool { return len(f.found) > maxFound }

// Done reports whether there is nothing left to compose.
func (f *Facts) Done() bool { return f.done }

// Outcome returns when the newest outcome was recorded; absent if there is none.
func (f *Facts) Outcome() record.Time { return f.outcome }

// Add takes an entry of the execution. Entries come in the order of their journal, those
// of the journal of actions first. What this version does not know is not interpreted,
// and what is about another action is no fact about this one.
func (f *Facts) Add(e *journal.Entry) error {
	if !schema.Supports(e.Kind, e.SchemaVersion) || e.Header.Correlation.ExecutionID != f.executionID {
		return nil
	}
	var err error
	switch e.Kind {
	case record.KindJournal:
		err = f.addJournal(e)
	case record.KindAction:
		err = add(e, f.addAction)
	case record.KindApproval:
		err = add(e, f.addApproval)
	case record.KindDecision:
		err = add(e, f.addDecision)
	case record.KindRead:
		err = add(e, f.addRead)
	case record.KindAuditEvent:
		var event struct {
			ActionIDs []string `json:"action_ids"`
		}
		if err = json.Unmarshal(e.Body, &event); err == nil {
			f.done = f.done || slices.Contains(event.ActionIDs, f.actionID)
		}
	}
	if err != nil {
		return fmt.Errorf("entry %s: %w", e.Header.EventID, err)
	}
	return nil
}

func add[B any](e *journal.Entry, f func(*journal.Entry, *B)) error {
	body := new(B)
	if err := json.Unmarshal(e.Body, body); err != nil {
		return err
	}
	f(e, body)
	return nil
}

func (f *Facts) addJournal(e *journal.Entry) error {
	switch e.Header.EventType {
	case record.EventAuditPart:
		return add(e, f.addPart)
	case record.EventAuditIncomplete:
		return add(e, func(_ *journal.Entry, body *struct {
			Detail record.AuditIncomplete `json:"detail"`
		},
		) {
			f.done = f.done || body.Detail.ActionID == f.actionID
		})
	}
	return nil
}

type partBody struct {
	Detail struct {
		ActionID   string              `json:"action_id"`
		Normalized []record.Normalized `json:"normalized"`
		Members    object              `json:"members"`
	} `json:"detail"`
}

func (f *Facts) addPart(e *journal.Entry, body *partBody) {
	p := &body.Detail
	if p.ActionID != f.actionID {
		return
	}
	f.found = append(f.found, e.Header.EventID)
	if calls, found := p.Members["tool_calls"]; found {
		list, _ := calls.([]any)
		f.calls.sayPart(list)
		delete(p.Members, "tool_calls")
	}
	f.said.say(p.Members)
	for _, n := range p.Normalized {
		if !slices.Contains(f.normalized, n) {
			f.normalized = append(f.normalized, n)
		}
	}
	if _, tellsOutcome := p.Members["execution"]; tellsOutcome {
		f.outcome = e.Header.RecordedAt
	}
}

func (f *Facts) addDecision(e *journal.Entry, d *record.Decision) {
	if !slices.Contains(d.ActionIDs, f.actionID) {
		return
	}
	f.found = append(f.found, e.Header.EventID)
	said := object{}
	text, err := json.Marshal(struct {
		FieldProvenance map[string]record.FieldSource `json:"field_provenance,omitzero"`
		ContextIDs      []string                      `json:"context_ids,omitzero"`
	}{d.FieldProvenance, d.ContextIDs})
	if err == nil && json.Unmarshal(text, &said) == nil {
		f.said.say(said)
	}
}

func (f *Facts) addRead(e *journal.Entry, r *record.Read) {
	if !slices.Contains(r.ActionIDs, f.actionID) {
		return
	}
	f.found = append(f.found, e.Header.EventID)
	if !slices.Contains(f.reads, r.ReadID) {
		f.reads = append(f.reads, r.ReadID)
	}
	if r.ToolCallID != "" {
		f.calls.sayRead(r)
	}
}
