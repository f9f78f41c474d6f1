// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// The journal records about audit events (contract 15, ADR 0027). They stand beside
// them in the journal of actions.
const (
	EventAuditReceived   = "audit_event.received"
	EventAuditIncomplete = "audit_event.incomplete"
	EventAuditPart       = "audit_event.part"
)

// AuditReceived is the detail of audit_event.received: what an audit event cannot say
// of itself. Who gave it, and how, stands in the header of the record.
type AuditReceived struct {
	AuditEventID string `json:"audit_event_id"`
	// AuditEventVersion is the version of the event's schema.
	AuditEventVersion string `json:"audit_event_version"`
	// Normalized are the values that stand in the event in another spelling.
	Normalized []Normalized `json:"normalized,omitzero"`
	// ComposedOf are the ids of the entries, in order, that the collector composed the
	// event from; nil if a producer gave it whole.
	ComposedOf []string `json:"composed_of,omitzero"`
	// Unmet is what intake could not confirm of the event's field_provenance. It does
	// not count for whether the record is a repeat.
	Unmet []Unmet `json:"unmet,omitzero"`
}

// Normalized says which value was replaced, and by what (requirement E9).
type Normalized struct {
	// Pointer is an RFC 6901 JSON Pointer into audit_event.
	Pointer string `json:"pointer"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// AuditIncomplete is the detail of audit_event.incomplete: the outcome of an action is
// known, the audit event is not whole, and none was invented. Every pointer is an RFC
// 6901 JSON Pointer into audit_event.
type AuditIncomplete struct {
	ActionID string `json:"action_id"`
	// WaitedSeconds is how long the collector waited after the outcome.
	WaitedSeconds int64 `json:"waited_seconds"`
	// Missing is what nobody said, Contradicted what was said in two ways, Invalid what
	// no audit event may say together with the rest.
	Missing      []string `json:"missing,omitzero"`
	Contradicted []string `json:"contradicted,omitzero"`
	Invalid      []string `json:"invalid,omitzero"`
	// Found are the ids of the entries, in order, that say something about the action.
	Found []string `json:"found,omitzero"`
}

// AuditPart is the detail of audit_event.part: members of the audit event of an action
// for which there is no other record, until the event can be composed.
type AuditPart struct {
	// PartID is derived from the rest.
	PartID     string       `json:"part_id"`
	ActionID   string       `json:"action_id"`
	Normalized []Normalized `json:"normalized,omitzero"`
	// Members are as in an audit event, any of which may be absent: a JSON object.
	Members jsontext.Value `json:"members"`
}

// NewAuditReceivedDraft makes the draft of an audit_event.received. There is one for
// an audit event, whoever sends it again.
func NewAuditReceivedDraft(h Header, r AuditReceived) (*Draft, error) {
	return newAboutDraft(EventAuditReceived, r.AuditEventID, h, r)
}

// NewAuditIncompleteDraft makes the draft of an audit_event.incomplete, of which there
// is one for an action.
func NewAuditIncompleteDraft(h Header, i AuditIncomplete) (*Draft, error) {
	return newAboutDraft(EventAuditIncomplete, i.ActionID, h, i)
}

// NewAuditPartDraft makes the draft of an audit_event.part, with a PartID that depends
// on the execution, the action and the members: only the same part is a repeat.
func NewAuditPartDraft(h Header, p AuditPart) (*Draft, error) {
	members := p.Members.Clone()
	if err := members.Canonicalize(); err != nil {
		return nil, err
	}
	p.Members = members
	p.PartID = derive(prefixPart, "part", []byte(h.Correlation.ExecutionID), []byte(p.ActionID), members)
	return newAboutDraft(EventAuditPart, p.PartID, h, p)
}

func newAboutDraft(eventType, own string, h Header, detail any) (*Draft, error) {
	h.EventType = eventType
	d, err := newDraft(KindJournal, eventType+" "+own, true, &Journal{Header: h, Detail: detail})
	if err == nil {
		d.actions = true
	}
	return d, err
}

// repeatOfAbout returns the id by which repeats of a journal record about audit events
// are known, "" if it is none of these.
func repeatOfAbout(body []byte) (string, error) {
	var b struct {
		EventType string `json:"event_type"`
		Detail    struct {
			AuditEventID string `json:"audit_event_id"`
			ActionID     string `json:"action_id"`
			PartID       string `json:"part_id"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return "", err
	}
	own := ""
	switch b.EventType {
	case EventAuditReceived:
		own = b.Detail.AuditEventID
	case EventAuditIncomplete:
		own = b.Detail.ActionID
	case EventAuditPart:
		own = b.Detail.PartID
	}
	if own == "" {
		return "", nil
	}
	return b.EventType + " " + own, nil
}

// ComposedEventID is the event id of the audit event that the collector composes of an
// action: the same whenever it is composed, so that there is one.
func ComposedEventID(executionID, actionID string) string {
	return derive(prefixEvent+"composed_", "audit_event", []byte(executionID), []byte(actionID))
}
