// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/record"
)

// Receipt says where a record stands in a journal.
type Receipt struct {
	EventID  string `json:"event_id"`
	Sequence uint64 `json:"sequence"`
	// RecordHash is "sha256:" and 64 lowercase hex digits.
	RecordHash string `json:"record_hash"`
	KeyID      string `json:"key_id"`
	// Repeat says that the record was there already (contract 3).
	Repeat bool `json:"repeat,omitzero"`
}

// Lengths of what stands in the two members that the payload leaves out. A group
// signature is as long as its path.
const (
	recordHashLength = len(digestPrefix) + 2*sha256.Size
	valueLength      = (ed25519.SignatureSize + 2) / 3 * 4
	groupValueLength = (groupHeadBytes + maxGroupPath*sha256.Size + ed25519.SignatureSize + 2) / 3 * 4
)

// Unsigned is an entry that is hashed but not yet signed: the line with a hole
// where the signature goes. Hashing is serial, since the next entry names the
// hash; signing is not.
type Unsigned struct {
	line    []byte
	digest  [sha256.Size]byte
	keyID   string
	grouped bool
	// valueAt is where the hole begins, of hole bytes.
	valueAt, hole int
}

// Assemble lays a canonical body and its integrity into the line of an entry
// and hashes it. The body must be canonical, as record.Draft.Complete gives it.
// Previous is the record hash of the entry before, "" only for the first one.
func Assemble(kind record.Kind, schemaVersion string, body []byte, previous string, s Signer) *Unsigned {
	return assemble(&Unsigned{hole: valueLength}, kind, schemaVersion, body, previous, s)
}

// AssembleGrouped is Assemble for an entry that SignGroup signs.
func AssembleGrouped(kind record.Kind, schemaVersion string, body []byte, previous string, s Signer) *Unsigned {
	return assemble(&Unsigned{hole: groupValueLength, grouped: true}, kind, schemaVersion, body, previous, s)
}

func assemble(u *Unsigned, kind record.Kind, schemaVersion string, body []byte, previous string, s Signer) *Unsigned {
	const overhead = 1024 // more than the members beside body and signature ever take
	u.line, u.keyID = make([]byte, 0, len(body)+overhead+u.hole), s.KeyID()
	u.line = append(u.line, '{')
	bodyFirst := string(kind) < "integrity"
	if bodyFirst {
		u.appendBody(kind, body)
	}
	hashAt, cut := u.appendIntegrity(previous, s.PublicKey())
	if !bodyFirst {
		u.appendBody(kind, body)
	}
	u.line = append(u.line, `"schema_version":"`...)
	u.line = append(u.line, schemaVersion...)
	u.line = append(u.line, '"', '}')

	u.digest = cut.digest(u.line)
	hex.Encode(u.line[hashAt+len(digestPrefix):], u.digest[:])
	u.line = append(u.line, '\n')
	return u
}

func (u *Unsigned) appendBody(kind record.Kind, body []byte) {
	u.line = append(u.line, '"')
	u.line = append(u.line, kind...)
	u.line = append(u.line, '"', ':')
	u.line = append(u.line, body...)
	u.line = append(u.line, ',')
}

// appendIntegrity writes the integrity member with holes for the record hash,
// at hashAt, and the signature.
func (u *Unsigned) appendIntegrity(previous string, public ed25519.PublicKey) (hashAt int, cut payloadCut) {
	l := append(u.line, `"integrity":{"canonicalization":"`+canonicalization+`","hash_algorithm":"`+hashAlgorithm+`",`...)
	if previous != "" {
		l = append(l, `"previous_event_hash":"`...)
		l = append(l, previous...)
		l = append(l, '"', ',')
	}
	cut.hashStart = len(l)
	l = append(l, `"record_hash":"`+digestPrefix...)
	hashAt = len(l) - len(digestPrefix)
	l = appendHole(l, recordHashLength-len(digestPrefix))
	l = append(l, '"', ',')
	cut.hashEnd = len(l)
	l = append(l, `"signature":{"algorithm":"`...)
	l = append(l, u.algorithm()...)
	l = append(l, `","key_id":"`...)
	l = append(l, u.keyID...)
	l = append(l, `","public_key":"`...)
	l = base64.StdEncoding.AppendEncode(l, public)
	l = append(l, '"')
	cut.valueStart = len(l)
	l = append(l, `,"value":"`...)
	u.valueAt = len(l)
	l = appendHole(l, u.hole)
	l = append(l, '"')
	cut.valueEnd = len(l)
	l = append(l, `},"verification":{"failure_codes":[],"status":"`+statusNotPerformed+`","verifier_version":"`+VerifierVersion+`"}},`...)
	u.line = l
	return hashAt, cut
}

func appendHole(l []byte, n int) []byte {
	for range n {
		l = append(l, '0')
	}
	return l
}

// Digest returns the bytes of the record hash.
func (u *Unsigned) Digest() [sha256.Size]byte { return u.digest }

// RecordHash returns the entry's record hash.
func (u *Unsigned) RecordHash() string { return SpellHash(u.digest) }

// Size returns the bytes of the line with its LF, at most: a group signature may
// make it shorter.
func (u *Unsigned) Size() int { return len(u.line) }

// Grouped reports whether the entry was assembled for a group signature.
func (u *Unsigned) Grouped() bool { return u.grouped }

func (u *Unsigned) algorithm() string {
	if u.grouped {
		return groupAlgorithm
	}
	return signatureAlgorithm
}

// Sign signs the entry with the signer that Assemble was given and returns the
// line with its LF, which the Unsigned no longer owns. After an error it may be
// called again.
func (u *Unsigned) Sign(s Signer) ([]byte, error) {
	if u.grouped {
		return nil, errors.New("entry assembled for a group cannot have a signature of its own")
	}
	if err := u.checkSigner(s); err != nil {
		return nil, err
	}
	signature, err := signWith(s, u.digest[:])
	if err != nil {
		return nil, err
	}
	return u.fill(signature), nil
}

func (u *Unsigned) checkSigner(s Signer) error {
	if s.KeyID() != u.keyID {
		return fmt.Errorf("entry assembled for key %s cannot be signed by key %s", u.keyID, s.KeyID())
	}
	return nil
}

func signWith(s Signer, message []byte) ([]byte, error) {
	signature, err := s.Sign(message)
	if err != nil {
		return nil, fmt.Errorf("sign with key %s: %w", s.KeyID(), err)
	}
	if len(signature) != ed25519.SignatureSize {
		return nil, fmt.Errorf("sign with key %s: signature has %d bytes, want %d", s.KeyID(), len(signature), ed25519.SignatureSize)
	}
	return signature, nil
}

// fill puts the signature's value into the hole. What of it stays empty is closed
// by moving what stands before it, unless that is longer than what follows.
func (u *Unsigned) fill(value []byte) []byte {
	length := base64.StdEncoding.EncodedLen(len(value))
	end := u.valueAt + u.hole
	begin := end - length
	base64.StdEncoding.Encode(u.line[begin:end], value)
	spare := begin - u.valueAt
	if u.valueAt <= len(u.line)-end {
		copy(u.line[spare:begin], u.line[:u.valueAt])
		return u.line[spare:]
	}
	copy(u.line[u.valueAt:], u.line[begin:])
	return u.line[:len(u.line)-spare]
}
