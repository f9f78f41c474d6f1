// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// ParseError says why a line is not an entry. It holds nothing of the line.
type ParseError struct {
	// Code is CodeNotCanonical if the bytes are not those that a writer could
	// have signed, and CodeSchemaInvalid if they are but make no entry.
	Code Code
	err  error
}

func (e *ParseError) Error() string { return string(e.Code) + ": " + e.err.Error() }

// Unwrap returns the reason alone.
func (e *ParseError) Unwrap() error { return e.err }

func notCanonical(err error) error { return &ParseError{CodeNotCanonical, err} }

func tooLong(size int64) *ParseError {
	return &ParseError{CodeNotCanonical, fmt.Errorf("line has %d bytes, more than %d", size, record.MaxEntryBytes)}
}

func notEntry(format string, args ...any) error {
	return &ParseError{CodeSchemaInvalid, fmt.Errorf(format, args...)}
}

var (
	bodyName      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	versionString = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})$`)
)

// ParseLine reads the line of an entry, without its LF, as strictly as contract
// 2 demands: it equals its own RFC 8785 form, so no two lines say the same; its
// numbers are plain integers of at most 2^53-1; it has no duplicate members, no
// invalid UTF-8, at most 1 MiB and 64 levels; it has exactly the three members
// of contract 1, exactly the integrity of contract 4 and, in a body that this
// version knows, every member of Header in its form. It checks neither hash nor
// signature nor schema. Errors are ParseErrors. The entry keeps line, which must
// not be changed afterwards.
func ParseLine(line []byte) (*Entry, error) {
	e, err := parseEntry(line)
	if err != nil {
		return nil, err
	}
	if err := e.checkFixed(); err != nil {
		return nil, err
	}
	if err := e.readFrame(); err != nil {
		return nil, err
	}
	if schema.Supports(e.Kind, e.SchemaVersion) {
		if err := e.readHeader(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// parseEntry reads as much of a line as its hash needs. Nothing else in it is
// judged here, so that bytes that were changed are told from those that were
// signed.
func parseEntry(line []byte) (*Entry, error) {
	if len(line) > record.MaxEntryBytes {
		return nil, tooLong(int64(len(line)))
	}
	if err := checkCanonical(line); err != nil {
		return nil, notCanonical(err)
	}
	members, err := spansOf(line, 0)
	if err != nil {
		return nil, notEntry("line: %w", err)
	}
	if len(members) != 3 {
		return nil, notEntry("entry has %d members, not 3", len(members))
	}
	e := &Entry{Line: line}
	var seen int
	for _, m := range members {
		value := line[m.valueStart:m.stop]
		switch m.name {
		case "integrity":
			seen++
			if err := e.parseIntegrity(value, m.valueStart); err != nil {
				return nil, err
			}
		case "schema_version":
			seen++
			if err := json.Unmarshal(value, &e.SchemaVersion); err != nil || !versionString.MatchString(e.SchemaVersion) {
				return nil, notEntry("schema_version is not a version like %s", record.SchemaVersion)
			}
		default:
			if !bodyName.MatchString(m.name) {
				return nil, notEntry("name of the body is not one that a body can have")
			}
			e.Kind, e.Body = record.Kind(m.name), jsontext.Value(value)
		}
	}
	if seen != 2 {
		return nil, notEntry("entry lacks integrity or schema_version")
	}
	return e, nil
}

// parseIntegrity reads the integrity member, which stands at offset of the line.
func (e *Entry) parseIntegrity(value []byte, offset int) error {
	var integrity struct {
		Integrity
		// Verification has no part in the hash's being right and is judged later.
		Verification jsontext.Value `json:"verification"`
	}
	if err := json.Unmarshal(value, &integrity, json.RejectUnknownMembers(true)); err != nil {
		return notEntry("integrity has not the members of contract 4")
	}
	e.Integrity, e.verification = integrity.Integrity, integrity.Verification
	members, err := spansOf(value, offset)
	if err != nil {
		return notEntry("integrity: %w", err)
	}
	for _, m := range members {
		switch m.name {
		case "previous_event_hash":
			e.previousStands = true
		case "record_hash":
			// Something always follows it, so the comma after it is cut too.
			e.cut.hashStart, e.cut.hashEnd = m.nameStart, m.stop+1
		case "signature":
			signature, err := spansOf(value[m.valueStart-offset:m.stop-offset], m.valueStart)
			if err != nil {
				return notEntry("signature: %w", err)
			}
			if len(signature) == 4 && signature[3].name == "value" {
				e.cut.valueStart, e.cut.valueEnd = signature[3].nameStart-1, signature[3].stop
			}
		}
	}
	if e.cut.hashEnd == 0 || e.cut.valueEnd == 0 {
		return notEntry("integrity lacks record_hash or a member of signature")
	}
	return checkIntegrity(&e.Integrity)
}

// fixedVerification is how every verification member begins: what a writer says
// about it never varies but for its own name (contract 4).
const fixedVerification = `{"failure_codes":[],"status":"` + statusNotPerformed + `","verifier_version":"`

// checkFixed demands what no writer varies, in every body of every version: a
// writer that verified nothing, and a predecessor that is a hash or absent.
func (e *Entry) checkFixed() error {
	v := &e.Integrity.Verification
	if err := json.Unmarshal(e.verification, v, json.RejectUnknownMembers(true)); err != nil ||
		!bytes.HasPrefix(e.verification, []byte(fixedVerification)) || v.VerifierVersion == "" {
		return notEntry("verification is not that of a writer: status %s, no failure_codes, a verifier_version", statusNotPerformed)
	}
	if e.previousStands && e.Integrity.PreviousEventHash == "" {
		return notEntry("previous_event_hash is null or empty, not absent")
	}
	return nil
}

// checkIntegrity demands the one spelling of every value that is not content.
func checkIntegrity(i *Integrity) error {
	if i.Canonicalization != canonicalization || i.HashAlgorithm != hashAlgorithm {
		return notEntry("integrity names a canonicalization or hash algorithm other than %s and %s", canonicalization, hashAlgorithm)
	}
	if i.PreviousEventHash != "" && !isDigest(i.PreviousEventHash) {
		return notCanonical(errors.New("previous_event_hash is not sha256: and 64 lowercase hex digits"))
	}
	if !isDigest(i.RecordHash) {
		return notCanonical(errors.New("record_hash is not sha256: and 64 lowercase hex digits"))
	}
	if id, err := base64.RawURLEncoding.Strict().DecodeString(i.Signature.KeyID); err != nil || len(id) != sha256.Size || len(i.Signature.KeyID) != keyIDLength {
		return notCanonical(errors.New("key_id is not the unpadded base64url of a thumbprint"))
	}
	public, err := decodeBase64(i.Signature.PublicKey)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return notCanonical(errors.New("public_key is not the padded base64 of an Ed25519 key"))
	}
	value, err := decodeBase64(i.Signature.Value)
	if err != nil || i.Signature.Algorithm == signatureAlgorithm && len(value) != ed25519.SignatureSize {
		return notCanonical(errors.New("signature value is not the padded base64 of a signature"))
	}
	return nil
}

// keyIDLength is the length of a thumbprint in base64url; it keeps line breaks
// out, which the decoder skips.
const keyIDLength = (8*sha256.Size + 5) / 6

// decodeBase64 takes the one canonical spelling only: Go's decoder alone would
// skip line breaks.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("base64 has line breaks")
	}
	return base64.StdEncoding.Strict().DecodeString(s)
}

func isDigest(s string) bool {
	digits, found := strings.CutPrefix(s, digestPrefix)
	if !found || len(digits) != 2*sha256.Size || strings.ToLower(digits) != digits {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}
