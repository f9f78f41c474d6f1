// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/json/v2"
	"errors"
	"strconv"
)

// EventAuditLogReceived is the event type of a record of the OpenTelemetry
// audit-logging draft (OTEP 0267) that a client gave to /v1/audit. It is not the
// audit_event.received of contract 15: that one stands beside an audit_event, and
// this one stands for a record that has no body of its own here (ADR 0029).
const EventAuditLogReceived = "audit_log.received"

// EventAuditLogVerified is the event type of what says that the proof of an earlier
// audit_log.received was checked after all.
const EventAuditLogVerified = "audit_log.verified"

// AuditLog is the detail of audit_log.received. Values stand in clear where they have
// the shape of ids and names, and everything else as digests.
type AuditLog struct {
	// Mapping names the version of the draft's mapping, such as otep-0267/1.
	Mapping   string `json:"mapping"`
	RecordID  Text   `json:"record_id"`
	EventName Text   `json:"event_name"`
	// ObservedAt is when the producer's SDK saw the event, by its own clock.
	ObservedAt    Time       `json:"observed_at"`
	SchemaVersion *Text      `json:"schema_version,omitzero"`
	Actor         AuditParty `json:"actor"`
	Action        Text       `json:"action"`
	// Outcome is success, failure or unknown.
	Outcome string      `json:"outcome"`
	Target  *AuditParty `json:"target,omitzero"`
	Source  *AuditParty `json:"source,omitzero"`
	// PayloadDigest is the draft's integrity hash: the SHA-256 of the record in its
	// canonical form without audit.integrity.* and severity.
	PayloadDigest           string `json:"payload_digest"`
	PayloadCanonicalization string `json:"payload_canonicalization"`
	// PayloadSize is in bytes.
	PayloadSize int64 `json:"payload_size"`
	// Body is absent if the record has none, and Attributes are those that the draft
	// does not name.
	Body       *ContentDigest `json:"body,omitzero"`
	Attributes *ContentDigest `json:"attributes,omitzero"`
	Resource   *ContentDigest `json:"resource,omitzero"`
	// IgnoredFields is how many fields of OTLP this version did not know.
	IgnoredFields int64          `json:"ignored_fields,omitzero"`
	Sequence      *AuditSequence `json:"sequence,omitzero"`
	Integrity     AuditIntegrity `json:"integrity"`
}

// Text is a value in clear or, if it has not the shape of an id or name, its digest.
type Text struct {
	Value                 string `json:"value,omitzero"`
	ValueDigest           string `json:"value_digest,omitzero"`
	ValueCanonicalization string `json:"value_canonicalization,omitzero"`
	ValueSize             int64  `json:"value_size,omitzero"`
}

// Ref is what names the value, in clear or not: a value in clear never begins as a
// digest does.
func (t Text) Ref() string {
	if t.Value != "" {
		return t.Value
	}
	return t.ValueDigest
}

// ContentDigest is what is kept of content: its digest, or why there is none.
type ContentDigest struct {
	Digest           string   `json:"digest,omitzero"`
	Canonicalization string   `json:"canonicalization,omitzero"`
	Size             int64    `json:"size,omitzero"`
	Capture          Captured `json:"capture"`
	// Count is how many attributes there are.
	Count int64 `json:"count,omitzero"`
}

// AuditParty is who or what an audit record names. An actor has both members and one
// of the draft's types: user, service or system.
type AuditParty struct {
	ID   *Text `json:"id,omitzero"`
	Type *Text `json:"type,omitzero"`
}

// AuditSequence is what a record says of its place in its producer's stream, and how
// that fits what the journal has.
type AuditSequence struct {
	StreamID *Text `json:"stream_id,omitzero"`
	// StreamAssumed is the digest of what stands for the stream if the record names
	// none: the instance of the service and who sent it.
	StreamAssumed string `json:"stream_assumed,omitzero"`
	Number        int64  `json:"number,omitzero"`
	// PreviousHash is the integrity hash that the record says the one before has.
	PreviousHash     string     `json:"previous_hash,omitzero"`
	PreviousRecordID *Text      `json:"previous_record_id,omitzero"`
	End              bool       `json:"end,omitzero"`
	Check            ChainCheck `json:"check"`
	// Problems are tokens that say what is broken or could not be checked.
	Problems []string `json:"problems,omitzero"`
}

// ChainCheck is what was found of a producer's chain when its record came.
type ChainCheck string

// The results of a look at a producer's chain.
const (
	ChainGenesis    ChainCheck = "genesis"
	ChainContinues  ChainCheck = "continues"
	ChainBroken     ChainCheck = "broken"
	ChainNotChecked ChainCheck = "not_checked"
)

// stream names the stream of a record, "" if there is none.
func (s *AuditSequence) stream() string {
	if s.StreamID != nil {
		return s.StreamID.Ref()
	}
	return s.StreamAssumed
}

// PositionMark is under what the entry at a place of a stream is known.
func (s *AuditSequence) PositionMark(number int64) string {
	return "audit_stream " + s.stream() + " " + strconv.FormatInt(number, 10)
}

// EndMark is under what the entry is known that says that its stream ends.
func (s *AuditSequence) EndMark() string { return "audit_stream " + s.stream() + " end" }

// AuditIntegrity is what was found of the proofs that a record came with.
type AuditIntegrity struct {
	// Signer is always collector: the proof of this entry is the journal's own, and
	// what came with the record stands under Proofs.
	Signer string       `json:"signer"`
	Status ProofStatus  `json:"status"`
	Reason string       `json:"reason,omitzero"`
	Proofs []AuditProof `json:"proofs,omitzero"`
	// Transition is there if the record hands over to another key.
	Transition *AuditTransition `json:"transition,omitzero"`
}

