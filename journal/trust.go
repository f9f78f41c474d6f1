// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

// checkTrust judges the signature of an entry and the key behind it (contract
// 4). What the entry itself says about its key proves nothing.
func (v *verifier) checkTrust(c *checked) {
	if c.signature == Failed {
		v.distrust(c, CodeSignatureInvalid, c.signatureDetail)
		return
	}
	if c.signature == NotPerformed && c.signatureDetail != "" {
		// Without a registry one finding says it for all entries.
		if v.registry != nil || !v.signatureOpen {
			f := v.placed(c, CodeSignatureNotPerformed)
			f.Detail = c.signatureDetail
			v.find(c, f)
		}
		v.signatureOpen = true
	}
	if v.registry == nil {
		return
	}
	key, found := v.registry.Key(c.keyID)
	if !found {
		v.distrust(c, CodeKeyUnknown, "the registry has no key "+c.keyID)
		return
	}
	v.keyUsed = true
	if code := key.judge(v.journalOf(c), c.sequence, c.recordedAt); code != "" {
		v.distrust(c, code, "key "+key.ID)
		return
	}
	if v.changesKey(c) && !v.bridged(c, &key) {
		v.distrust(c, CodeKeyUnknown, "key changes to "+key.ID+" without journal.key_rotated and without first_sequence in the registry")
		return
	}
	c.trusted = c.signature == Valid
}

func (v *verifier) distrust(c *checked, code Code, detail string) {
	v.signatureBroken = true
	f := v.placed(c, code)
	f.Detail = detail
	v.find(c, f)
}

// changesKey reports whether an entry has another key than the one before.
func (v *verifier) changesKey(c *checked) bool {
	return v.head.keyID != "" && c.sequence > v.head.sequence && c.keyID != v.head.keyID
}

// bridged reports whether a change of keys is one: the outgoing key announced
// it in the entry before, or the registry says that the key begins here.
func (v *verifier) bridged(c *checked, key *Key) bool {
	if first, ok := key.FirstSequence[v.journalOf(c)]; ok && first == c.sequence {
		return true
	}
	return v.head.skipped == 0 && c.sequence == v.head.sequence+1 &&
		v.head.rotatedTo == c.keyID && c.eventType == eventKeyAccepted
}

// journalOf returns the journal of an entry, which an audit event does not name.
func (v *verifier) journalOf(c *checked) string {
	if c.journalID == "" {
		return v.report.JournalID
	}
	return c.journalID
}
