// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// A decoder makes the body of a record of one kind, and its draft if nothing will be
// added to it.
type decoder struct {
	// ours are the members that a client may not give, * for an index.
	ours   places
	decode func(version string, text said, observed Observed) (body any, d *record.Draft, p *Problem)
}

// decoders are the kinds that clients give. One that schema lists and this does not
// is refused by its name.
var decoders = map[record.Kind]decoder{
	record.KindAction:     client(actionTraits),
	record.KindApproval:   client(approvalTraits),
	record.KindDecision:   client(decisionTraits),
	record.KindContext:    client(contextTraits),
	record.KindAuditEvent: {placesOf(oursInAuditEvent...), decodeAuditEvent},
	KindAuditEventPart:    {placesOf(oursInPart...), decodeAuditPart},
}

// notAccepted are bodies of entries that clients never give.
var notAccepted = []record.Kind{record.KindRead, record.KindLineage, record.KindJournal}

const versionMember = "schema_version"

// oursInItem are the members of an entry that its writer adds beside the body.
const oursInItem = "integrity"

// decode makes a record of an item of a request. Pointers of problems are relative
// to the item.
func decode(text jsontext.Value, observed Observed) (*Record, *Problem) {
	if text.Kind() != jsontext.KindBeginObject {
		return nil, problem(CodeNotAnObject, "")
	}
	taken, p := take(text)
	if p != nil {
		return nil, p
	}
	body, draft, p := decoders[taken.kind].decode(taken.version, taken.body, observed)
	if p != nil {
		p.Pointer = "/" + string(taken.kind) + p.Pointer
		return nil, p
	}
	return &Record{Kind: taken.kind, Version: taken.version, Body: body, draft: draft}, nil
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
	// settled says that intake finds out nothing about a body that it adds to it.
	settled bool
	// ours are further members that a client may not give, * for an index.
	ours  []string
	check func(*B) error
	// header returns the header of a body, and the event type that the body has.
	header func(*B) (*record.Header, string)
}

var (
	actionTraits = traits[record.Action]{
		kind: record.KindAction, required: []string{"action_id", "state", "occurred_at"}, typedBy: "state", settled: true, check: (*record.Action).Check,
		header: func(a *record.Action) (*record.Header, string) { return &a.Header, a.State.EventType() },
	}
	approvalTraits = traits[record.Approval]{
		kind: record.KindApproval, required: []string{"approval_id", "kind", "occurred_at"}, typedBy: "kind", settled: true, check: (*record.Approval).Check,
		header: func(a *record.Approval) (*record.Header, string) { return &a.Header, a.Kind.EventType() },
	}
	decisionTraits = traits[record.Decision]{
		kind: record.KindDecision, required: []string{"decision_id", "occurred_at"}, ours: []string{"/unmet"}, check: (*record.Decision).Check,
		header: func(d *record.Decision) (*record.Header, string) { return &d.Header, record.EventDecisionMade },
	}
	contextTraits = traits[record.Context]{
		kind: record.KindContext, required: []string{"context_id", "occurred_at", "context_digest", "model", "model/request"}, ours: []string{"/claims/*/supported", "/capture", "/basis"}, check: (*record.Context).Check,
		header: func(c *record.Context) (*record.Header, string) { return &c.Header, record.EventContextUsed },
	}
)

func client[B any](t traits[B]) decoder {
	return decoder{placesOf(slices.Concat(oursInBody, t.ours)...), func(version string, text said, observed Observed) (any, *record.Draft, *Problem) {
		body := new(B)
		if err := json.Unmarshal(text.raw, body, asClientsSay); err != nil {
			return nil, nil, undecodable(err)
		}
		if p := withMembers(text.outline, t.required); p != nil {
			return nil, nil, p
		}
		h, eventType := t.header(body)
		if h.EventType != "" && h.EventType != eventType {
			return nil, nil, problem(CodeEventType, "/event_type")
		}
		h.EventType = eventType
		if p := observe(h, observed); p != nil {
			return nil, nil, p
		}
		d, err := record.NewBodyDraft(t.kind, version, true, body)
		if err != nil {
			return nil, nil, unfit(err)
		}
		if p := fits(text, d); p != nil {
			if p.Pointer == "/event_type" {
				p.Pointer = "/" + t.typedBy // which it was made of
			}
			return nil, nil, p
		}
		if err := t.check(body); err != nil {
			return nil, nil, unfit(err)
		}
		if !t.settled {
			d = nil
		}
		return body, d, nil
	}}
}

// asClientsSay decodes a body of which a survey found that no name stands twice.
var asClientsSay = json.JoinOptions(json.RejectUnknownMembers(true), normalizedTimes, jsontext.AllowDuplicateNames(true))

// fits refuses a draft that does not hold what was said, all of it and nothing else, or
// does not fit its schema.
func fits(text said, d *record.Draft) *Problem {
	body, err := schema.Complete(d)
	if err != nil {
		return unfit(err)
	}
	if p := whole(text.outline, body.Members()); p != nil {
		return p
	}
	if err := body.Validate(); err != nil {
		return unfit(err)
	}
	return nil
}

// withMembers refuses a body that lacks one of some members, of which each is named by
// the names on the way to it.
func withMembers(body map[string]any, required []string) *Problem {
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
