// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Repeat is what tells whether a record is one that the journal already has.
type Repeat struct {
	// ID is the id of the record, "" if it is never a repeat.
	ID string
	// Given says that the application gave the id: it has no horizon.
	Given bool
	// EventID is the event id if the application gave it, which has no horizon
	// either.
	EventID string
	// Digest identifies the body apart from what the writer adds.
	Digest [sha256.Size]byte
	// Marks are what else the entry is looked up by. They make no repeats.
	Marks []string
	// Parts are the repeat keys of the spans of a lineage record.
	Parts [][sha256.Size]byte
}

// RepeatOf reads from the canonical body of a stored entry what its draft said
// when it was appended, so that repeats are known across restarts.
func RepeatOf(kind Kind, body []byte) (Repeat, error) {
	stored, err := split(body)
	if err != nil {
		return Repeat{}, err
	}
	r := Repeat{Digest: sourceDigest(kind, stored)}
	if r.EventID, err = givenEventID(body); err != nil {
		return Repeat{}, err
	}
	switch kind {
	case KindRead:
		var read struct {
			ReadID string           `json:"read_id"`
			Basis  map[string]Basis `json:"basis"`
		}
		if err := json.Unmarshal(body, &read); err != nil {
			return Repeat{}, err
		}
		r.ID, r.Given = read.ReadID, read.Basis["read_id"] == BasisAttribute
	case KindJournal:
		if r.ID, err = repeatOfAbout(body); err != nil || r.ID != "" {
			r.Given = true
			return r, err
		}
		var journal struct {
			EventType string `json:"event_type"`
			Detail    struct {
				ItemID string `json:"item_id"`
			} `json:"detail"`
		}
		if err := json.Unmarshal(body, &journal); err != nil {
			return Repeat{}, err
		}
		r.ID = journal.Detail.ItemID
		if own, isLog, err := auditLogRepeat(journal.EventType, body); isLog {
			own.EventID = r.EventID
			return own, err
		}
	case KindDecision, KindAction, KindApproval, KindContext, KindAuditEvent:
		if r.ID, err = repeatID(kind, stored); err != nil {
			return Repeat{}, err
		}
		r.Given = kind.OfActions() || givesID(kind, body)
	case KindLineage:
		var lineage struct {
			Correlation Correlation      `json:"correlation"`
			Spans       []jsontext.Value `json:"spans"`
		}
		if err := json.Unmarshal(body, &lineage); err != nil {
			return Repeat{}, err
		}
		for _, raw := range lineage.Spans {
			r.Parts = append(r.Parts, newPart(lineage.Correlation.TraceID, raw).Key)
		}
	}
	return r, nil
}

// idsOf are the members that make the ids of bodies, in their order.
var idsOf = map[Kind][]string{
	KindAction: {"action_id", attemptMember, "state"}, KindApproval: {"approval_id", "kind"}, KindDecision: {"decision_id"}, KindContext: {"context_id"},
	KindAuditEvent: {"event_id"},
}

// attemptMember is the one of them that may be absent.
const attemptMember = "attempt_id"

// repeatID returns the id by which repeats of a body are known: its kind and its own
// ids with blanks between them, so that no id that an application gives to something
// else is equal to it. The states of an action, and the steps of an approval, are
// records of their own. It returns an error for a body without the ids of its kind.
func repeatID(kind Kind, o object) (string, error) {
	var own []string
	for _, name := range idsOf[kind] {
		raw, found := o.get(name)
		if !found && name == attemptMember {
			continue
		}
		id, err := jsontext.AppendUnquote(nil, raw) // of what is no text, an error
		if err != nil || len(id) == 0 {
			return "", fmt.Errorf("%s lacks an id", kind)
		}
		own = append(own, string(id))
	}
	if own == nil {
		return "", fmt.Errorf("%s lacks an id", kind)
	}
	return string(kind) + " " + strings.Join(own, " "), nil
}

// givesID reports whether the id of a body came from an application: through the API,
// or in an attribute of a model call.
func givesID(kind Kind, body []byte) bool {
	var b struct {
		ObservedBy struct {
			Signal Signal `json:"signal"`
		} `json:"observed_by"`
		Basis map[string]Basis `json:"basis"`
	}
	if json.Unmarshal(body, &b) != nil {
		return false
	}
	return b.ObservedBy.Signal == SignalAPI || kind == KindContext && b.Basis["context_id"] == BasisAttribute
}

// givenEventID returns the event id of a stored body unless the writer minted
// it: a minted one holds the time of recorded_at.
func givenEventID(body []byte) (string, error) {
	var header struct {
		EventID    string `json:"event_id"`
		RecordedAt Time   `json:"recorded_at"`
	}
	if err := json.Unmarshal(body, &header); err != nil {
		return "", err
	}
	if at, minted := MintedAt(header.EventID); minted && at.Equal(header.RecordedAt.Std().Truncate(time.Millisecond)) {
		return "", nil
	}
	return header.EventID, nil
}

