// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"slices"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

type plainDecoder func(version string, raw jsontext.Value, observed Observed) (body any, p *Problem)

var plainDecoders = map[record.Kind]plainDecoder{
	record.KindAction: plainClient(actionTraits), record.KindApproval: plainClient(approvalTraits), record.KindDecision: plainClient(decisionTraits),
	record.KindContext: plainClient(contextTraits), record.KindAuditEvent: plainDecodeAuditEvent, KindAuditEventPart: plainDecodeAuditPart,
}

func plainDecode(item jsontext.Value, observed Observed) (*Record, *Problem) {
	if item.Kind() != jsontext.KindBeginObject {
		return nil, problem(CodeNotAnObject, "")
	}
	if p := plainScan(item); p != nil {
		return nil, p
	}
	version, kind, raw, p := plainEnvelope(item)
	if p != nil {
		return nil, p
	}
	if p = plainWithoutSecrets(raw); p == nil {
		p = plainWithJoiningIDs(raw)
	}
	if p != nil {
		p.Pointer = "/" + string(kind) + p.Pointer
		return nil, p
	}
	body, p := plainDecoders[kind](version, raw, observed)
	if p != nil {
		p.Pointer = "/" + string(kind) + p.Pointer
		return nil, p
	}
	return &Record{Kind: kind, Version: version, Body: body}, nil
}

func plainEnvelope(item jsontext.Value) (version string, kind record.Kind, body jsontext.Value, p *Problem) {
	d := jsontext.NewDecoder(bytes.NewReader(item))
	_, _ = d.ReadToken() // which was seen
	for d.PeekKind() != jsontext.KindEndObject {
		token, err := d.ReadToken()
		if err != nil {
			return "", "", nil, syntax(err)
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return "", "", nil, syntax(err)
		}
		at := shown(jsontext.Pointer("").AppendToken(name))
		switch {
		case name == versionMember:
			if err := json.Unmarshal(value, &version); err != nil {
				return "", "", nil, problem(CodeVersion, at)
			}
		case name == oursInItem:
			return "", "", nil, problem(CodeOurs, at)
		case slices.Contains(notAccepted, record.Kind(name)):
			return "", "", nil, problem(CodeKindNotAccepted, at)
		case plainDecoders[record.Kind(name)] == nil:
			return "", "", nil, problem(CodeUnknownMember, at)
		case kind != "":
			return "", "", nil, problem(CodeSeveralKinds, at)
		case value.Kind() != jsontext.KindBeginObject:
			return "", "", nil, problem(CodeNotAnObject, at)
		default:
			kind, body = record.Kind(name), value.Clone()
		}
	}
	switch {
	case kind == "":
		return "", "", nil, problem(CodeKindMissing, "")
	case !supports(kind, version):
		return "", "", nil, problem(CodeVersion, "/"+versionMember)
	}
	return version, kind, body, nil
}

func plainDecodeAuditEvent(version string, raw jsontext.Value, observed Observed) (any, *Problem) {
	event, normalized, p := plainAuditMembers(raw, oursInAuditEvent)
	if p == nil {
		p = plainWithMembers(raw, requiredOfAuditEvent)
	}
	if p != nil {
		return nil, p
	}
	if event.EventType != "" && event.EventType != event.DerivedType() {
		return nil, problem(CodeEventType, "/event_type")
	}
	event.EventType = event.DerivedType()
	d, err := record.NewBodyDraft(record.KindAuditEvent, version, true, event)
	if err != nil {
		return nil, unfit(err)
	}
	if p := plainWhole(raw, d.Body()); p != nil {
		return nil, p
	}
	if err := schema.ValidateDraft(d); err != nil {
		return nil, unfit(err)
	}
	if err := event.Check(); err != nil {
		return nil, unfit(err)
	}
	body := &AuditEvent{Event: event, Normalized: normalized, Header: headerOf(&event.Correlation)}
	return body, observe(&body.Header, observed)
}

