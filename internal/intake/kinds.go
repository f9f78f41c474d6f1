// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// A decoder makes the body of a record of one kind.
type decoder func(version string, raw jsontext.Value, observed Observed) (body any, p *Problem)

// decoders are the kinds that clients give. One that schema lists and this does not
// is refused by its name.
var decoders = map[record.Kind]decoder{
	record.KindAction: client(traits[record.Action]{
		kind: record.KindAction, required: []string{"action_id", "state", "occurred_at"}, typedBy: "state", check: (*record.Action).Check,
		header: func(a *record.Action) (*record.Header, string) { return &a.Header, a.State.EventType() },
	}),
	record.KindApproval: client(traits[record.Approval]{
		kind: record.KindApproval, required: []string{"approval_id", "kind", "occurred_at"}, typedBy: "kind", check: (*record.Approval).Check,
		header: func(a *record.Approval) (*record.Header, string) { return &a.Header, a.Kind.EventType() },
	}),
	record.KindDecision: client(traits[record.Decision]{
		kind: record.KindDecision, required: []string{"decision_id", "occurred_at"}, ours: []string{"/unmet"}, check: (*record.Decision).Check,
		header: func(d *record.Decision) (*record.Header, string) { return &d.Header, record.EventDecisionMade },
	}),
	record.KindContext: client(traits[record.Context]{
		kind: record.KindContext, required: []string{"context_id", "occurred_at", "context_digest", "model", "model/request"}, ours: []string{"/claims/*/supported", "/capture", "/basis"}, check: (*record.Context).Check,
		header: func(c *record.Context) (*record.Header, string) { return &c.Header, record.EventContextUsed },
	}),
	record.KindAuditEvent: decodeAuditEvent,
	KindAuditEventPart:    decodeAuditPart,
}

// notAccepted are bodies of entries that clients never give.
var notAccepted = []record.Kind{record.KindRead, record.KindLineage, record.KindJournal}

const versionMember = "schema_version"

// oursInItem are the members of an entry that its writer adds beside the body.
const oursInItem = "integrity"

// decode makes a record of an item of a request. Pointers of problems are relative
// to the item.
func decode(item jsontext.Value, observed Observed) (*Record, *Problem) {
	if item.Kind() != jsontext.KindBeginObject {
		return nil, problem(CodeNotAnObject, "")
	}
	if p := scan(item); p != nil {
		return nil, p
	}
	version, kind, raw, p := envelope(item)
	if p != nil {
		return nil, p
	}
	if p = withoutSecrets(raw); p == nil {
		p = withJoiningIDs(raw)
	}
	if p != nil {
		p.Pointer = "/" + string(kind) + p.Pointer
		return nil, p
	}
	body, p := decoders[kind](version, raw, observed)
	if p != nil {
		p.Pointer = "/" + string(kind) + p.Pointer
		return nil, p
	}
	return &Record{Kind: kind, Version: version, Body: body}, nil
}

// envelope takes an item apart.
func envelope(item jsontext.Value) (version string, kind record.Kind, body jsontext.Value, p *Problem) {
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
		case decoders[record.Kind(name)] == nil:
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

// supports reports whether a version of a body is known. A part is of the version of
// the record that it becomes.
func supports(kind record.Kind, version string) bool {
	if kind == KindAuditEventPart {
		kind = record.KindJournal
	}
	return schema.Supports(kind, version)
}

// oursInBody are the members of a body that its writer or receiver adds, whatever
// its kind; a client may say of observed_by what is not among them.
var oursInBody = []string{
	"/journal_id", "/sequence", "/recorded_at", "/scope", "/conflicts_with",
	"/observed_by/collector_id", "/observed_by/signal", "/observed_by/dialect", "/observed_by/scope_name", "/observed_by/scope_version",
	"/observed_by/sampling", "/observed_by/id_problem",
}

// traits are what tells the kinds apart whose header a client gives in part.
type traits[B any] struct {
	kind record.Kind
	// required are the members that have to be there before there is a draft:
	// those that repeats are known by, the time, which a writer would give, and what
	// the schema does not demand of telemetry.
	required []string
	// typedBy is the member that the event type is made of, if it is.
	typedBy string
	// ours are further members that a client may not give, * for an index.
	ours  []string
	check func(*B) error
	// header returns the header of a body, and the event type that the body has.
	header func(*B) (*record.Header, string)
}

func client[B any](t traits[B]) decoder {
	ours := slices.Concat(oursInBody, t.ours)
	return func(version string, raw jsontext.Value, observed Observed) (any, *Problem) {
		if p := withoutOurs(raw, ours); p != nil {
			return nil, p
		}
		body := new(B)
		if err := json.Unmarshal(raw, body, json.RejectUnknownMembers(true), normalizedTimes); err != nil {
			return nil, undecodable(err)
		}
		if p := withMembers(raw, t.required); p != nil {
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
		if p := whole(raw, d.Body()); p != nil {
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

// withMembers refuses a body that lacks one of some members, of which each is named by
// the names on the way to it.
func withMembers(raw jsontext.Value, required []string) *Problem {
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return syntax(err)
	}
	for _, path := range required {
		members, last := body, path
		for name, rest, found := strings.Cut(last, "/"); found; name, rest, found = strings.Cut(last, "/") {
			members, _ = members[name].(map[string]any)
			last = rest
		}
		if _, found := members[last]; !found {
			p := problem(CodeInvalid, "/"+path)
			p.Detail += " (required)."
			return p
		}
	}
	return nil
}

// withoutOurs refuses members that the writer or the receiver gives.
func withoutOurs(raw jsontext.Value, ours []string) *Problem {
	const deepest = 3 // of ours
	var names [deepest + 1]string
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end
		}
		depth := d.StackDepth()
		if depth > deepest || token.Kind() != jsontext.KindString {
			continue
		}
		if kind, n := d.StackIndex(depth); kind != jsontext.KindBeginObject || n%2 == 0 {
			continue // no name
		}
		names[depth] = token.String()
		if slices.Contains(ours, pattern(d, names[:depth+1])) {
			return problem(CodeOurs, shown(d.StackPointer()))
		}
	}
}

// pattern returns the pointer of a member with * for indices, given the names on the
// way to it, by depth.
func pattern(d *jsontext.Decoder, names []string) string {
	var p []byte
	for depth := 1; depth < len(names); depth++ {
		name := names[depth]
		if kind, _ := d.StackIndex(depth); kind == jsontext.KindBeginArray {
			name = "*"
		}
		p = append(append(p, '/'), name...)
	}
	return string(p)
}

// undecodable says why a body does not fit its type.
func undecodable(err error) *Problem {
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return syntax(err)
	}
	at := shown(e.JSONPointer)
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return problem(CodeUnknownMember, at)
	case errors.Is(err, errTime):
		return problem(CodeTime, at)
	}
	p := problem(CodeInvalid, at)
	p.Detail += " (type)."
	return p
}

// kept refuses a body that lacks something that the client said.
func kept(raw, body jsontext.Value) *Problem {
	var said, is any
	if err := errors.Join(json.Unmarshal(raw, &said), json.Unmarshal(body, &is)); err != nil {
		return syntax(err)
	}
	if at := lost(said, is); at != "" {
		return problem(CodeEmpty, shown(at))
	}
	return nil
}
