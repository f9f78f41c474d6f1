// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"github.com/readtrail/readtrail/journal"
)

// CodeArtifactUnlisted says that a bundle holds what its index does not list
// (docs/adr/0024).
const CodeArtifactUnlisted journal.Code = "artifact_unlisted"

// CodeDoc returns what a code means when a bundle is verified.
func CodeDoc(code journal.Code) journal.CodeDoc {
	for _, d := range codeDocs {
		if d.Code == code {
			return d
		}
	}
	return code.Doc()
}

var codeDocs = []journal.CodeDoc{
	{
		Code: CodeArtifactUnlisted, Class: journal.ClassBroken,
		Meaning: "the bundle holds what its index or its manifest does not list",
		Next:    "ask its maker for the bundle again; somebody added to it after it was signed",
	},
	{
		Code: journal.CodeArtifactMissing, Class: journal.ClassBroken,
		Meaning: "what the index lists is not in the bundle, or what belongs to an entry is not",
		Next:    "ask its maker for the bundle again; somebody took it out after it was signed, or it was made without it",
	},
	{
		Code: journal.CodeArtifactDigestMismatch, Class: journal.ClassBroken,
		Meaning: "an artifact is not the one that the index or the manifest names",
		Next:    "ask its maker for the bundle again; it was changed after it was signed",
	},
	{
		Code: journal.CodeNotCanonical, Class: journal.ClassBroken,
		Meaning: "the bytes are not those that a maker writes",
		Next:    "ask its maker for the bundle again; it was changed or damaged, or packed anew by another program",
	},
}

// Finding is one thing that Verify found. It never holds content.
type Finding struct {
	Code  journal.Code  `json:"code"`
	Class journal.Class `json:"class"`
	// Name is the file in the bundle; empty if it is about all of them.
	Name string `json:"name,omitzero"`
	// JournalID and Sequence are the place in a journal, if there is one.
	JournalID string `json:"journal_id,omitzero"`
	Sequence  uint64 `json:"sequence,omitzero"`
	Detail    string `json:"detail,omitzero"`
}

// Report is what Verify found out about a bundle.
type Report struct {
	// Manifest is what the bundle says of itself, nil if it cannot be read.
	Manifest *Manifest `json:"manifest,omitzero"`
	// ManifestDigest is that of the manifest's file: the name by which others can refer
	// to the bundle.
	ManifestDigest string `json:"manifest_digest,omitzero"`
	ManifestKeyID  string `json:"manifest_key_id,omitzero"`
	// ManifestSignature says whether a trusted key signed the manifest.
	ManifestSignature journal.Check `json:"manifest_signature"`
	// Membership says whether exactly what the index lists is there, Digests whether it
	// is what the index says, and MerkleRoot whether the index is that of the manifest.
	Membership journal.Check `json:"membership"`
	Digests    journal.Check `json:"digests"`
	MerkleRoot journal.Check `json:"merkle_root"`
	// Entries covers form, hash and journal of every entry alone.
	Entries   journal.Check `json:"entries"`
	Signature journal.Check `json:"signature"`
	Schema    journal.Check `json:"schema"`
	// Inclusion says whether every entry, and every entry that is left out by its hash,
	// stands where the checkpoint of its journal says.
	Inclusion   journal.Check `json:"inclusion"`
	Checkpoints journal.Check `json:"checkpoints"`
	// Time says whether somebody else than the writer attests when every entry existed.
	Time journal.Check `json:"time"`
	// Witnessed says whether as many witnesses as the policy demands cosigned.
	Witnessed journal.Check `json:"witnessed"`
	// Omissions says whether what the bundle declares about itself is so.
	Omissions journal.Check `json:"omissions"`
	// Completeness says whether nothing of the selection is missing. It is never
	// performed unless the selection is a stretch of the journals.
	Completeness journal.Check `json:"completeness"`
	// Reconciled is what was compared of audit events, nil if there are none.
	Reconciled *journal.Reconciled `json:"reconciled,omitzero"`
	// EntriesChecked and OmissionsDeclared count artifacts.
	EntriesChecked    uint64 `json:"entries_checked"`
	OmissionsDeclared uint64 `json:"omissions_declared"`
	// Declared are the first omissions that the bundle declares.
	Declared []Declared `json:"declared,omitempty"`
	// FirstBad is the first broken finding.
	FirstBad *Finding `json:"first_bad,omitzero"`
	// Findings holds the first findings of each code; Counts counts all.
	Findings []Finding               `json:"findings"`
	Counts   map[journal.Code]uint64 `json:"counts"`

	unchecked bool
}

// Declared is an omission with its journal.
type Declared struct {
	JournalID string `json:"journal_id"`
	Omission  `json:",inline"`
}

// maxFindings bounds the findings of one code that are kept, and the omissions.
const maxFindings = 100

func (r *Report) add(f Finding) {
	if f.Class == "" {
		f.Class = CodeDoc(f.Code).Class
	}
	r.unchecked = r.unchecked || f.Class == journal.ClassUnchecked
	if f.Class == journal.ClassBroken && r.FirstBad == nil {
		first := f
		r.FirstBad = &first
	}
	r.Counts[f.Code]++
	if r.Counts[f.Code] <= maxFindings {
		r.Findings = append(r.Findings, f)
	}
}

// ExitCode returns the verdict as contract 6 defines it: 0 valid, 1 broken, 2 a
// check that was demanded could not be made.
func (r *Report) ExitCode() int {
	switch {
	case r.FirstBad != nil:
		return 1
	case r.unchecked:
		return 2
	default:
		return 0
	}
}

// check is the outcome of one check over many things: it is valid only if it was
// made on each.
type check struct{ broken, open, made bool }

func (c *check) result() journal.Check {
	switch {
	case c.broken:
		return journal.Failed
	case c.open || !c.made:
		return journal.NotPerformed
	default:
		return journal.Valid
	}
}

// take adds the outcome of one.
func (c *check) take(outcome journal.Check) {
	switch outcome {
	case journal.Failed:
		c.broken = true
	case journal.Valid:
		c.made = true
	default:
		c.open = true
	}
}
