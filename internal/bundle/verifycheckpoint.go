// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// journalCheck checks the artifacts of one journal, which come in the order of
// their names: checkpoints by size, then entries by sequence.
type journalCheck struct {
	v       *verifier
	element string
	listed  *Journal

	// held is the checkpoint whose artifacts come.
	held heldCheckpoint
	all  *journal.Checkpoints
	// anchor is the checkpoint to which the proofs lead, once it was found; its own key
	// is judged at the end.
	anchor *journal.SignedCheckpoint
	// checkpoints counts those that are kept.
	checkpoints int
	// untrusted says that no trusted key stands behind the checkpoint of the proofs, so
	// that a proof shows nothing.
	untrusted bool
	// unusable says that the checkpoint of the proofs cannot be used, which was said.
	unusable bool

	entries *journal.EntryVerifier
	at      heldEntry
	passed
}

// heldCheckpoint are the artifacts of one checkpoint.
type heldCheckpoint struct {
	size                 uint64
	name                 string
	note, consistency    []byte
	lost, hasConsistency bool
	tokens               [][]byte
}

func newJournalCheck(v *verifier, element string, listed *Journal) *journalCheck {
	return &journalCheck{v: v, element: element, listed: listed, all: journal.NewCheckpoints(v.trust.Keys, v.trust.Policy)}
}

func (c *journalCheck) find(code journal.Code, name string, sequence uint64, detail string) {
	c.v.report.add(Finding{Code: code, Name: name, JournalID: c.listed.JournalID, Sequence: sequence, Detail: detail})
}

func (c *journalCheck) take(name string, n parsedName, text []byte, usable bool) {
	switch n.kind {
	case kindCheckpoint, kindConsistency, kindToken:
		c.takeCheckpoint(name, n, text, usable)
	default:
		c.beginEntries()
		c.takeEntry(name, n, text, usable)
	}
}

// maxTokens bounds the time stamps of one checkpoint that are kept, and
// maxCheckpoints the checkpoints of one journal beside that of the proofs.
const (
	maxTokens      = 100
	maxCheckpoints = 100_000
)

func (c *journalCheck) takeCheckpoint(name string, n parsedName, text []byte, usable bool) {
	if c.held.size != n.first {
		c.endCheckpoint()
		c.held = heldCheckpoint{size: n.first}
	}
	h := &c.held
	switch n.kind {
	case kindCheckpoint:
		h.name, h.note, h.lost = name, text, !usable
	case kindConsistency:
		h.consistency, h.hasConsistency = text, true
		h.lost = h.lost || !usable
	default:
		if usable && len(h.tokens) < maxTokens {
			h.tokens = append(h.tokens, text)
		}
	}
}

// endCheckpoint judges a checkpoint when all of it is known. One that says nothing
// because a part of it is missing was told of already.
func (c *journalCheck) endCheckpoint() {
	h := &c.held
	if h.size == 0 {
		return
	}
	isAnchor := c.listed.Checkpoint != nil && h.size == c.listed.Checkpoint.Size
	code, detail := journal.Code(""), ""
	if h.lost {
		c.v.checkpoints.open = true
	} else {
		code, detail = c.judgeCheckpoint(isAnchor)
	}
	if code != "" {
		c.v.checkpoints.broken = c.v.checkpoints.broken || code != journal.CodeCheckpointNotPerformed
		c.v.checkpoints.open = true
		name := h.name
		if name == "" || code == journal.CodeArtifactMissing && h.note != nil {
			name = checkpointName(c.listed.JournalID, h.size, checkpointSuffix)
			if h.note != nil {
				name = checkpointName(c.listed.JournalID, h.size, consistencySuffix)
			}
		}
		c.find(code, name, 0, detail)
	}
	c.unusable = c.unusable || isAnchor && c.anchor == nil
	c.held = heldCheckpoint{}
}

func (c *journalCheck) judgeCheckpoint(isAnchor bool) (journal.Code, string) {
	h := &c.held
	if h.note == nil {
		return journal.CodeArtifactMissing, "there is a proof or a time stamp of the checkpoint"
	}
	s, err := journal.ParseCheckpoint(h.note)
	switch {
	case err != nil:
		return journal.CodeNotCanonical, err.Error()
	case s.Origin != c.listed.JournalID:
		return journal.CodeJournalIDMismatch, "the checkpoint is of another journal"
	case s.Size != h.size:
		return journal.CodeCheckpointInconsistent, "the checkpoint has another size than its name says"
	case isAnchor && spell(s.Root) != c.listed.Checkpoint.Root:
		return journal.CodeCheckpointInconsistent, "the checkpoint has another root than the manifest says"
	case isAnchor:
		c.anchor = s
		c.all.Take(s, h.tokens, h.name)
		return "", ""
	case c.checkpoints == maxCheckpoints:
		return journal.CodeCheckpointNotPerformed, "there are more checkpoints than are looked at"
	case !h.hasConsistency:
		return journal.CodeArtifactMissing, "nothing shows that the checkpoint of the proofs continues this one"
	}
	p, err := journal.ParseConsistencyProof(h.consistency)
	if err != nil {
		return journal.CodeNotCanonical, err.Error()
	}
	if !c.isAnchor(p.Checkpoint) || p.Verify(s.Checkpoint) != nil {
		return journal.CodeCheckpointInconsistent, "the checkpoint of the proofs does not continue this one"
	}
	c.all.Take(s, h.tokens, h.name)
	c.checkpoints++
	return "", ""
}

