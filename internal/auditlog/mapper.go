// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// Mapper makes of records what stands in the journal.
type Mapper struct {
	// Key digests content; nil digests without a key.
	Key *content.Key
	// Trust is whose proofs are believed; nil is nobody.
	Trust *Trust
	// ClockTolerance is how far ahead of ours a producer's clock may be.
	ClockTolerance time.Duration
}

func (m *Mapper) key() *content.Key {
	if m.Key == nil {
		return content.Plain
	}
	return m.Key
}

// mapped is a record and what stands in the journal for it.
type mapped struct {
	// id is the audit.record.id as the client gave it.
	id     string
	header record.Header
	log    record.AuditLog
}

// hash is the draft's integrity hash.
func (m *mapped) hash() string { return strings.TrimPrefix(m.log.PayloadDigest, "sha256:") }

// mapRecord maps one record. source is the upstream_context_source of contract 1.
func (m *Mapper) mapRecord(rec *otlp.Record, source string, now time.Time) (*mapped, *Problem) {
	f, p := m.read(rec, now)
	if p != nil {
		return &mapped{id: idIfThere(rec)}, p
	}
	id, _ := f.text(attrRecordID)
	out := &mapped{id: id}
	payload, err := canonical(rec, formDataModel)
	if err != nil {
		return out, invalid("not_canonical", rec.Pointer, "the record has no canonical form")
	}
	claims, p := f.claims()
	if p != nil {
		return out, p
	}
	v := verifier{trust: m.Trust, now: now, at: rec.Pointer, message: func(spelling form) ([]byte, error) {
		if spelling == formDataModel {
			return payload, nil
		}
		return canonical(rec, spelling)
	}}
	integrity, p := v.verify(claims)
	if p != nil {
		return out, p
	}
	out.header = f.header(source)
	out.log = record.AuditLog{
		Mapping:       MappingVersion,
		RecordID:      idOf(id),
		EventName:     m.textOf(rec.EventName, record.ValidGivenID),
		ObservedAt:    record.TimeFromUnixNano(rec.Observed),
		SchemaVersion: m.optional(f, attrSchemaVersion, validPlace),
		Actor:         *m.party(f, attrActorID, attrActorType),
		Action:        *m.optional(f, attrAction, record.ValidGivenID),
		Target:        m.party(f, attrTargetID, attrTargetType),
		Source:        m.party(f, attrSourceID, attrSourceType),
		PayloadDigest: "sha256:" + integrityHash(payload), PayloadCanonicalization: "jcs", PayloadSize: int64(len(payload)),
		IgnoredFields: int64(rec.Ignored),
		Sequence:      f.sequence(source),
		Integrity:     integrity,
	}
	out.log.Outcome, _ = f.text(attrOutcome)
	if rec.Body != nil {
		out.log.Body = m.digestOf(rec.Body)
	}
	out.log.Attributes = m.others(&rec.Attributes, func(name string) bool { _, known := attributeNamed(name); return known })
	out.log.Resource = m.others(rec.Resource, func(name string) bool { return name == resourceAlgorithm || name == resourceCertificate })
	return out, nil
}

// idIfThere returns the id of a record that is wrong, if it can stand in an answer.
func idIfThere(rec *otlp.Record) string {
	if v := rec.Attributes.Get(attrRecordID); v != nil && v.Kind() == content.KindString && isEchoed(v.Str()) && !holdsSecret(v.Str()) {
		return v.Str()
	}
	return ""
}

func (m *Mapper) optional(f *fields, name string, shape func(string) bool) *record.Text {
	s, given := f.text(name)
	if !given {
		return nil
	}
	t := m.textOf(s, shape)
	return &t
}

func (m *Mapper) party(f *fields, id, kind string) *record.AuditParty {
	p := &record.AuditParty{ID: m.optional(f, id, validPlace), Type: m.optional(f, kind, record.ValidGivenID)}
	if p.ID == nil && p.Type == nil {
		return nil
	}
	return p
}

// others digests what is left of a map, as one: the digest of one short value would
// be easy to guess.
func (m *Mapper) others(all *otlp.Value, known func(string) bool) *record.ContentDigest {
	rest := all.Without(known)
	if rest.Len() == 0 {
		return nil
	}
	d := m.digestOf(rest)
	d.Count = int64(rest.Len())
	return d
}

// header says when it happened, and which execution it belongs to.
func (f *fields) header(source string) record.Header {
	h := record.Header{
		OccurredAt:  record.TimeFromUnixNano(f.rec.Timestamp),
		Correlation: record.Correlation{TraceID: record.HexTraceID(f.rec.TraceID), SpanID: record.HexSpanID(f.rec.SpanID)},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: source, Signal: record.SignalLog, Dialect: Dialect},
	}
	if v := f.rec.Attributes.Get(attrExecution); v != nil && v.Kind() == content.KindString && record.ValidGivenID(v.Str()) && !holdsSecret(v.Str()) {
		h.Correlation.ExecutionID = v.Str()
	} else if h.Correlation.TraceID != "" {
		h.Correlation.ExecutionID = record.TraceExecution(h.Correlation.TraceID)
	}
	return h
}

// sequence is what the record says of its stream, nil if it says nothing.
func (f *fields) sequence(source string) *record.AuditSequence {
	var s record.AuditSequence
	if v := f.values[attrNumber]; v != nil {
		s.Number = v.Int()
	}
	if hash, given := f.text(attrPreviousHash); given {
		digits, _ := parseHash(hash)
		s.PreviousHash = "sha256:" + digits
	}
	if id, given := f.text(attrPreviousRecordID); given {
		t := idOf(id)
		s.PreviousRecordID = &t
	}
	if v := f.values[attrEnd]; v != nil {
		s.End = v.Bool()
	}
	id, named := f.text(attrStreamID)
	if s.Number == 0 && s.PreviousHash == "" && s.PreviousRecordID == nil && !s.End && !named {
		return nil
	}
	if named {
		t := idOf(id)
		s.StreamID = &t
	} else {
		// The draft's stand-in: the instance of the service, and who sent it.
		sum := sha256.Sum256([]byte(f.ofResource(resourceInstance) + "\n" + source))
		s.StreamAssumed = "sha256:" + hex.EncodeToString(sum[:])
	}
	return &s
}
