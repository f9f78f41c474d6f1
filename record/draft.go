// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
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
	kind    Kind
	version string
	// actions says that the draft belongs to the journal of actions.
	actions bool
	// id is what makes a repeat a repeat ("" for drafts that are never
	// repeats, such as those of the journal about itself).
	id    string
	given bool
	body  object
	// dated says that the body has an occurred_at.
	dated  bool
	digest [sha256.Size]byte
	parts  []Part
	marks  []string
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
	d, err := newDraft(KindJournal, "", false, j)
	if err == nil {
		d.actions = IsOfActions(j.EventType)
	}
	return d, err
}

// IsOfActions reports whether journal records of an event type belong to the journal of
// actions: those about audit events and records of audit logs, which stand beside what
// they are about.
func IsOfActions(eventType string) bool {
	return strings.HasPrefix(eventType, ActionsEvents) || strings.HasPrefix(eventType, auditLogEvents)
}

// ActionsEvents is what the event types of journal records about audit events begin
// with, and auditLogEvents those of audit logs.
const (
	ActionsEvents  = "audit_event."
	auditLogEvents = "audit_log."
)

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
	return draftOf(kind, SchemaVersion, id, given, o)
}

// NewBodyDraft makes the draft of a decision, an action, an approval, a context or an
// audit event: a Go value whose members are named by json tags, or a jsontext.Value. Of
// these kinds the body must say occurred_at itself, so that a repeat of it is one.
// version is that of its schema, and given says that the application gave its id.
func NewBodyDraft(kind Kind, version string, given bool, body any) (*Draft, error) {
	o, err := objectOf(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	id, err := repeatID(kind, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return draftOf(kind, version, id, given, o)
}

// objectOf returns any body in RFC 8785 form.
func objectOf(body any) (object, error) {
	switch b := body.(type) { // and nothing that has one of them embedded
	case *Action:
		if b != nil {
			return newObject(b)
		}
	case *Approval:
		if b != nil {
			return newObject(b)
		}
	}
	raw, err := json.Marshal(body)
	value := jsontext.Value(raw)
	if err == nil {
		err = value.Canonicalize()
	}
	if err != nil {
		return object{}, err
	}
	return split(value)
}

func draftOf(kind Kind, version, id string, given bool, o object) (*Draft, error) {
	if len(o.raw) > maxDraftBytes {
		return nil, fmt.Errorf("%s: %w", kind, ErrTooLarge)
	}
	_, dated := o.get("occurred_at")
	return &Draft{
		kind: kind, version: version, actions: kind.OfActions(), id: id, given: given, body: o, dated: dated,
		digest: sourceDigest(kind, o),
	}, nil
}

// Kind returns which body the draft is.
func (d *Draft) Kind() Kind { return d.kind }

// Version returns the version of the schema of the body.
func (d *Draft) Version() string { return d.version }

// OfActions reports whether the draft belongs to the journal of actions (contract 7).
func (d *Draft) OfActions() bool { return d.actions }

// Body returns the canonical bytes of the body before the writer completes it, which
// must not be changed.
func (d *Draft) Body() jsontext.Value { return d.body.raw }

// ID returns the id by which repeats are known, or "".
func (d *Draft) ID() string { return d.id }

// Marks returns what else the entry is looked up by; they make no repeats.
func (d *Draft) Marks() []string { return d.marks }

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
