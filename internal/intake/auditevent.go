// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"slices"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// AuditEvent is the body of an audit_event, and what stands beside it because its
// dictionary has no place for it (contract 14).
type AuditEvent struct {
	Event      *record.AuditEvent
	Header     record.Header
	Normalized []record.Normalized
	// Unmet is what is not confirmed of the sources of its fields.
	Unmet []record.Unmet
}

// Sources returns the sources of the event's fields as those of a decision, nil if it
// names none. An audit event has no step, so that none confirms a document.
func (e *AuditEvent) Sources() *record.Decision {
	if len(e.Event.FieldProvenance) == 0 {
		return nil
	}
	d := &record.Decision{Header: e.Header, Fields: map[string]record.DecisionField{}, FieldProvenance: e.Event.FieldProvenance}
	for name := range d.FieldProvenance {
		d.Fields[name] = record.DecisionField{}
	}
	return d
}

// oursInAuditEvent are the members of an audit event that the writer gives, and the
// members of other bodies that its dictionary does not have.
var oursInAuditEvent = []string{"/journal_id", "/sequence", "/recorded_at", "/scope", "/conflicts_with", "/observed_by"}

// requiredOfAuditEvent are those without which there is no draft.
var requiredOfAuditEvent = []string{"event_id", "occurred_at"}

func decodeAuditEvent(version string, text said, observed Observed) (any, *record.Draft, *Problem) {
	event, normalized, p := auditMembers(text.raw)
	if p == nil {
		p = withMembers(text.outline, requiredOfAuditEvent)
	}
	if p != nil {
		return nil, nil, p
	}
	if event.EventType != "" && event.EventType != event.DerivedType() {
		return nil, nil, problem(CodeEventType, "/event_type")
	}
	event.EventType = event.DerivedType()
	d, err := record.NewBodyDraft(record.KindAuditEvent, version, true, event)
	if err != nil {
		return nil, nil, unfit(err)
	}
	if p := fits(text, d); p != nil {
		return nil, nil, p
	}
	if err := event.Check(); err != nil {
		return nil, nil, unfit(err)
	}
	body := &AuditEvent{Event: event, Normalized: normalized, Header: headerOf(&event.Correlation)}
	return body, nil, observe(&body.Header, observed)
}

// auditMembers decodes members of an audit event, of which all may be absent.
func auditMembers(raw jsontext.Value) (*record.AuditEvent, []record.Normalized, *Problem) {
	event := &record.AuditEvent{}
	if err := json.Unmarshal(raw, event, asClientsSay); err != nil {
		return nil, nil, undecodable(err)
	}
	return event, event.Normalize(), nil
}

// headerOf is the header of what stands beside an audit event.
func headerOf(c *record.AuditCorrelation) record.Header {
	return record.Header{Correlation: record.Correlation{
		ExecutionID: c.ExecutionID, CorrelationID: c.CorrelationID, TraceID: c.TraceID, SpanID: c.SpanID, ParentEventID: c.ParentEventID,
	}}
}

// drafts are the event and what stands beside it.
func (e *AuditEvent) drafts(version string) (event, beside *record.Draft, err error) {
	if event, err = record.NewBodyDraft(record.KindAuditEvent, version, true, e.Event); err != nil {
		return nil, nil, err
	}
	beside, err = record.NewAuditReceivedDraft(e.Header, record.AuditReceived{
		AuditEventID: e.Event.EventID, AuditEventVersion: version, Normalized: e.Normalized, Unmet: e.Unmet,
	})
	return event, beside, err
}

// KindAuditEventPart is the body of a request that becomes a journal record
// audit_event.part: members of the audit event of an action for which there is no
// other record (ADR 0027).
const KindAuditEventPart record.Kind = "audit_event_part"

// AuditPart is a part of an audit event.
type AuditPart struct {
	Header record.Header
	Part   record.AuditPart
}

// oursInPart are the members of an audit event that no part has. Sources of fields are
// taken from a decision record, which is checked.
var oursInPart = slices.Concat(oursInBody, []string{"/event_id", "/event_type", "/action_ids", "/field_provenance"})

func decodeAuditPart(_ string, text said, observed Observed) (any, *record.Draft, *Problem) {
	own, rest, p := ownOfPart(text)
	if p != nil {
		return nil, nil, p
	}
	event, normalized, p := auditMembers(rest.raw)
	if p != nil {
		return nil, nil, p
	}
	if event.Correlation.ExecutionID == "" {
		p := problem(CodeInvalid, "/correlation/execution_id")
		p.Detail += " (required)."
		return nil, nil, p
	}
	members, p := saidOf(rest.outline, event)
	if p != nil {
		return nil, nil, p
	}
	if err := schema.ValidateAuditMembers(members); err != nil {
		return nil, nil, unfit(err)
	}
	body := &AuditPart{Header: headerOf(&event.Correlation), Part: record.AuditPart{ActionID: own.ActionID, Normalized: normalized, Members: members}}
	body.Header.ObservedBy = own.ObservedBy
	if p := observe(&body.Header, observed); p != nil {
		return nil, nil, p
	}
	d, err := body.draft()
	if err == nil {
		err = schema.ValidateDraft(d)
	}
	if err == nil {
		return body, nil, nil
	}
	p = unfit(err)
	if p.Pointer == "/detail/action_id" {
		p.Pointer = "/action_id"
	}
	return nil, nil, p
}

// partOwn are the members of a part that are none of an audit event.
type partOwn struct {
	ActionID   string            `json:"action_id"`
	ObservedBy record.ObservedBy `json:"observed_by"`
}

// ownOfPart takes what is the part's own out of it.
func ownOfPart(text said) (own partOwn, rest said, p *Problem) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text.raw, &members); err != nil {
		return own, rest, syntax(err)
	}
	rest.outline = maps.Clone(text.outline)
	mine := map[string]jsontext.Value{}
	for _, name := range []string{"action_id", "observed_by"} {
		if value, found := members[name]; found {
			mine[name] = value
			delete(members, name)
			delete(rest.outline, name)
		}
	}
	spelled, err := json.Marshal(mine, json.Deterministic(true))
	if err == nil {
		err = json.Unmarshal(spelled, &own, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return own, rest, undecodable(err)
	}
	if rest.raw, err = json.Marshal(members, json.Deterministic(true)); err != nil {
		return own, rest, syntax(err)
	}
	return own, rest, nil
}

func (p *AuditPart) draft() (*record.Draft, error) { return record.NewAuditPartDraft(p.Header, p.Part) }

// saidOf returns what was said, as it was decoded.
func saidOf(outline map[string]any, event *record.AuditEvent) (jsontext.Value, *Problem) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, unfit(err)
	}
	var is any
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, syntax(err)
	}
	if p := kept(outline, is); p != nil {
		return nil, p
	}
	only(outline, is)
	text, err = json.Marshal(is)
	members := jsontext.Value(text)
	if err == nil {
		err = members.Canonicalize()
	}
	if err != nil {
		return nil, unfit(err)
	}
	return members, nil
}

// only removes from what is what nobody said.
func only(said, is any) {
	switch is := is.(type) {
	case map[string]any:
		said, _ := said.(map[string]any)
		for name := range is {
			if _, found := said[name]; !found {
				delete(is, name)
				continue
			}
			only(said[name], is[name])
		}
	case []any:
		said, _ := said.([]any)
		for i := range min(len(is), len(said)) {
			only(said[i], is[i])
		}
	}
}
