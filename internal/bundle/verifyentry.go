// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"encoding/json/v2"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// heldEntry are the artifacts of one place in a journal.
type heldEntry struct {
	first, last uint64
	name        string
	// lost says that an artifact that would tell more is missing or changed.
	lost bool
	// entry is the one that stands there, omission what is declared instead.
	entry    *journal.Entry
	omission *Omission
	// hash is the record hash, "" if it is not known.
	hash                  string
	sum                   [32]byte
	proof                 []byte
	hasProof, hasUnproven bool
}

func (c *journalCheck) takeEntry(name string, n parsedName, text []byte, usable bool) {
	if c.at.first != n.first || c.at.last != n.last {
		c.endEntry()
		c.at = heldEntry{first: n.first, last: n.last, name: name}
	}
	h := &c.at
	h.lost = h.lost || !usable
	switch n.kind {
	case kindEntry:
		c.passed.entries++
		c.v.report.EntriesChecked++
		c.incomplete = c.incomplete || !usable
		if usable {
			c.judgeEntry(name, n.first, text)
		}
	case kindOmission:
		c.omitted++
		c.v.report.OmissionsDeclared++
		h.omission = c.readOmission(name, n, text, usable)
	case kindUnproven:
		c.unproven++
		h.hasUnproven = true
		c.readOmission(name, n, text, usable)
	case kindProof:
		h.proof, h.hasProof = text, true
	}
}

// judgeEntry checks an entry alone.
func (c *journalCheck) judgeEntry(name string, sequence uint64, text []byte) {
	v := c.v
	line, ok := bytes.CutSuffix(text, []byte("\n"))
	if !ok {
		v.entries.broken = true
		c.find(journal.CodeNotCanonical, name, sequence, "an entry ends with one LF")
		return
	}
	verdict := c.entries.Verify(line)
	for _, f := range verdict.Findings {
		v.report.add(Finding{Code: f.Code, Class: f.Class, Name: name, JournalID: c.listed.JournalID, Sequence: sequence, Detail: f.Detail})
	}
	v.entries.take(verdict.Hash)
	v.signature.take(verdict.Signature)
	v.schema.take(verdict.Schema)
	e := verdict.Entry
	if e == nil || verdict.Hash != journal.Valid {
		return
	}
	if e.Header.Sequence != sequence {
		v.entries.broken = true
		c.find(journal.CodeSequenceDuplicate, name, sequence, fmt.Sprintf("the entry names sequence %d", e.Header.Sequence))
		return
	}
	c.at.entry, c.at.hash, c.at.sum = e, e.Integrity.RecordHash, e.RecordHash()
	v.time.take(attested(verdict.TimeAttested))
	if p := v.trust.Policy; p != nil && p.Quorum > 0 {
		v.witnessed.take(attested(c.entries.Cosigned(sequence)))
	}
	if c.kinds == nil {
		c.kinds = map[string]uint64{}
	}
	if _, named := c.listed.Kinds[string(e.Kind)]; named {
		c.kinds[string(e.Kind)]++
	}
	if e.Header.RecordedAt.Std().After(c.recorded.Std()) && (c.anchor == nil || sequence <= c.anchor.Size) {
		c.recorded = e.Header.RecordedAt
	}
	if e.Kind == record.KindAuditEvent {
		v.named.Collect(line)
	}
	if e.Kind == record.KindRead && schema.Supports(e.Kind, e.SchemaVersion) {
		if r, err := redactionOf(e); err == nil && len(v.redactions) < maxJoined {
			v.redactions[r]++
		}
	}
}

func attested(yes bool) journal.Check {
	if yes {
		return journal.Valid
	}
	return journal.NotPerformed
}

