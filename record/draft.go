// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxEntryBytes is the largest entry, in bytes of its line (contract 2).
const MaxEntryBytes = 1 << 20

// maxDraftBytes leaves room for what the journal adds to a draft.
const maxDraftBytes = MaxEntryBytes - 8<<10

// ErrTooLarge says that a body would exceed the largest entry.
var ErrTooLarge = errors.New("record exceeds the largest entry of 1 MiB")

// Draft is a body that the journal only has to complete: canonical bytes with
// holes for the members that the writer owns. A Draft is immutable and safe for
// concurrent use.
type Draft struct {
	kind Kind
	// id is what makes a repeat a repeat ("" for drafts that are never
	// repeats, such as those of the journal about itself).
	id     string
	given  bool
	body   object
	digest [sha256.Size]byte
	parts  []Part
}

// Part is an element of an array member that the journal may leave out because
// it already has it: a span of a lineage record.
type Part struct {
	// Key is the repeat key of the part.
	Key [sha256.Size]byte
	Raw []byte
}

// partsMember is the member that holds the parts of a lineage record.
const partsMember = "spans"

// NewReadDraft makes the draft of a read. given says that the application gave
// the read_id, which then has no horizon (contract 3).
func NewReadDraft(r *Read, given bool) (*Draft, error) {
	return newDraft(KindRead, r.ReadID, given, r)
}

// NewJournalDraft makes the draft of a journal record, which is never a repeat.
func NewJournalDraft(j *Journal) (*Draft, error) {
	return newDraft(KindJournal, "", false, j)
}

// NewUnrecordableDraft makes the draft of an item.unrecordable. Its item_id
// makes its redelivery a repeat, as that of a record is.
func NewUnrecordableDraft(h Header, u Unrecordable) (*Draft, error) {
	h.EventType = EventItemUnrecordable
	return newDraft(KindJournal, u.ItemID, false, &Journal{Header: h, Detail: u})
}

// NewLineageDraft makes the draft of a lineage record with at most
// MaxLineageSpans spans of one trace.
func NewLineageDraft(l *Lineage, spans []Span) (*Draft, error) {
	d, err := newDraft(KindLineage, "", false, l)
	if err != nil {
		return nil, err
	}
	if len(spans) > MaxLineageSpans {
		return nil, fmt.Errorf("lineage record has %d spans, more than %d", len(spans), MaxLineageSpans)
	}
	for i := range spans {
		o, err := newObject(&spans[i])
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, newPart(l.Correlation.TraceID, o.raw))
	}
	if d.Size() > maxDraftBytes {
		return nil, ErrTooLarge
	}
	return d, nil
}

func newDraft(kind Kind, id string, given bool, body members) (*Draft, error) {
	o, err := newObject(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	if len(o.raw) > maxDraftBytes {
		return nil, fmt.Errorf("%s: %w", kind, ErrTooLarge)
	}
	return &Draft{kind: kind, id: id, given: given, body: o, digest: sourceDigest(kind, o)}, nil
}

// Kind returns which body the draft is.
func (d *Draft) Kind() Kind { return d.kind }

// ID returns the id by which repeats are known, or "".
func (d *Draft) ID() string { return d.id }

// Given reports whether the application gave the id.
func (d *Draft) Given() bool { return d.given }

// Digest identifies the body apart from what the writer adds: two drafts with
// one id are repeats if their digests are equal, and conflict if not.
func (d *Draft) Digest() [sha256.Size]byte { return d.digest }

// Parts returns the parts that the journal may leave out.
func (d *Draft) Parts() []Part { return d.parts }

// EventID returns the event_id that the application gave, or "".
func (d *Draft) EventID() string {
	raw, found := d.body.get("event_id")
	if !found {
		return ""
	}
	id, _ := jsontext.AppendUnquote(nil, raw)
	return string(id)
}

// Size returns the bytes of the body before the writer completes it.
func (d *Draft) Size() int {
	size := len(d.body.raw)
	for _, p := range d.parts {
		size += len(p.Raw) + len(`,`)
	}
	return size
}

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

// Complete returns the body as canonical bytes with the writer's members in
// their places. It cannot fail: every value was checked before.
func (d *Draft) Complete(c Completion) []byte {
	recordedAt := quoted(c.RecordedAt.String())
	own := []member{
		{"event_id", quoted(c.EventID)},
		{"journal_id", quoted(c.JournalID)},
		{"observed_by", d.observedBy(c.CollectorID)},
		{"occurred_at", recordedAt},
		{"recorded_at", recordedAt},
		{"scope", c.Scope.canonical()},
		{"sequence", strconv.AppendUint(nil, c.Sequence, 10)},
	}
	if c.ConflictsWith != "" {
		own = append(own, member{"conflicts_with", quoted(c.ConflictsWith)})
	}
	if len(d.parts) > 0 {
		own = append(own, member{partsMember, joinParts(c.Parts)})
	}
	return d.merge(own)
}

// merge lays the writer's members among the source's. The source's occurred_at
// wins; observed_by is the writer's, which contains the source's, and so is
// event_id, which the writer may have to change.
func (d *Draft) merge(own []member) []byte {
	all := make([]member, 0, len(own)+len(d.body.members))
	for _, p := range d.body.members {
		all = append(all, member{p.name, d.body.value(p)})
	}
	for _, m := range own {
		i, found := slices.BinarySearchFunc(all, m.name, func(m member, name string) int { return strings.Compare(m.name, name) })
		switch {
		case !found:
			all = slices.Insert(all, i, m)
		case m.name != "occurred_at":
			all[i] = m
		}
	}
	return joined(all)
}

const collectorMember = "collector_id"

// observedBy puts collector_id first, where RFC 8785 wants it: it sorts before
// every other member of observed_by.
func (d *Draft) observedBy(collectorID string) []byte {
	out := append([]byte(`{"`+collectorMember+`":`), quoted(collectorID)...)
	source, found := d.body.get("observed_by")
	if !found {
		return append(out, '}')
	}
	return append(append(out, ','), source[1:]...)
}

// canonical spells a scope; its members are already in RFC 8785 order by name.
func (s Scope) canonical() []byte {
	out := append([]byte(`{"environment":`), quoted(s.Environment)...)
	if s.LegalHold {
		out = append(out, `,"legal_hold":true`...)
	}
	out = append(append(out, `,"organization_ref":`...), quoted(s.OrganizationRef)...)
	if s.Region != "" {
		out = append(append(out, `,"region":`...), quoted(s.Region)...)
	}
	out = append(append(out, `,"retention_class":`...), quoted(s.RetentionClass)...)
	return append(out, '}')
}

func joinParts(parts []Part) []byte {
	out := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, p.Raw...)
	}
	return append(out, ']')
}

// quoted spells a string as RFC 8785 does. Invalid UTF-8 cannot reach it: ids
// are checked and configuration is YAML.
func quoted(s string) []byte {
	out, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return []byte(`""`)
	}
	return out
}
