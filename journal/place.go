// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// head is the last sound entry: the one with the highest sequence whose bytes
// fit its own hash.
type head struct {
	// start says that there was none yet. Then sequence is one less than what
	// the name of the first segment promises, if promised.
	start, promised bool
	sequence        uint64
	hash            link
	recordedAt      record.Time
	// keyID is the key of the last trusted entry.
	keyID string
	// rotatedTo is the key that the entry hands over to, "" if it does not.
	rotatedTo string
	// group is the place of the entry in its group, nil if it is in none; distrusted
	// says that its signature is not to be believed.
	group      *groupSignature
	distrusted bool
	// skipped counts the lines since then that cannot be believed. They may
	// stand for as many entries or be none; hashes are those that the last of
	// them may have.
	skipped uint64
	hashes  []link
}

// next returns the sequence of the next entry, 0 if nothing tells it.
func (h *head) next() uint64 {
	if h.start && !h.promised {
		return 0
	}
	return h.sequence + 1 + h.skipped
}

// predecessors returns the hashes that an entry at a sequence may name as its
// predecessor's; none if nothing is known about that.
func (h *head) predecessors(sequence uint64) []link {
	switch {
	case h.start && !h.promised || sequence < h.sequence+1:
		return nil
	case h.skipped > 0 && sequence == h.next():
		return h.hashes
	case sequence == h.sequence+1 || sequence > h.next() && h.skipped == 0:
		if !h.hash.set {
			return nil
		}
		return []link{h.hash}
	default:
		return nil
	}
}

// skip passes a line that cannot be believed; the hashes are not set if it has none.
func (h *head) skip(recordHash, computed link) {
	h.skipped++
	h.hashes = nil
	if recordHash.set {
		h.hashes = []link{recordHash, computed}
	}
}

// advance makes an entry the head. An entry that is not trusted changes no key.
func (h *head) advance(c *checked) {
	keyID := h.keyID
	*h = head{sequence: c.sequence, hash: c.recordHash, recordedAt: c.recordedAt, keyID: keyID, group: c.group, distrusted: !c.trusted}
	if c.trusted {
		h.keyID, h.rotatedTo = c.keyID, c.rotatedTo
	}
}

// checkPlace judges where an entry stands: its sequence, its predecessor and
// its time against those before.
func (v *verifier) checkPlace(c *checked) {
	h := &v.head
	if h.start {
		v.checkFirst(c)
		v.checkPolicyBegin(c)
		h.advance(c)
		v.grow(c)
		return
	}
	switch next := h.next(); {
	case c.sequence <= h.sequence:
		// It is out of order; the entries behind it are judged without it.
		v.misplaced(c, CodeSequenceDuplicate, fmt.Sprintf("sequence %d was expected", next))
		return
	case c.sequence > next:
		v.misplaced(c, CodeSequenceGap, fmt.Sprintf("sequence %d was expected; %s", next, missing(c.sequence-next)))
	default:
		if hashes := h.predecessors(c.sequence); len(hashes) > 0 && !slices.Contains(hashes, c.previous) {
			v.misplaced(c, CodePreviousHashMismatch, "")
		}
	}
	if c.recordedAt.Std().Before(h.recordedAt.Std()) {
		v.find(c, v.placed(c, CodeClockRegressed))
	}
	v.checkSilence(c)
	v.checkAnchor(c)
	v.checkPolicyLink(c)
	h.advance(c)
	v.grow(c)
}

// checkFirst judges the first entry that can be read.
func (v *verifier) checkFirst(c *checked) {
	h := &v.head
	if promised := h.sequence + 1; h.promised && (c.sequence < promised || c.sequence > h.next()) {
		code := CodeSequenceGap
		if c.sequence < promised {
			code = CodeSequenceDuplicate
		}
		v.misplaced(c, code, fmt.Sprintf("the name of the segment says %d", promised))
	}
	switch hashes := h.predecessors(c.sequence); {
	case (c.sequence == 1) != !c.previous.set:
		v.report.FirstLink = Failed
		v.misplaced(c, CodePreviousHashMismatch, "only the entry with sequence 1 has no predecessor")
	case len(hashes) > 0 && !slices.Contains(hashes, c.previous):
		v.misplaced(c, CodePreviousHashMismatch, "")
	case c.sequence == 1:
		v.report.FirstLink = Valid
		v.out.grows = true
	case h.skipped == 0:
		v.checkLink(c)
	}
}

func missing(n uint64) string {
	if n == 1 {
		return "1 entry is missing"
	}
	return fmt.Sprintf("%d entries are missing", n)
}

func (v *verifier) misplaced(c *checked, code Code, detail string) {
	if code != CodePreviousHashMismatch {
		// It says what the name of the segment would.
		v.misnamed = nil
	}
	v.chainBroken = true
	f := v.placed(c, code)
	f.Detail = detail
	v.find(c, f)
}