// ProofStatus says whether a proof holds. One that does not hold has no entry.
type ProofStatus string

// The results of the check of a proof.
const (
	ProofPassed       ProofStatus = "passed"
	ProofNotPerformed ProofStatus = "not_performed"
)

// AuditProof is a signature or MAC that a record came with.
type AuditProof struct {
	// Attribute is the name of the attribute that holds it.
	Attribute string `json:"attribute"`
	// Signer is producer or collector.
	Signer string `json:"signer"`
	// Algorithm is the name of the draft (JWA), absent if it is none of those that
	// are known here.
	Algorithm string `json:"algorithm,omitzero"`
	// Value is base64; ValueDigest stands for what is no such proof by its length.
	Value       string      `json:"value,omitzero"`
	ValueDigest string      `json:"value_digest,omitzero"`
	Key         AuditKey    `json:"key"`
	Status      ProofStatus `json:"status"`
	Reason      string      `json:"reason,omitzero"`
	// VerifiedBy is the id of the key that is trusted here and fits.
	VerifiedBy string `json:"verified_by,omitzero"`
	// Form is the spelling of the record that was signed: data_model or otlp_json.
	Form string `json:"form,omitzero"`
}

// AuditKey is how a record refers to the key of its proof. That proves nothing about
// whose key it is.
type AuditKey struct {
	// Form is certificate, fingerprint, reference or none.
	Form string `json:"form"`
	// Ref is the reference; for a certificate the SHA-256 of its DER.
	Ref *Text `json:"ref,omitzero"`
}

// AuditTransition is what a key transition record says of the incoming key.
type AuditTransition struct {
	Proof AuditProof `json:"proof"`
}

// AuditLogVerified is the detail of audit_log.verified.
type AuditLogVerified struct {
	RecordID Text `json:"record_id"`
	// EntryID is the event_id of the audit_log.received.
	EntryID   string         `json:"entry_id"`
	Integrity AuditIntegrity `json:"integrity"`
}

// NewAuditLogDraft makes the draft of an audit_log.received. A repeat has the same
// record id and the same payload, whatever else differs: the draft of the OpenTelemetry
// project says so, and signatures by ECDSA differ each time.
func NewAuditLogDraft(h Header, a *AuditLog) (*Draft, error) {
	h.EventType = EventAuditLogReceived
	d, err := newAuditLogDraft(h, a, AuditLogID(a.RecordID), a.PayloadDigest)
	if err == nil {
		d.marks = a.Sequence.marks()
	}
	return d, err
}

// NewAuditLogVerifiedDraft makes the draft of an audit_log.verified, of which there
// is one for each record.
func NewAuditLogVerifiedDraft(h Header, v *AuditLogVerified) (*Draft, error) {
	h.EventType = EventAuditLogVerified
	return newAuditLogDraft(h, v, AuditLogVerifiedID(v.RecordID), v.EntryID)
}

func newAuditLogDraft(h Header, detail any, id, same string) (*Draft, error) {
	d, err := newDraft(KindJournal, id, true, &Journal{Header: h, Detail: detail})
	if err != nil {
		return nil, err
	}
	d.actions, d.digest = true, sha256.Sum256([]byte(same))
	return d, nil
}

// AuditLogID is the id under which repeats of a record are known. It has a blank, so
// that it is the id of nothing else.
func AuditLogID(recordID Text) string { return "audit_log " + recordID.Ref() }

// AuditLogVerifiedID is the id under which the later check of a record is known.
func AuditLogVerifiedID(recordID Text) string { return "audit_log_verified " + recordID.Ref() }

// ReadAuditLog reads the detail of a stored audit_log.received. It returns nil for a
// body of another event type.
func ReadAuditLog(body []byte) (*AuditLog, error) {
	var stored struct {
		EventType string   `json:"event_type"`
		Detail    AuditLog `json:"detail"`
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, err
	}
	if stored.EventType != EventAuditLogReceived {
		return nil, nil
	}
	return &stored.Detail, nil
}

var errAuditLog = errors.New("entry of an audit log lacks its record id")

// auditLogRepeat reads what makes an entry a repeat, if it is one of an audit log.
func auditLogRepeat(eventType string, body []byte) (r Repeat, isOne bool, err error) {
	if eventType != EventAuditLogReceived && eventType != EventAuditLogVerified {
		return r, false, nil
	}
	var stored struct {
		Detail struct {
			RecordID      Text           `json:"record_id"`
			PayloadDigest string         `json:"payload_digest"`
			EntryID       string         `json:"entry_id"`
			Sequence      *AuditSequence `json:"sequence"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return r, true, err
	}
	d := stored.Detail
	if d.RecordID.Ref() == "" {
		return r, true, errAuditLog
	}
	r.ID, r.Given, r.Digest, r.Marks = AuditLogID(d.RecordID), true, sha256.Sum256([]byte(d.PayloadDigest)), d.Sequence.marks()
	if eventType == EventAuditLogVerified {
		r.ID, r.Digest = AuditLogVerifiedID(d.RecordID), sha256.Sum256([]byte(d.EntryID))
	}
	return r, true, nil
}

// marks are what else the entry of a record is looked up by: its place in its producer's
// stream, and the end of that.
func (s *AuditSequence) marks() (marks []string) {
	if s == nil || s.stream() == "" {
		return nil
	}
	if s.Number > 0 {
		marks = append(marks, s.PositionMark(s.Number))
	}
	if s.End {
		marks = append(marks, s.EndMark())
	}
	return marks
}

// ReadAuditLogVerified reads what a stored audit_log.verified says of the proofs.
func ReadAuditLogVerified(body []byte) (*AuditIntegrity, error) {
	var stored struct {
		Detail AuditLogVerified `json:"detail"`
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, err
	}
	return &stored.Detail.Integrity, nil
}
