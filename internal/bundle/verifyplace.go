// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// judgePlace holds a place against the one before it.
func (c *journalCheck) judgePlace() {
	h, v := &c.at, c.v
	if h.first <= c.last {
		v.entries.broken = true
		c.find(journal.CodeSequenceDuplicate, h.name, h.first, "two artifacts say what stands there")
		return
	}
	if h.entry != nil && c.last > 0 && h.first == c.last+1 && c.hash != "" && h.entry.Integrity.PreviousEventHash != c.hash {
		v.entries.broken = true
		c.find(journal.CodePreviousHashMismatch, h.name, h.first, "the entry before has "+c.hash+", and this one names "+h.entry.Integrity.PreviousEventHash)
	}
	c.judgeStretch()
}

// judgeStretch finds what is missing in a stretch.
func (c *journalCheck) judgeStretch() {
	h, at := &c.at, c.listed.Range
	if at == nil || h.last < at.FirstSequence || h.first > at.LastSequence {
		return
	}
	next := max(c.stretch, at.FirstSequence)
	if h.first > next {
		c.gap(next, h.first-1)
	}
	c.stretch = h.last + 1
	c.v.completeness.open = c.v.completeness.open || h.lost && h.entry == nil && h.omission == nil
	if h.entry != nil && (h.first == at.FirstSequence || h.last == at.LastSequence) {
		if c.edges == nil {
			c.edges = map[uint64]record.Time{}
		}
		c.edges[h.first] = h.entry.Header.RecordedAt
	}
}

func (c *journalCheck) gap(first, last uint64) {
	c.v.completeness.broken = true
	c.find(journal.CodeSequenceGap, rangeName(c.listed.JournalID, first, last), first,
		fmt.Sprintf("entries %d to %d belong to the selection, and are neither there nor declared as left out", first, last))
}

// end judges what only the end of a journal tells.
func (c *journalCheck) end() {
	c.beginEntries()
	c.endEntry()
	c.judgeAnchor()
	c.judgeCounts()
	c.judgeCompleteness()
}

// judgeCounts holds what is there against the manifest. What is missing counts too.
func (c *journalCheck) judgeCounts() {
	v, listed := c.v, c.listed
	v.omissions.made = true
	if c.passed.entries != listed.Entries || c.omitted != listed.Omitted || c.unproven != listed.Unproven {
		v.omissions.broken = true
		c.find(journal.CodeArtifactDigestMismatch, manifestName, 0, fmt.Sprintf("it counts %d entries, %d omissions and %d entries without a proof, and the index lists %d, %d and %d",
			listed.Entries, listed.Omitted, listed.Unproven, c.passed.entries, c.omitted, c.unproven))
	}
	var kinds uint64
	for kind, n := range listed.Kinds {
		kinds += n
		if c.kinds[kind] != n && !c.incomplete && !v.entries.broken {
			v.omissions.broken = true
			c.find(journal.CodeArtifactDigestMismatch, manifestName, 0, fmt.Sprintf("it counts %d entries with a %s, and there are %d", n, kind, c.kinds[kind]))
		}
	}
	if kinds != listed.Entries {
		v.omissions.broken = true
		c.find(journal.CodeArtifactDigestMismatch, manifestName, 0, "its counts by kind are not its count of entries")
	}
	if at := listed.LookedAt; c.last > at.LastSequence || at.FirstSequence > at.LastSequence || listed.Checkpoint != nil && listed.Checkpoint.Size > at.LastSequence {
		v.omissions.broken = true
		c.find(journal.CodeArtifactDigestMismatch, manifestName, 0, "it says that less was looked at than is there")
	}
}

// judgeCompleteness says whether a stretch is there to its ends, and whether its ends
// are those of the selection.
func (c *journalCheck) judgeCompleteness() {
	v, at, looked := c.v, c.listed.Range, c.listed.LookedAt
	s := &v.manifest.Selection
	if !s.Gapless() {
		v.completeness.open = true
		return
	}
	v.completeness.made = true
	if at == nil {
		if s.byTime() || max(s.FirstSequence, 1) <= looked.LastSequence {
			v.completeness.broken = true
			c.find(journal.CodeSequenceGap, manifestName, 0, "the selection reaches into the journal, and the manifest names no range of it")
		}
		return
	}
	if next := max(c.stretch, at.FirstSequence); next <= at.LastSequence {
		c.gap(next, at.LastSequence)
	}
	first, last := max(s.FirstSequence, 1), looked.LastSequence
	if s.LastSequence > 0 {
		last = min(last, s.LastSequence)
	}
	if s.byTime() {
		c.judgeEdges(s, at)
		return
	}
	if at.FirstSequence != first || at.LastSequence != last {
		v.completeness.broken = true
		c.find(journal.CodeSequenceGap, manifestName, min(at.FirstSequence, first), fmt.Sprintf("the selection is %d to %d, and the range of the manifest %d to %d", first, last, at.FirstSequence, at.LastSequence))
	}
}