func plainDecodeAuditPart(_ string, raw jsontext.Value, observed Observed) (any, *Problem) {
	if p := plainWithoutOurs(raw, oursInPart); p != nil {
		return nil, p
	}
	own, rest, p := plainOwnOfPart(raw)
	if p != nil {
		return nil, p
	}
	event, normalized, p := plainAuditMembers(rest, nil)
	if p != nil {
		return nil, p
	}
	if event.Correlation.ExecutionID == "" {
		p := problem(CodeInvalid, "/correlation/execution_id")
		p.Detail += " (required)."
		return nil, p
	}
	members, p := plainSaidOf(rest, event)
	if p != nil {
		return nil, p
	}
	if err := schema.ValidateAuditMembers(members); err != nil {
		return nil, unfit(err)
	}
	body := &AuditPart{Header: headerOf(&event.Correlation), Part: record.AuditPart{ActionID: own.ActionID, Normalized: normalized, Members: members}}
	body.Header.ObservedBy = own.ObservedBy
	if p := observe(&body.Header, observed); p != nil {
		return nil, p
	}
	d, err := body.draft()
	if err == nil {
		err = schema.ValidateDraft(d)
	}
	if err == nil {
		return body, nil
	}
	p = unfit(err)
	if p.Pointer == "/detail/action_id" {
		p.Pointer = "/action_id"
	}
	return nil, p
}

func plainAuditMembers(raw jsontext.Value, ours []string) (*record.AuditEvent, []record.Normalized, *Problem) {
	if p := plainWithoutOurs(raw, ours); p != nil {
		return nil, nil, p
	}
	event := &record.AuditEvent{}
	if err := json.Unmarshal(raw, event, json.RejectUnknownMembers(true), normalizedTimes); err != nil {
		return nil, nil, undecodable(err)
	}
	return event, event.Normalize(), nil
}

func plainOwnOfPart(raw jsontext.Value) (own partOwn, rest jsontext.Value, p *Problem) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return own, nil, syntax(err)
	}
	mine := map[string]jsontext.Value{}
	for _, name := range []string{"action_id", "observed_by"} {
		if value, found := members[name]; found {
			mine[name] = value
			delete(members, name)
		}
	}
	text, err := json.Marshal(mine, json.Deterministic(true))
	if err == nil {
		err = json.Unmarshal(text, &own, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return own, nil, undecodable(err)
	}
	rest, err = json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return own, nil, syntax(err)
	}
	return own, rest, nil
}

func plainSaidOf(raw jsontext.Value, event *record.AuditEvent) (jsontext.Value, *Problem) {
	text, err := json.Marshal(event)
	if err != nil {
		return nil, unfit(err)
	}
	if p := plainKept(raw, text); p != nil {
		return nil, p
	}
	var said, is any
	if err := errors.Join(json.Unmarshal(raw, &said), json.Unmarshal(text, &is)); err != nil {
		return nil, syntax(err)
	}
	only(said, is)
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

func plainClient[B any](t traits[B]) plainDecoder {
	ours := slices.Concat(oursInBody, t.ours)
	return func(version string, raw jsontext.Value, observed Observed) (any, *Problem) {
		if p := plainWithoutOurs(raw, ours); p != nil {
			return nil, p
		}
		body := new(B)
		if err := json.Unmarshal(raw, body, json.RejectUnknownMembers(true), normalizedTimes); err != nil {
			return nil, undecodable(err)
		}
		if p := plainWithMembers(raw, t.required); p != nil {
			return nil, p
		}
		h, eventType := t.header(body)
		if h.EventType != "" && h.EventType != eventType {
			return nil, problem(CodeEventType, "/event_type")
		}
		h.EventType = eventType
		if p := observe(h, observed); p != nil {
			return nil, p
		}
		d, err := record.NewBodyDraft(t.kind, version, true, body)
		if err != nil {
			return nil, unfit(err)
		}
		if p := plainWhole(raw, d.Body()); p != nil {
			return nil, p
		}
		if err := schema.ValidateDraft(d); err != nil {
			p := unfit(err)
			if p.Pointer == "/event_type" {
				p.Pointer = "/" + t.typedBy // which it was made of
			}
			return nil, p
		}
		if err := t.check(body); err != nil {
			return nil, unfit(err)
		}
		return body, nil
	}
}
