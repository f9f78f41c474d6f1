// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "slices"

// checkTrust judges the signature of an entry and the key behind it (contract
// 4). What the entry itself says about its key proves nothing.
func (v *verifier) checkTrust(c *checked) {
	if c.signature == Failed {
		v.distrust(c, CodeSignatureInvalid, c.signatureDetail)
		return
	}
	if c.signature == NotPerformed && c.signatureDetail != "" {
		// Without a registry one finding says it for all entries.
		if v.options.Registry != nil || !v.signatureOpen {
			f := v.placed(c, CodeSignatureNotPerformed)
			f.Detail = c.signatureDetail
			v.find(c, f)
		}
		v.signatureOpen = true
	}
	if v.options.Registry == nil {
		return
	}
	key, found := v.options.Registry.Key(c.keyID)
	if !found {
		v.distrust(c, CodeKeyUnknown, "the registry has no key "+c.keyID)
		return
	}
	v.keyUsed = true
	v.boundKeys = v.boundKeys || len(key.InvalidFromSequence)+len(key.FirstSequence) > 0
	if trusted := v.out.policy.Keys; trusted != nil && !slices.Contains(trusted, key.ID) {
		v.distrust(c, CodeKeyUnknown, "the policy does not trust key "+key.ID+" for this journal")
		return
	}
	if code := key.judge(v.journalOf(c), c.sequence, v.timeOf(c)); code != "" {
		v.distrust(c, code, "key "+key.ID)
		return
	}
	if problem := v.judgeChange(c, &key); problem != "" {
		v.distrust(c, CodeKeyUnknown, problem)
		return
	}
	if c.signature == Valid && !v.continuesGroup(c) {
		v.distrust(c, CodeSignatureInvalid, "the signature of its group gives the entry another place than it has")
		return
	}
	c.trusted = c.signature == Valid
}

// continuesGroup reports whether the place in its group that an entry's signature
// names fits that of the entry before: the signature does not cover it.
func (v *verifier) continuesGroup(c *checked) bool {
	h := &v.head
	if c.group == nil || h.start || h.distrusted || h.skipped > 0 || c.sequence != h.sequence+1 {
		return true
	}
	if h.group == nil || h.group.signature != c.group.signature {
		return c.group.index == 0
	}
	return c.group.continues(*h.group)
}

func (v *verifier) distrust(c *checked, code Code, detail string) {
	v.signatureBroken = true
	f := v.placed(c, code)
	f.Detail = detail
	v.find(c, f)
}

// judgeChange says what is wrong with the key of an entry after that of the entry
// before; "" means nothing. A key that is announced takes over with the next
// entry, and no key takes over that was not; or the registry says that the key
// begins here. Of an entry that repeats a sequence nothing is said.
func (v *verifier) judgeChange(c *checked, key *Key) string {
	h := &v.head
	if h.start || c.sequence <= h.sequence {
		return ""
	}
	changes := h.keyID != "" && c.keyID != h.keyID
	// Also if no entry before it is trusted: that is what it is there for.
	if first, ok := key.FirstSequence[v.journalOf(c)]; ok && first == c.sequence && c.keyID != h.keyID {
		return ""
	}
	adjacent := h.skipped == 0 && c.sequence == h.sequence+1
	accepts := c.eventType == eventKeyAccepted
	switch {
	case adjacent && accepts && h.rotatedTo == c.keyID:
		return ""
	case changes:
		return "key changes to " + key.ID + " without " + eventKeyRotated + " and without first_sequence in the registry"
	case adjacent && h.rotatedTo != "":
		return "the entry before hands over to key " + h.rotatedTo + ", and this is not its " + eventKeyAccepted
	case adjacent && accepts:
		return eventKeyAccepted + " without " + eventKeyRotated + " before it"
	}
	return ""
}

// journalOf returns the journal of an entry, which an audit event does not name.
func (v *verifier) journalOf(c *checked) string {
	if c.journalID == "" {
		return v.report.JournalID
	}
	return c.journalID
}
