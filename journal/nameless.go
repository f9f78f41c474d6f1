// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"fmt"
)

// findJournalID returns the id of a journal: that of the first entry which names one
// and whose bytes are those of its record hash; "" if there is none. It is looked for
// before anything is judged, since registry, policy and checkpoints say what they say
// of one journal, and entries may stand before it that name none.
func findJournalID(ctx context.Context, s *Source) (string, error) {
	k := newChecker(&Options{SkipSchema: true})
	for line, err := range s.Lines() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		if line.Torn || line.TooLong {
			continue
		}
		if c := k.check(line.Bytes); c.notEntry == nil && c.computed == c.recordHash && c.journalID != "" {
			return c.journalID, nil
		}
	}
	return "", nil
}

// checkListed says of the first entry that the policy does not list its journal. A
// journal that names itself nowhere is not listed either.
func (v *verifier) checkListed(c *checked) {
	if !v.unlisted {
		return
	}
	v.unlisted, v.chainBroken = false, true
	f := v.placed(c, CodeJournalIDMismatch)
	f.Detail = "the policy lists no such journal"
	v.find(c, f)
}

// finishNameless takes nothing as checked that needs the id of a journal in which no
// entry names it.
func (v *verifier) finishNameless() {
	if v.report.JournalID != "" || v.report.RecordsChecked == 0 && v.report.Path != "" {
		return
	}
	if v.boundKeys {
		v.signatureOpen, v.keysOpen = true, true
		v.note(Finding{
			Code:   CodeSignatureNotPerformed,
			Detail: "no entry names its journal, and the registry says by journal where a key begins or is invalid",
		})
	}
	if len(v.options.Checkpoints.Origins()) > 0 {
		v.note(Finding{Code: CodeCheckpointNotPerformed, Detail: "no entry names its journal, so no checkpoint was compared with it"})
	}
}

// finishCheckpoints says which checkpoints of the journal were not held against its
// entries. An announced removal leaves one in every store that covers all of what went,
// so one that no checkpoint confirms anchors nothing.
func (v *verifier) finishCheckpoints() {
	r, out := &v.report, &v.out
	if out.given > 0 && out.verified == 0 && v.announcedOnly && r.FirstLink == Valid {
		r.FirstLink = NotPerformed
		v.note(Finding{
			Code: CodeFirstLinkUnanchored, Sequence: r.FirstSequence,
			Detail: "journal.pruned announced what is gone, and no checkpoint that was given confirms it",
		})
	}
	v.noteUncompared()
}

func (v *verifier) noteUncompared() {
	out := &v.out
	f := Finding{Code: CodeCheckpointNotPerformed, Class: ClassNote}
	if v.options.Policy.Demands(DemandCheckpoints) {
		f.Class = ClassUnchecked
	}
	switch {
	case out.uncompared > 0:
		f.Sequence = out.largest
		f.Detail = fmt.Sprintf("%d of the checkpoints that were given, the largest of %d entries, could not be compared with the entries that are here", out.uncompared, out.largest)
	case out.given == 0 && f.Class == ClassUnchecked:
		f.Detail = "no checkpoint of the journal was given"
	default:
		return
	}
	v.note(f)
}
