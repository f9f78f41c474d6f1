// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// Composition is what became of the facts about an action.
type Composition struct {
	// Event and Received are the drafts of the audit event and of what stands beside
	// it; nil if it is not whole.
	Event, Received *record.Draft
	// Missing, Contradicted and Invalid are JSON Pointers into audit_event.
	Missing, Contradicted, Invalid []string
	// Final says that nobody is expected to say more: no attempt is open, and the last
	// entry of the action names all of them, or there was none.
	Final bool

	header   record.Header
	actionID string
	found    []string
}

// Whole reports whether there is an audit event.
func (c *Composition) Whole() bool { return c.Event != nil }

// Compose puts together what was said. It can be called once.
func (f *Facts) Compose() (*Composition, error) {
	f.sayApproval()
	f.sayExecution()
	f.sayCalls()
	f.said.otherwiseText(f.executionID, "correlation", "execution_id")
	if !f.ended.IsZero() {
		f.said.otherwise(f.ended.String(), "occurred_at")
	}
	f.said.otherwise(texts(f.found), "lineage", "event_ids")
	f.said.otherwise(texts([]string{f.actionID}), "action_ids")
	if f.reads != nil {
		f.said.otherwise(texts(f.reads), "read_ids")
	}
	c := &Composition{Final: f.final(), actionID: f.actionID, found: f.found, header: f.header()}
	c.Contradicted = slices.AppendSeq(c.Contradicted, maps.Keys(f.said.contradicted))
	_, inCalls := f.calls.list()
	c.Contradicted = append(c.Contradicted, inCalls...)
	slices.Sort(c.Contradicted)
	return c, c.judge(f)
}

// judge makes the drafts, or says what stands in the way.
func (c *Composition) judge(f *Facts) error {
	event := maps.Clone(f.said.members)
	event["event_id"] = record.ComposedEventID(f.executionID, f.actionID)
	event["event_type"] = record.AuditActionCompleted
	if f.said.text("execution", "status") == string(record.AuditExecutionDenied) {
		event["event_type"] = record.AuditActionDenied
	}
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	d, err := record.NewBodyDraft(record.KindAuditEvent, record.AuditEventVersionExtended, true, jsontext.Value(text))
	if f.Overfull() || errors.Is(err, record.ErrTooLarge) {
		c.found = f.found[:min(len(f.found), maxFound)]
		c.Invalid = []string{"/lineage/event_ids"}
		return nil
	}
	if err != nil {
		return err
	}
	if c.Missing, c.Invalid, err = schema.Shortcomings(d); err != nil {
		return err
	}
	if event["occurred_at"] == nil {
		c.Missing = append(c.Missing, "/occurred_at")
		slices.Sort(c.Missing)
	}
	if c.Missing != nil || c.Invalid != nil || c.Contradicted != nil {
		return nil
	}
	var whole record.AuditEvent
	if err := json.Unmarshal(d.Body(), &whole); err != nil {
		return err
	}
	if broken, ok := errors.AsType[*record.RuleError](whole.Check()); ok {
		c.Invalid = []string{broken.Pointer}
		return nil
	}
	c.Event = d
	c.Received, err = record.NewAuditReceivedDraft(c.header, record.AuditReceived{
		AuditEventID: d.EventID(), AuditEventVersion: d.Version(), Normalized: f.normalized, ComposedOf: f.found,
	})
	return err
}

// Incomplete returns the draft that says what was missing after a wait.
func (c *Composition) Incomplete(waited time.Duration) (*record.Draft, error) {
	return record.NewAuditIncompleteDraft(c.header, record.AuditIncomplete{
		ActionID: c.actionID, WaitedSeconds: int64(waited / time.Second), Missing: c.Missing, Contradicted: c.Contradicted, Invalid: c.Invalid, Found: c.found,
	})
}

// header is that of what the collector says of the action: nobody else said it.
func (f *Facts) header() record.Header {
	return record.Header{Correlation: record.Correlation{
		ExecutionID: f.executionID, CorrelationID: f.said.text("correlation", "correlation_id"),
		TraceID: f.said.text("correlation", "trace_id"), SpanID: f.said.text("correlation", "span_id"),
	}}
}

// final reports whether nobody is expected to say more.
func (f *Facts) final() bool {
	if len(f.attempts) == 0 {
		return true
	}
	for _, a := range f.attempts {
		if a.status == "" || !slices.Contains(f.named, a.id) {
			return false
		}
	}
	return true
}

// sayExecution says the technical result that the attempts show: that of the last one.
func (f *Facts) sayExecution() {
	var last *attempt
	for _, a := range f.attempts {
		f.sayStatus(a)
		if last == nil || a.number > last.number {
			last = a
		}
	}
	switch {
	case last == nil && f.revoked:
		f.said.sayAt(string(record.AuditExecutionNotStarted), "execution", "status")
	case last == nil, last.status == "":
	case last.status == record.AuditCallSucceeded:
		f.said.sayAt(string(record.AuditExecutionSucceeded), "execution", "status")
	case last.status == record.AuditCallFailed:
		f.said.sayAt(string(record.AuditExecutionFailed), "execution", "status")
	default:
		f.said.sayAt(string(record.AuditExecutionUnknown), "execution", "status")
	}
}

func (f *Facts) sayStatus(a *attempt) {
	f.calls.get(a.call).sayText(string(a.status), "status")
}

// sayCalls says which tools were called. That none was is said by somebody, or follows
// from an execution that was denied or did not start, of which no attempt stands in the
// journal.
func (f *Facts) sayCalls() {
	list, _ := f.calls.list()
	switch record.AuditExecutionStatus(f.said.text("execution", "status")) {
	case record.AuditExecutionDenied, record.AuditExecutionNotStarted:
		f.said.sayAt(list, "tool_calls")
	default:
		if f.calls.said {
			f.said.sayAt(list, "tool_calls")
		}
	}
}

func texts(all []string) []any {
	list := make([]any, len(all))
	for i, s := range all {
		list[i] = s
	}
	return list
}
