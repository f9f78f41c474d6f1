// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"encoding/json/jsontext"
	"hash"
	"sync"

	"github.com/readtrail/readtrail/record"
)

// Entry is one line of a journal, parsed. Its bytes are those of the line and
// must not be changed.
type Entry struct {
	// Kind is the name of the body's member; it may be one that this version
	// does not know.
	Kind record.Kind
	// SchemaVersion is the version of the body's schema.
	SchemaVersion string
	// Body is the body as stored.
	Body      jsontext.Value
	Header    EntryHeader
	Integrity Integrity
	// Line is the whole line without its LF.
	Line []byte

	cut payloadCut
}

// Receipt returns what whoever appended the entry was told.
func (e *Entry) Receipt() Receipt {
	s := &e.Integrity.Signature
	return Receipt{
		EventID: e.Header.EventID, JournalID: e.Header.JournalID, Sequence: e.Header.Sequence, RecordHash: e.Integrity.RecordHash,
		KeyID: s.KeyID, Signature: s.Value, RecordedAt: e.Header.RecordedAt,
	}
}

// EntryHeader is what every body begins with (contract 1), as far as reading
// and verifying need it. Of a body whose schema this version does not know
// only JournalID, Sequence and RecordedAt are read.
type EntryHeader struct {
	EventID     string
	EventType   string
	JournalID   string
	Sequence    uint64
	OccurredAt  record.Time
	RecordedAt  record.Time
	Correlation record.Correlation
	Scope       record.Scope
}

// Integrity is the integrity member of an entry (contract 4).
type Integrity struct {
	Canonicalization string `json:"canonicalization"`
	HashAlgorithm    string `json:"hash_algorithm"`
	// PreviousEventHash is the record hash of the line before, "" only for the
	// first entry of a journal.
	PreviousEventHash string       `json:"previous_event_hash,omitzero"`
	RecordHash        string       `json:"record_hash"`
	Signature         Signature    `json:"signature"`
	Verification      Verification `json:"verification"`
}

// Signature is the signature of an entry. A key carried in a record proves
// nothing: only a Registry says which keys are trusted.
type Signature struct {
	Algorithm string `json:"algorithm"`
	// KeyID is the base64url RFC 7638 thumbprint of the key.
	KeyID string `json:"key_id"`
	// PublicKey and Value are in padded standard base64.
	PublicKey string `json:"public_key"`
	Value     string `json:"value"`
}

// Verification is what the writer says about verification: that it did none.
type Verification struct {
	FailureCodes    []string `json:"failure_codes"`
	Status          string   `json:"status"`
	VerifierVersion string   `json:"verifier_version"`
}

// VerifierVersion names this implementation in the entries it writes.
const VerifierVersion = "readtrail/0.1.0"

// The constants of contract 4 as they stand in an entry.
const (
	canonicalization   = "RFC8785"
	hashAlgorithm      = "SHA-256"
	signatureAlgorithm = "Ed25519"
	digestPrefix       = "sha256:"
	statusNotPerformed = "not_performed"
)

// payloadCut says which bytes of a line the signed payload leaves out: the
// members record_hash and signature.value, each with its comma.
type payloadCut struct {
	hashStart, hashEnd   int
	valueStart, valueEnd int
}

// Payload returns the signed payload (contract 4): the stored bytes without
// record_hash and signature.value. They are cut out, never written anew.
func (e *Entry) Payload() []byte {
	out := make([]byte, 0, len(e.Line))
	out = append(out, e.Line[:e.cut.hashStart]...)
	out = append(out, e.Line[e.cut.hashEnd:e.cut.valueStart]...)
	return append(out, e.Line[e.cut.valueEnd:]...)
}

// PayloadDigest returns the SHA-256 of the signed payload: what record_hash
// must say and what the signature covers.
func (e *Entry) PayloadDigest() [sha256.Size]byte { return e.cut.digest(e.Line) }

func (c payloadCut) digest(line []byte) (digest [sha256.Size]byte) {
	h := hashes.Get().(hash.Hash)
	defer hashes.Put(h)
	h.Reset()
	c.writeTo(h, line)
	h.Sum(digest[:0])
	return digest
}

// hashes are states of SHA-256 to use again, so that an entry needs none of its own.
var hashes = sync.Pool{New: func() any { return sha256.New() }}

// writeTo writes the payload of a line to a hash.
func (c payloadCut) writeTo(h hash.Hash, line []byte) {
	h.Write(line[:c.hashStart])
	h.Write(line[c.hashEnd:c.valueStart])
	h.Write(line[c.valueEnd:])
}
