// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
)

// sealed is the integrity member of an entry as it stands in its line.
type sealed struct {
	canonicalization, hashAlgorithm []byte
	// previous is not set if there is no previous_event_hash, or one that is null or
	// empty; previousStands says that there is one.
	previous       link
	previousStands bool
	recordHash     link
	algorithm      []byte
	keyID          []byte
	publicKey      []byte
	// value is decoded; group is set if it is that of a group.
	value []byte
	group groupSignature
	// verification is the member of that name, nil if there is none.
	verification []byte
	cut          payloadCut
	// key is the registry's, nil if it has none of this id.
	key *Key
	// keyText is how an entry must spell it.
	keyText string
}

// read reads the integrity member, the one at an index of the outline.
func (s *sealed) read(o *outline, at int, registry *Registry) error {
	*s = sealed{}
	var previous, recordHash []byte
	members := o.within(at)
	for i := range members {
		m := &members[i]
		if m.level != members[0].level {
			continue
		}
		value, is := stringOf(o.text(m))
		switch string(o.name(m)) {
		case "canonicalization":
			s.canonicalization = value
		case "hash_algorithm":
			s.hashAlgorithm = value
		case "previous_event_hash":
			// What is null here is said to be so when the hash is known to be right.
			is = is || string(o.text(m)) == "null"
			previous, s.previousStands = value, true
		case "record_hash":
			// Something always follows it, so the comma after it is cut too.
			recordHash = value
			s.cut.hashStart, s.cut.hashEnd = int(m.start), int(m.stop)+1
		case "signature":
			is = s.readSignature(o, at+1+i)
		case "verification":
			s.verification, is = o.text(m), true
		default:
			is = false
		}
		if !is {
			return notEntry("integrity has not the members of contract 4")
		}
	}
	if s.cut.hashEnd == 0 || s.cut.valueEnd == 0 {
		return notEntry("integrity lacks record_hash or a member of signature")
	}
	return s.check(previous, recordHash, registry)
}

// readSignature reports whether the signature member has no other members than
// those of contract 4, all strings.
func (s *sealed) readSignature(o *outline, at int) bool {
	members := o.within(at)
	for i := range members {
		m := &members[i]
		value, is := stringOf(o.text(m))
		if !is {
			return false
		}
		switch string(o.name(m)) {
		case "algorithm":
			s.algorithm = value
		case "key_id":
			s.keyID = value
		case "public_key":
			s.publicKey = value
		case "value":
			s.value = value
			if len(members) == 4 {
				s.cut.valueStart, s.cut.valueEnd = int(m.start)-1, int(m.stop)
			}
		default:
			return false
		}
	}
	return len(members) > 0
}

// check demands the one spelling of every value that is not content.
func (s *sealed) check(previous, recordHash []byte, registry *Registry) error {
	if string(s.canonicalization) != canonicalization || string(s.hashAlgorithm) != hashAlgorithm {
		return notEntry("integrity names a canonicalization or hash algorithm other than %s and %s", canonicalization, hashAlgorithm)
	}
	var ok bool
	if len(previous) > 0 {
		if s.previous, ok = parseLink(previous); !ok {
			return notCanonical(errors.New("previous_event_hash is not sha256: and 64 lowercase hex digits"))
		}
	}
	if s.recordHash, ok = parseLink(recordHash); !ok {
		return notCanonical(errors.New("record_hash is not sha256: and 64 lowercase hex digits"))
	}
	s.key, s.keyText = registry.find(s.keyID)
	if s.key == nil {
		if err := checkKeyText(string(s.keyID)); err != nil {
			return err
		}
	}
	if s.key == nil || string(s.publicKey) != s.keyText {
		if public, err := decodeBase64(s.publicKey); err != nil || len(public) != ed25519.PublicKeySize {
			return notCanonical(errors.New("public_key is not the padded base64 of an Ed25519 key"))
		}
	}
	value, err := decodeBase64(s.value)
	switch {
	case err != nil || string(s.algorithm) == signatureAlgorithm && len(value) != ed25519.SignatureSize:
		return notCanonical(errors.New("signature value is not the padded base64 of a signature"))
	case string(s.algorithm) == groupAlgorithm:
		if s.group, err = parseGroupSignature(value); err != nil {
			return notCanonical(err)
		}
	}
	s.value = value
	return nil
}

func checkKeyText(id string) error {
	if sum, err := base64.RawURLEncoding.Strict().DecodeString(id); err != nil || len(sum) != sha256.Size || len(id) != keyIDLength {
		return notCanonical(errors.New("key_id is not the unpadded base64url of a thumbprint"))
	}
	return nil
}

// fixedVerification is how every verification member begins: what a writer says
// about it never varies but for its own name (contract 4).
const fixedVerification = `{"failure_codes":[],"status":"` + statusNotPerformed + `","verifier_version":"`

// checkFixed demands what no writer varies, in every body of every version: a
// writer that verified nothing, and a predecessor that is a hash or absent.
func (s *sealed) checkFixed() error {
	rest, found := bytes.CutPrefix(s.verification, []byte(fixedVerification))
	// The name ends at the first quote that is no part of an escape, and so does the
	// object: no member sorts behind verifier_version that an object of three has.
	if !found || !isEndOfVersion(rest) {
		return notEntry("verification is not that of a writer: status %s, no failure_codes, a verifier_version", statusNotPerformed)
	}
	return s.checkPrevious()
}

// checkPrevious demands a predecessor that is a hash or absent.
func (s *sealed) checkPrevious() error {
	if s.previousStands && !s.previous.set {
		return notEntry("previous_event_hash is null or empty, not absent")
	}
	return nil
}

// isEndOfVersion reports whether a canonical object ends with a name that is not
// empty, whose first byte rest begins with.
func isEndOfVersion(rest []byte) bool {
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			return i > 0 && string(rest[i:]) == `"}`
		}
	}
	return false
}

// integrity returns the member with its own memory.
func (s *sealed) integrity() Integrity {
	i := Integrity{
		Canonicalization: canonicalization, HashAlgorithm: hashAlgorithm,
		PreviousEventHash: s.previous.String(), RecordHash: s.recordHash.String(),
		Signature: Signature{
			Algorithm: string(s.algorithm), KeyID: string(s.keyID), PublicKey: string(s.publicKey),
			Value: base64.StdEncoding.EncodeToString(s.value),
		},
	}
	// Its form was checked.
	_ = json.Unmarshal(jsontext.Value(s.verification), &i.Verification)
	return i
}

// keyIDLength is the length of a thumbprint in base64url; it keeps line breaks
// out, which the decoder skips.
const keyIDLength = (8*sha256.Size + 5) / 6

// strictBase64 refuses what has bits to spare.
var strictBase64 = base64.StdEncoding.Strict()

// decodeBase64 takes the one canonical spelling only: Go's decoder alone would
// skip line breaks.
func decodeBase64(s []byte) ([]byte, error) {
	if bytes.ContainsAny(s, "\r\n") {
		return nil, errors.New("base64 has line breaks")
	}
	return strictBase64.AppendDecode(make([]byte, 0, ed25519.SignatureSize+2), s)
}
