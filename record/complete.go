// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json/jsontext"
	"strconv"
)

// Completion holds the members that the writer of a journal owns.
type Completion struct {
	EventID       string
	JournalID     string
	Sequence      uint64
	RecordedAt    Time
	Scope         Scope
	CollectorID   string
	ConflictsWith string
	// Parts are the parts to write, a subset of the draft's in its order.
	Parts []Part
}

// An ownMember is one that the writer of a journal writes.
type ownMember struct {
	name string
	// absent says that the writer has none.
	absent func(*Draft, *Completion) bool
	append func([]byte, *Draft, *Completion) []byte
}

// named says that bodies of the draft's kind name their journal and their observer: all
// but an audit event, whose dictionary has neither (contract 14).
func (d *Draft) named() bool { return d.kind != KindAuditEvent }

// ownMembers are in the order of RFC 8785.
var ownMembers = []ownMember{
	{
		"conflicts_with",
		func(d *Draft, c *Completion) bool { return c.ConflictsWith == "" || !d.named() },
		func(dst []byte, _ *Draft, c *Completion) []byte { return appendQuoted(dst, c.ConflictsWith) },
	},
	{"event_id", never, func(dst []byte, _ *Draft, c *Completion) []byte { return appendQuoted(dst, c.EventID) }},
	{"journal_id", unnamed, func(dst []byte, _ *Draft, c *Completion) []byte { return appendQuoted(dst, c.JournalID) }},
	{"observed_by", unnamed, func(dst []byte, d *Draft, c *Completion) []byte { return d.appendObservedBy(dst, c.CollectorID) }},
	{
		"occurred_at",
		func(d *Draft, _ *Completion) bool { return d.dated },
		func(dst []byte, _ *Draft, c *Completion) []byte { return c.RecordedAt.appendQuoted(dst) },
	},
	{"recorded_at", never, func(dst []byte, _ *Draft, c *Completion) []byte { return c.RecordedAt.appendQuoted(dst) }},
	{"scope", never, func(dst []byte, _ *Draft, c *Completion) []byte { return c.Scope.append(dst) }},
	{"sequence", never, func(dst []byte, _ *Draft, c *Completion) []byte { return strconv.AppendUint(dst, c.Sequence, 10) }},
	{
		partsMember,
		func(d *Draft, _ *Completion) bool { return len(d.parts) == 0 },
		func(dst []byte, _ *Draft, c *Completion) []byte { return appendParts(dst, c.Parts) },
	},
}

func never(*Draft, *Completion) bool { return false }

func unnamed(d *Draft, _ *Completion) bool { return !d.named() }

// Complete returns the body as canonical bytes with the writer's members in
// their places. It cannot fail: every value was checked before.
func (d *Draft) Complete(c Completion) []byte {
	return d.AppendComplete(make([]byte, 0, d.Size()+completionBytes), &c)
}

// completionBytes is about what completing adds to a draft.
const completionBytes = 512

// AppendComplete is Complete behind other bytes. The source's occurred_at wins;
// observed_by is the writer's, which contains the source's, and so is event_id,
// which the writer may have to change.
func (d *Draft) AppendComplete(dst []byte, c *Completion) []byte {
	dst = append(dst, '{')
	members := d.body.members
	copied := 0 // of the source's members
	for i := range ownMembers {
		own := &ownMembers[i]
		if own.absent(d, c) {
			continue
		}
		next := copied
		for next < len(members) && members[next].name < own.name {
			next++
		}
		dst = d.appendMembers(dst, copied, next)
		if next < len(members) && members[next].name == own.name {
			next++
		}
		copied = next
		dst = appendName(dst, own.name)
		dst = own.append(dst, d, c)
	}
	return append(d.appendMembers(dst, copied, len(members)), '}')
}

// appendMembers copies a run of the source's members, which stand next to each
// other in its bytes too.
func (d *Draft) appendMembers(dst []byte, from, to int) []byte {
	if from == to {
		return dst
	}
	first := d.body.members[from]
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, d.body.raw[first.begin-len(first.name)-len(`"":`):d.body.members[to-1].end]...)
}

const collectorMember = "collector_id"

// appendObservedBy puts collector_id first, where RFC 8785 wants it: it sorts
// before every other member of observed_by.
func (d *Draft) appendObservedBy(dst []byte, collectorID string) []byte {
	dst = appendQuoted(append(dst, `{"`+collectorMember+`":`...), collectorID)
	source, found := d.body.get("observed_by")
	if !found {
		return append(dst, '}')
	}
	return append(append(dst, ','), source[1:]...)
}

// append spells a scope; its members are already in RFC 8785 order by name.
func (s *Scope) append(dst []byte) []byte {
	dst = appendQuoted(append(dst, `{"environment":`...), s.Environment)
	if s.LegalHold {
		dst = append(dst, `,"legal_hold":true`...)
	}
	dst = appendQuoted(append(dst, `,"organization_ref":`...), s.OrganizationRef)
	if s.Region != "" {
		dst = appendQuoted(append(dst, `,"region":`...), s.Region)
	}
	dst = appendQuoted(append(dst, `,"retention_class":`...), s.RetentionClass)
	return append(dst, '}')
}

func appendParts(dst []byte, parts []Part) []byte {
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, p.Raw...)
	}
	return append(dst, ']')
}

// appendQuoted spells a string as RFC 8785 does. Invalid UTF-8 cannot reach it:
// ids are checked and configuration is YAML.
func appendQuoted(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		return append(dst, `""`...)
	}
	return out
}
