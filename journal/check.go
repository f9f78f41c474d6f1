// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

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
	// event is set for a journal_record that this version knows.
	event
	journalID  string
	sequence   uint64
	recordedAt record.Time
	previous   link
	recordHash link
	// computed is the hash of the payload as it stands in the line.
	computed link
	keyID    string
	// audited says that it is an audit event that this version knows.
	audited bool
	// names are what an audit event names that was checked and found good, if they are
	// collected.
	names *names
	// seen is what the line has of what is looked for, nil if nothing.
	seen *sighting
	// readIDs are set if lineage is demanded.
	readIDs []uint64
	// group is set if the signature is that of a group.
	group *groupSignature

	schema          Check
	schemaError     string
	signature       Check
	signatureDetail string
	// covered says that signature and schema were taken as verified before, which only
	// the root of the caller's checkpoint proves.
	covered bool
	// trusted is set by the neighbors: signature and key are good here.
	trusted bool
}

// journalIDOr returns the journal of an entry, which an audit event does not name.
func (c *checked) journalIDOr(v *verifier) string {
	if c == nil || c.journalID == "" {
		return v.report.JournalID
	}
	return c.journalID
}

// eventKeyRotated and eventKeyAccepted bridge a change of keys (contract 4).
const (
	eventKeyRotated  = record.EventKeyRotated
	eventKeyAccepted = record.EventKeyAccepted
)

// checker judges lines one by one. It is not for concurrent use: what one line
// needs of memory serves the next.
type checker struct {
	registry *Registry
	// since is what the caller verified before, nil if nothing.
	since *SignedCheckpoint
	// schemas says whether entries are held against the schemas of their bodies.
	schemas bool
	lineage bool
	// names says whether what audit events name is collected.
	names bool
	// seek is what lines are looked through for, nil if they are to be verified.
	seek *seeker
	// alone says that a line stands in no journal.
	alone bool

	parts parts
	hash  hash.Hash
	// journalID is that of the line before: the same in every line, as a rule.
	journalID string
	// verified is the group that was verified last.
	verified verifiedGroup
}

func newChecker(opt *Options) *checker {
	return &checker{registry: opt.Registry, schemas: !opt.SkipSchema, since: opt.Since, lineage: opt.Policy.Demands(DemandLineage), names: opt.Reconcile != nil && (opt.seek == nil || opt.seek.events), seek: opt.seek, hash: sha256.New()}
}

// check judges one line. The result has no place yet.
func (k *checker) check(line []byte) checked {
	p := &k.parts
	if err := p.read(line, k.registry); err != nil {
		return checked{notEntry: parseErrorOf(err)}
	}
	var seen *sighting
	if k.seek != nil {
		if seen = k.seek.in(p); seen == nil || seen.unknown {
			return checked{seen: seen}
		}
	}
	// Bytes that are not those that were hashed say nothing about the writer, so
	// the hash is judged before anything that they say.
	frame, frameErr := p.readFrame()
	c := checked{
		seen: seen, kind: p.kind, sequence: frame.sequence, recordedAt: frame.recordedAt,
		previous: p.previous, recordHash: p.recordHash, computed: link{set: true},
	}
	k.hash.Reset()
	p.cut.writeTo(k.hash, line)
	k.hash.Sum(c.computed.hash[:0])
	if string(frame.journalID) != k.journalID {
		k.journalID = string(frame.journalID)
	}
	c.journalID = k.journalID
	if c.keyID = ""; p.key != nil {
		c.keyID = p.key.ID
	} else {
		c.keyID = string(p.keyID)
	}
	if string(p.algorithm) == groupAlgorithm {
		c.group = &groupSignature{index: p.group.index, size: p.group.size, signature: p.group.signature}
	}
	switch {
	case c.computed != c.recordHash:
		c.schema, c.signature = NotPerformed, Failed
		return c
	case frameErr != nil:
		c.notEntry = parseErrorOf(frameErr)
		return c
	}
	if k.covers(&c) {
		c.covered, c.signature, c.schema = true, Valid, Valid
	} else {
		c.signature, c.signatureDetail = k.checkSignature(&c.computed.hash)
		c.schema, c.schemaError = k.checkSchema()
	}
	if p.kind == record.KindJournal && schema.Supports(p.kind, p.schemaVersion) {
		c.event = p.readEvent()
	}
	c.audited = p.kind == record.KindAuditEvent && schema.Supports(p.kind, p.schemaVersion)
	if k.names && c.audited && c.signature == Valid && c.schema != Failed {
		c.names = p.names()
	}
	if k.lineage && schema.Supports(p.kind, p.schemaVersion) {
		c.readIDs = p.readIDs()
	}
	return c
}

// covers reports whether the caller verified an entry before, if the journal still
// gives the root of the checkpoint. One that names no journal is never covered.
func (k *checker) covers(c *checked) bool {
	return k.since != nil && c.sequence <= k.since.Size && c.journalID == k.since.Origin && k.parts.key != nil
}

// checkSignature verifies with the registry's key only. An unknown key is not
// judged here, since the neighbors decide about keys.
func (k *checker) checkSignature(digest *[sha256.Size]byte) (Check, string) {
	p := &k.parts
	grouped := string(p.algorithm) == groupAlgorithm
	switch {
	case k.registry == nil:
		return NotPerformed, "no key registry was given"
	case !grouped && string(p.algorithm) != signatureAlgorithm:
		return NotPerformed, fmt.Sprintf("this version verifies %s and %s only", signatureAlgorithm, groupAlgorithm)
	case p.key == nil:
		return NotPerformed, ""
	case string(p.publicKey) != p.keyText:
		return Failed, "public_key is not the key that key_id names"
	case grouped && !k.verifyGroup(digest), !grouped && !ed25519.Verify(p.key.PublicKey, digest[:], p.value):
		return Failed, ""
	default:
		return Valid, ""
	}
}

// verifiedGroup is a group signature that verified: one is enough for all entries
// of the group that lead to the same root.
type verifiedGroup struct {
	key       *Key
	root      [sha256.Size]byte
	signature [ed25519.SignatureSize]byte
}

func (k *checker) verifyGroup(digest *[sha256.Size]byte) bool {
	p := &k.parts
	this := verifiedGroup{p.key, p.group.root(*digest), p.group.signature}
	if this == k.verified {
		return true
	}
	if !ed25519.Verify(p.key.PublicKey, groupMessage(this.root), this.signature[:]) {
		return false
	}
	k.verified = this
	return true
}

// checkSchema judges the form of an entry; of a body that this version does not
// know, what stands in every version.
func (k *checker) checkSchema() (Check, string) {
	p := &k.parts
	if p.kind == record.KindAuditEvent && p.schemaVersion == record.SchemaVersion && string(p.algorithm) == groupAlgorithm {
		return Failed, "an audit_event of this version has a signature of its own"
	}
	fixed := p.checkFixed
	if k.alone && p.kind == record.KindAuditEvent {
		// Its dictionary lets a producer publish what verifying gave; that is the
		// producer's word, and for the schema to judge.
		fixed = p.checkPrevious
	}
	if err := fixed(); err != nil {
		return Failed, parseErrorOf(err).Unwrap().Error()
	}
	if !k.schemas {
		return NotPerformed, ""
	}
	err := schema.Validate(p.kind, p.schemaVersion, p.line)
	switch {
	case err == nil:
		return Valid, ""
	case errors.Is(err, schema.ErrUnsupported):
		return NotPerformed, fmt.Sprintf("%s %s", p.kind, p.schemaVersion)
	default:
		return Failed, err.Error()
	}
}
