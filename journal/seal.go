// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
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
	EventID   string `json:"event_id"`
	JournalID string `json:"journal_id,omitzero"`
	Sequence  uint64 `json:"sequence"`
	// RecordHash is "sha256:" and 64 lowercase hex digits.
	RecordHash string `json:"record_hash"`
	KeyID      string `json:"key_id"`
	// Signature is signature.value of the entry, which a strict append gives, and
	// RecordedAt the writer's clock.
	Signature  string      `json:"signature,omitzero"`
	RecordedAt record.Time `json:"recorded_at,omitzero"`
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
	return assemble(kind, schemaVersion, func(dst []byte) []byte { return append(dst, body...) }, len(body), previous, s, false)
}

// AssembleGrouped is Assemble for an entry that SignGroup signs.
func AssembleGrouped(kind record.Kind, schemaVersion string, body []byte, previous string, s Signer) *Unsigned {
	return assemble(kind, schemaVersion, func(dst []byte) []byte { return append(dst, body...) }, len(body), previous, s, true)
}

func assemble(kind record.Kind, schemaVersion string, appendBody func([]byte) []byte, size int, previous string, s Signer, grouped bool) *Unsigned {
	u := &Unsigned{}
	u.lay(make([]byte, 0, size+lineOverhead), kind, schemaVersion, appendBody, previous, s, grouped)
	return u
}

// lineOverhead is more than the members beside the body ever take.
const lineOverhead = 1024 + groupValueLength

// AssembleDraft is Assemble, or AssembleGrouped, of a draft of this version that
// is completed on the way. The line is written to space, which has no length, as
// far as its capacity goes; space must not be used for anything else as long as
// the line is.
func (u *Unsigned) AssembleDraft(space []byte, d *record.Draft, c *record.Completion, previous string, s Signer, grouped bool) {
	u.lay(space, d.Kind(), d.Version(), func(dst []byte) []byte { return d.AppendComplete(dst, c) }, previous, s, grouped)
}

// DraftSpace returns how much space the line of a draft usually takes.
func DraftSpace(d *record.Draft) int { return d.Size() + draftOverhead + lineOverhead }

// draftOverhead is more than completing a draft usually adds.
const draftOverhead = 1024

// lay assembles an entry behind the bytes of line.
func (u *Unsigned) lay(line []byte, kind record.Kind, schemaVersion string, appendBody func([]byte) []byte, previous string, s Signer, grouped bool) {
	*u = Unsigned{line: line, keyID: s.KeyID(), grouped: grouped, hole: valueLength}
	if grouped {
		u.hole = groupValueLength
	}
	u.line = append(u.line, '{')
	bodyFirst := string(kind) < "integrity"
	if bodyFirst {
		u.appendBody(kind, appendBody)
	}
	hashAt, cut := u.appendIntegrity(previous, s.PublicKey())
	if !bodyFirst {
		u.appendBody(kind, appendBody)
	}
	u.line = append(u.line, `"schema_version":"`...)
	u.line = append(u.line, schemaVersion...)
	u.line = append(u.line, '"', '}')

	u.digest = cut.digest(u.line)
	hex.Encode(u.line[hashAt+len(digestPrefix):], u.digest[:])
	u.line = append(u.line, '\n')
}

func (u *Unsigned) appendBody(kind record.Kind, body func([]byte) []byte) {
	u.line = append(u.line, '"')
	u.line = append(u.line, kind...)
	u.line = append(u.line, '"', ':')
	u.line = append(body(u.line), ',')
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

// appendHole leaves room for n bytes, whatever stands there.
func appendHole(l []byte, n int) []byte {
	for n > len(blank) {
		l, n = append(l, blank...), n-len(blank)
	}
	return append(l, blank[:n]...)
}

const blank = "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"

// Digest returns the bytes of the record hash.
func (u *Unsigned) Digest() [sha256.Size]byte { return u.digest }

// RecordHash returns the entry's record hash.
func (u *Unsigned) RecordHash() string { return SpellHash(u.digest) }

// SignatureIn returns signature.value of the line that Sign or SignedGroup.Line
// returned.
func (u *Unsigned) SignatureIn(line []byte) string {
	value, _, _ := bytes.Cut(line[u.valueAt:], []byte{'"'})
	return string(value)
}

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