// judgeEdges holds the ends of a stretch against the times of the selection: the
// entry at each end is outside, or the journal begins or ends there.
func (c *journalCheck) judgeEdges(s *Selection, at *Stretch) {
	ends := []struct {
		sequence uint64
		free     bool
	}{{at.FirstSequence, at.FirstSequence == 1}, {at.LastSequence, at.LastSequence == c.listed.LookedAt.LastSequence}}
	for _, end := range ends {
		recorded, known := c.edges[end.sequence]
		switch {
		case end.free:
		case !known:
			c.v.completeness.open = true
			c.v.report.add(Finding{
				Code: journal.CodeTailUnattested, Class: journal.ClassUnchecked, JournalID: c.listed.JournalID, Sequence: end.sequence,
				Detail: "the entry that would show that the time asked for ends here is not there",
			})
		case s.includes(recorded):
			c.v.completeness.broken = true
			c.find(journal.CodeSequenceGap, manifestName, end.sequence, "the range of the manifest ends at an entry that was recorded in the time asked for")
		}
	}
}

// judgeRedactions holds what the manifest says of redactions against the reads.
func (v *verifier) judgeRedactions() {
	if v.entries.broken || v.membership.broken || v.digests.broken {
		v.omissions.open = true
		return
	}
	declared := map[Redaction]uint64{}
	for _, r := range v.manifest.Redactions {
		declared[Redaction{ContentStored: r.ContentStored, RedactionProfile: r.RedactionProfile}] += r.Reads
	}
	var differ []Redaction
	for r, n := range v.redactions {
		if declared[r] != n {
			r.Reads = n
			differ = append(differ, r)
		}
		delete(declared, Redaction{ContentStored: r.ContentStored, RedactionProfile: r.RedactionProfile})
	}
	for r := range declared {
		differ = append(differ, r)
	}
	slices.SortFunc(differ, func(a, b Redaction) int {
		return cmp.Or(cmp.Compare(a.RedactionProfile, b.RedactionProfile), cmp.Compare(a.ContentStored, b.ContentStored))
	})
	for _, r := range differ {
		v.omissions.broken = true
		v.find(journal.CodeArtifactDigestMismatch, manifestName,
			fmt.Sprintf("%d reads say %s and %s, and the manifest declares something else", r.Reads, r.RedactionProfile, r.ContentStored))
	}
}

// finish adds what only the end tells.
func (v *verifier) finish() *Report {
	r := v.report
	if v.manifest != nil {
		v.finishOutside()
	}
	for to, from := range map[*journal.Check]*check{
		&r.Membership: &v.membership, &r.Digests: &v.digests, &r.MerkleRoot: &v.merkle, &r.Entries: &v.entries, &r.Signature: &v.signature,
		&r.Schema: &v.schema, &r.Inclusion: &v.inclusion, &r.Checkpoints: &v.checkpoints, &r.Time: &v.time, &r.Witnessed: &v.witnessed,
		&r.Omissions: &v.omissions, &r.Completeness: &v.completeness,
	} {
		*to = from.result()
	}
	return r
}

// finishOutside says what the policy demands and nobody outside said.
func (v *verifier) finishOutside() {
	p := v.trust.Policy
	note := func(code journal.Code, demand journal.Demand, detail string) {
		f := Finding{Code: code, Detail: detail}
		if p.Demands(demand) {
			f.Class = journal.ClassUnchecked
		}
		v.report.add(f)
	}
	if v.time.result() != journal.Valid {
		note(journal.CodeTimeUnattested, journal.DemandTime, "no checkpoint that covers every entry is attested by somebody whom the policy names")
	}
	if v.witnessed.result() != journal.Valid {
		note(journal.CodeTailUnattested, journal.DemandTail, "no checkpoint that covers every entry is cosigned as a policy demands")
	}
	if p.Demands(journal.DemandFirstLink) {
		note(journal.CodeFirstLinkUnanchored, journal.DemandFirstLink, "a bundle cannot show how a journal begins")
	}
	if p.Demands(journal.DemandLineage) {
		note(journal.CodeLineageUnresolved, journal.DemandLineage, "a bundle is not held against this demand; verify the journal")
	}
}
