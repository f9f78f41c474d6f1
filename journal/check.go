// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// checked is what can be said about a line without its neighbors. It holds
// nothing of the line's memory.
type checked struct {
	segment int
	offset  int64
	torn    bool
	// notEntry is set if the line is no entry; of what is below, only the hashes
	// are set then, if it has any.
	notEntry *ParseError

	kind record.Kind
	// eventType is set for a journal_record that this version knows.
	eventType  string
	journalID  string
	sequence   uint64
	recordedAt record.Time
	previous   string
	recordHash string
	// computed is the hash of the payload as it stands in the line.
	computed string
	keyID    string
	// rotatedTo is the key that a journal.key_rotated names.
	rotatedTo string

	schema          Check
	schemaError     string
	signature       Check
	signatureDetail string
	// trusted is set by the neighbors: signature and key are good here.
	trusted bool
}

// eventKeyRotated and eventKeyAccepted bridge a change of keys (contract 4).
const (
	eventKeyRotated  = "journal.key_rotated"
	eventKeyAccepted = "journal.key_accepted"
)

// checkLine judges one line. The result has no place yet.
func checkLine(line []byte, registry *Registry) checked {
	e, err := parseEntry(line)
	if err != nil {
		return checked{notEntry: parseErrorOf(err)}
	}
	// Bytes that are not those that were hashed say nothing about the writer, so
	// the hash is judged before anything that they say.
	frameErr := e.readFrame()
	digest := e.PayloadDigest()
	c := checked{
		kind: e.Kind, journalID: e.Header.JournalID, sequence: e.Header.Sequence, recordedAt: e.Header.RecordedAt,
		previous: e.Integrity.PreviousEventHash, recordHash: e.Integrity.RecordHash,
		computed: SpellHash(digest), keyID: e.Integrity.Signature.KeyID,
	}
	switch {
	case c.computed != c.recordHash:
		c.schema, c.signature = NotPerformed, Failed
		return c
	case frameErr != nil:
		c.notEntry = parseErrorOf(frameErr)
		return c
	}
	c.signature, c.signatureDetail = checkSignature(e, digest, registry)
	c.schema, c.schemaError = checkSchema(e)
	if e.Kind == record.KindJournal && schema.Supports(e.Kind, e.SchemaVersion) {
		c.eventType, c.rotatedTo = e.readRotation()
	}
	return c
}

func parseErrorOf(err error) *ParseError {
	problem, _ := errors.AsType[*ParseError](err)
	return problem
}

// checkSignature verifies with the registry's key only. An unknown key is not
// judged here, since the neighbors decide about keys.
func checkSignature(e *Entry, digest [sha256.Size]byte, registry *Registry) (Check, string) {
	s := e.Integrity.Signature
	if registry == nil {
		return NotPerformed, "no key registry was given"
	}
	if s.Algorithm != signatureAlgorithm {
		return NotPerformed, fmt.Sprintf("this version verifies %s only", signatureAlgorithm)
	}
	key, found := registry.Key(s.KeyID)
	if !found {
		return NotPerformed, ""
	}
	public, err := decodeBase64(s.PublicKey)
	if err != nil || !bytes.Equal(public, key.PublicKey) {
		return Failed, "public_key is not the key that key_id names"
	}
	value, err := decodeBase64(s.Value)
	if err != nil || !ed25519.Verify(key.PublicKey, digest[:], value) {
		return Failed, ""
	}
	return Valid, ""
}

// checkSchema judges the form of an entry; of a body that this version does not
// know, what stands in every version.
func checkSchema(e *Entry) (Check, string) {
	if err := e.checkFixed(); err != nil {
		return Failed, parseErrorOf(err).Unwrap().Error()
	}
	err := schema.Validate(e.Kind, e.SchemaVersion, e.Line)
	switch {
	case err == nil:
		return Valid, ""
	case errors.Is(err, schema.ErrUnsupported):
		return NotPerformed, fmt.Sprintf("%s %s", e.Kind, e.SchemaVersion)
	default:
		return Failed, err.Error()
	}
}