// readOmission reads what is declared; nil if it cannot be read.
func (c *journalCheck) readOmission(name string, n parsedName, text []byte, usable bool) *Omission {
	v := c.v
	if !usable {
		v.omissions.broken = true
		return nil
	}
	var o Omission
	err := json.Unmarshal(text, &o, json.RejectUnknownMembers(true))
	if again, formatErr := canonical(o); err != nil || formatErr != nil || !bytes.Equal(again, text) || !IsReason(o.Reason) {
		v.omissions.broken = true
		c.find(journal.CodeNotCanonical, name, n.first, "it is no omission as a maker declares it")
		return nil
	}
	sum, ok := journal.ParseHash(o.RecordHash)
	switch {
	case o.FirstSequence != n.first || o.LastSequence != n.last,
		o.RecordHash != "" && (!ok || n.first != n.last || n.kind != kindOmission),
		o.RecordHash == "" && n.kind == kindOmission && o.Reason != ReasonPruned:
		v.omissions.broken = true
		c.find(journal.CodeNotCanonical, name, n.first, "it declares something else than its name says")
		return nil
	}
	v.omissions.made = true
	if len(v.report.Declared) < maxFindings {
		v.report.Declared = append(v.report.Declared, Declared{c.listed.JournalID, o})
	}
	if o.RecordHash != "" {
		c.at.hash, c.at.sum = o.RecordHash, sum
	}
	return &o
}

// IsReason reports whether a text can be the reason of an omission: a word in lower case.
func IsReason(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// endEntry judges a place when all of it is known.
func (c *journalCheck) endEntry() {
	h := &c.at
	if h.first == 0 {
		return
	}
	c.judgeProof()
	c.judgePlace()
	c.last, c.hash = h.last, h.hash
	if h.first != h.last {
		c.hash = ""
	}
	c.at = heldEntry{}
}

// judgeProof says whether what stands in a place is in the tree of the checkpoint.
func (c *journalCheck) judgeProof() {
	h, v := &c.at, c.v
	removed := h.omission != nil && h.omission.RecordHash == ""
	switch {
	case removed && !h.hasProof:
		return
	case h.entry == nil && h.omission == nil && !h.lost && h.hash == "" && !h.hasProof && !h.hasUnproven:
		return // what stands there is broken, which was said
	case h.hasUnproven && !h.hasProof:
		v.inclusion.open = true
		c.find(journal.CodeCheckpointNotPerformed, entryName(c.listed.JournalID, h.first, unprovenSuffix), h.first, "no checkpoint covers the entry, so that nothing outside it says that it stood there")
	case h.lost:
		v.inclusion.open = true
	case !h.hasProof:
		v.inclusion.broken = true
		c.find(journal.CodeArtifactMissing, entryName(c.listed.JournalID, h.first, proofSuffix), h.first, "the entry has no proof, and the bundle does not declare that")
	case h.hash == "":
		v.inclusion.open = true
		if h.entry == nil && h.omission == nil && h.name == entryName(c.listed.JournalID, h.first, proofSuffix) {
			c.find(journal.CodeArtifactMissing, entryName(c.listed.JournalID, h.first, entrySuffix), h.first, "there is a proof of it")
		}
	default:
		c.verifyProof()
	}
}

func (c *journalCheck) verifyProof() {
	h, v := &c.at, c.v
	name := entryName(c.listed.JournalID, h.first, proofSuffix)
	p, err := journal.ParseProof(h.proof)
	switch {
	case err != nil:
		v.inclusion.broken = true
		c.find(journal.CodeNotCanonical, name, h.first, err.Error())
	case c.unusable || c.anchor == nil:
		v.inclusion.open = true
		c.find(journal.CodeCheckpointNotPerformed, name, h.first, "the checkpoint of the proofs cannot be used")
	case !c.isAnchor(p.Checkpoint) || p.Index+1 != h.first || p.Verify(h.sum) != nil:
		v.inclusion.broken = true
		c.find(journal.CodeCheckpointInconsistent, name, h.first, "the proof does not lead from what stands there to the checkpoint")
	case c.untrusted:
		v.inclusion.open = true
	default:
		v.inclusion.made = true
	}
}