// isAnchor reports whether a checkpoint is the one that the manifest names.
func (c *journalCheck) isAnchor(s *journal.SignedCheckpoint) bool {
	root := c.listed.Checkpoint
	return root != nil && s.Origin == c.listed.JournalID && s.Size == root.Size && spell(s.Root) == root.Root
}

// beginEntries ends the checkpoints.
func (c *journalCheck) beginEntries() {
	if c.entries != nil {
		return
	}
	c.endCheckpoint()
	v := c.v
	if root := c.listed.Checkpoint; root != nil && c.anchor == nil && !c.unusable {
		c.unusable = true
		v.checkpoints.broken = true
		c.find(journal.CodeArtifactMissing, checkpointName(c.listed.JournalID, root.Size, checkpointSuffix), 0, "the manifest names it")
	}
	c.leftOpen()
	entries, findings := journal.NewEntryVerifier(c.listed.JournalID, journal.Options{Registry: v.trust.Keys, Policy: v.trust.Policy, Checkpoints: c.all})
	c.entries = entries
	for _, f := range findings {
		c.said(f)
		c.untrusted = c.untrusted || f.Sequence == 0 || c.anchor != nil && f.Sequence == c.anchor.Size
	}
}

// leftOpen says what the policy demands of the journal and a bundle cannot show.
func (c *journalCheck) leftOpen() {
	j, _ := c.v.trust.Policy.Journal(c.listed.JournalID)
	open := func(code journal.Code, detail string) {
		c.v.report.add(Finding{Code: code, Class: journal.ClassUnchecked, JournalID: c.listed.JournalID, Detail: detail})
	}
	if j.Oldest != nil && (c.anchor == nil || c.anchor.Size != j.Oldest.Size) {
		open(journal.CodeCheckpointNotPerformed, "nothing in a bundle shows that its checkpoint continues the oldest one of the policy; verify the journal")
	}
	if j.FirstSequence > 0 {
		open(journal.CodeFirstLinkUnanchored, "a bundle cannot show where the journal begins, which the policy says; verify the journal")
	}
	if j.LargestGap > 0 {
		open(journal.CodeTimeUnattested, "a bundle is not held against the largest gap of the policy; verify the journal")
	}
}

// said takes a finding about checkpoints or the policy.
func (c *journalCheck) said(f journal.Finding) {
	switch f.Code {
	case journal.CodeCheckpointNotPerformed:
		c.v.checkpoints.open = true
	default:
		c.v.checkpoints.broken = true
	}
	c.v.report.add(Finding{Code: f.Code, Class: f.Class, JournalID: c.listed.JournalID, Sequence: f.Sequence, Detail: f.Detail})
}

// judgeAnchor says whether the key of the checkpoint of the proofs was valid: when
// somebody else attested it or, if nobody did, when the last entry that is there
// was recorded.
func (c *journalCheck) judgeAnchor() {
	v := c.v
	if c.anchor == nil {
		v.checkpoints.open = v.checkpoints.open || c.listed.Checkpoint != nil
		return
	}
	v.checkpoints.made = true
	if v.trust.Keys == nil || c.entries.Attested(c.anchor.Size) || c.recorded.IsZero() {
		return
	}
	if code := v.trust.Keys.JudgeCheckpoint(c.anchor, c.recorded); code != "" && !v.checkpoints.broken {
		v.checkpoints.broken = true
		c.find(code, checkpointName(c.listed.JournalID, c.anchor.Size, checkpointSuffix), 0, fmt.Sprintf("its key was not valid at %s", c.recorded))
	}
}

// passed is what is known of the entries that came before.
type passed struct {
	// entries, omitted and unproven count artifacts, also those that are missing.
	entries, omitted, unproven uint64
	kinds                      map[string]uint64
	incomplete                 bool
	// last is the last sequence that is there or declared, and hash its record hash.
	last uint64
	hash string
	// stretch is the next sequence that a stretch needs.
	stretch uint64
	// edges are recorded_at of the first and the last entry of the stretch.
	edges map[uint64]record.Time
	// recorded is the latest recorded_at of an entry that the checkpoint covers.
	recorded record.Time
}