// MintedAt returns the time that an event id of a writer holds, which is recorded_at
// without what is less than a millisecond (contract 3); minted is false for an id of
// another form.
func MintedAt(eventID string) (at time.Time, minted bool) {
	text, ours := strings.CutPrefix(eventID, prefixEvent)
	id, err := ulid.ParseStrict(text)
	return id.Timestamp(), ours && err == nil
}

func newPart(traceID string, raw []byte) Part {
	return Part{Key: sha256.Sum256(append([]byte(traceID+"\n"), raw...)), Raw: raw}
}

// sourceDigest hashes what the source of a record said, leaving out what the
// writer adds. An event_id does not count: a retry may come with a new one.
func sourceDigest(kind Kind, o object) [sha256.Size]byte {
	actions := kind.OfActions() || kind == KindJournal && isOfActions(o)
	isAdded := func(p place) bool { return isAdded(kind, actions, p.name) }
	if !slices.ContainsFunc(o.members, func(p place) bool { return isAdded(p) || hasAdded(o, p) || isJudged(kind, actions, p.name) }) {
		return sha256.Sum256(o.raw) // as nearly all that was not completed yet
	}
	source := sha256.New()
	begin := []byte(`{`) // of a member: what parts it from the one before, and its name
	for _, p := range o.members {
		if isAdded(p) {
			continue
		}
		raw := o.value(p)
		if hasAdded(o, p) {
			if raw = withoutCollector(raw); raw == nil {
				continue
			}
		}
		if isJudged(kind, actions, p.name) {
			raw = unjudged(kind, raw)
		}
		begin = append(append(append(begin, '"'), p.name...), `":`...)
		source.Write(begin)
		source.Write(raw)
		begin = append(begin[:0], ',')
	}
	if begin[0] == '{' {
		source.Write(begin)
	}
	source.Write([]byte(`}`))
	return [sha256.Size]byte(source.Sum(nil))
}

// isJudged reports whether a member holds what intake finds out beside what the
// source said, which a retry may find otherwise: whether claims are supported, and what
// is unmet of an audit event.
func isJudged(kind Kind, actions bool, member string) bool {
	return kind == KindContext && member == "claims" || kind == KindJournal && actions && member == "detail"
}

// unjudged returns a member without what intake found out.
func unjudged(kind Kind, raw []byte) []byte {
	if kind == KindContext {
		return unjudgedClaims(raw)
	}
	return without(raw, "unmet")
}

// unjudgedClaims returns canonical claims none of which is supported.
func unjudgedClaims(claims []byte) []byte {
	var list []Claim
	if err := json.Unmarshal(claims, &list, json.RejectUnknownMembers(true)); err != nil {
		return claims // which no schema takes
	}
	for i := range list {
		list[i].Supported = false
	}
	raw, err := json.Marshal(list)
	value := jsontext.Value(raw)
	if err != nil || value.Canonicalize() != nil {
		return claims
	}
	return value
}

// isAdded reports whether a member does not count, most of them because the
// writer adds them. actions says that the body stands in the journal of actions.
func isAdded(kind Kind, actions bool, member string) bool {
	switch member {
	case "conflicts_with", "event_id", "journal_id", "recorded_at", "scope", "sequence", partsMember:
		return true
	case "occurred_at":
		return kind == KindJournal
	case "observed_by":
		// A retry comes over another connection, and under another span.
		return actions || kind == KindContext
	case "unmet":
		return kind == KindDecision // which intake adds
	default:
		return false
	}
}

// isOfActions reports whether a journal record is one of the journal of actions.
func isOfActions(o object) bool {
	raw, _ := o.get("event_type")
	return IsOfActions(strings.Trim(string(raw), `"`))
}

// hasAdded reports whether the writer adds to the value of a member, or to the
// empty object that it would be without.
func hasAdded(o object, p place) bool {
	if p.name != "observed_by" {
		return false
	}
	raw := o.value(p)
	return len(raw) <= len(`{}`) || bytes.HasPrefix(raw, []byte(`{"`+collectorMember+`"`)) // which sorts first
}

// withoutCollector removes collector_id from a canonical observed_by; nil means
// that nothing else was in it.
func withoutCollector(observedBy []byte) []byte { return without(observedBy, collectorMember) }

// without removes a member from a canonical object; nil means that nothing else was in
// it.
func without(raw []byte, name string) []byte {
	o, err := split(raw)
	if err != nil {
		return raw
	}
	var others []member
	for _, p := range o.members {
		if p.name != name {
			others = append(others, member{p.name, o.value(p)})
		}
	}
	if len(others) == 0 {
		return nil
	}
	return joined(others)
}
