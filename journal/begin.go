// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "fmt"

// lookForPruned looks for what announced the removal of what stood before the first
// entry, before anything in the journal is judged by it.
func (v *verifier) lookForPruned(c *checked) {
	if h := &v.head; h.start && h.skipped == 0 && c.sequence > 1 && c.previous.set {
		v.pruned, v.err = findPruned(v.ctx, v.source, &v.options, c.sequence)
	}
}

// checkLink judges the link of a journal that begins after sequence 1 to what stood
// before: by the anchor of the policy, else by the journal.pruned that announced the
// removal.
func (v *verifier) checkLink(c *checked) {
	if a := v.pruned; a != nil && a.FirstSequence == c.sequence {
		v.beginAt(c)
	}
	if v.out.policy.FirstLink != "" && v.out.policy.FirstSequence == c.sequence {
		return // checkPolicyBegin says it
	}
	if v.report.FirstLink == NotPerformed && (v.pruned == nil || v.options.Registry == nil) {
		v.find(c, v.placed(c, CodeFirstLinkUnanchored))
	}
}

// checkAnchor judges the link of the first entry that stays where older ones were
// announced as removed and are still there.
func (v *verifier) checkAnchor(c *checked) {
	if a := v.pruned; a != nil && a.FirstSequence == c.sequence && !v.out.grows {
		v.beginAt(c)
	}
}

// beginAt anchors the first entry that stays to what journal.pruned says.
func (v *verifier) beginAt(c *checked) {
	a := v.pruned
	if a.anchor != c.previous {
		v.report.FirstLink = Failed
		v.chainBroken = true
		f := v.placed(c, CodePreviousHashMismatch)
		f.ExpectedPreviousHash, f.Detail = a.anchor.String(), fmt.Sprintf("entry %d, journal.pruned, names another hash of the last entry that was removed", a.sequence)
		v.find(c, f)
		return
	}
	if v.options.Registry != nil && v.report.FirstLink == NotPerformed {
		v.report.FirstLink, v.announcedOnly = Valid, true
	}
	v.out.tree, v.out.grows = a.tree, true
	v.compare(c)
}

// checkPolicyBegin judges where the journal begins by what the policy says.
func (v *verifier) checkPolicyBegin(c *checked) {
	p := &v.out.policy
	if p.FirstSequence == 0 {
		return
	}
	if c.sequence > p.FirstSequence && v.head.skipped == 0 {
		v.report.FirstLink = Failed
		v.misplaced(c, CodeSequenceGap, fmt.Sprintf("the policy says that the journal begins at %d", p.FirstSequence))
		return
	}
	v.checkPolicyLink(c)
}

// checkPolicyLink holds an entry against the anchor of the policy, if it is the one
// that the policy names.
func (v *verifier) checkPolicyLink(c *checked) {
	p := &v.out.policy
	if p.FirstLink == "" || c.sequence != p.FirstSequence {
		return
	}
	if c.previous.String() == p.FirstLink {
		if v.head.start {
			v.report.FirstLink, v.announcedOnly = Valid, false
		}
		return
	}
	v.report.FirstLink = Failed
	v.chainBroken = true
	f := v.placed(c, CodePreviousHashMismatch)
	f.ExpectedPreviousHash, f.Detail = p.FirstLink, "the policy names another hash of the entry before"
	v.find(c, f)
}
