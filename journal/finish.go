// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "fmt"

// note adds a finding, in the class that the policy gives it.
func (v *verifier) note(f Finding) {
	if d, ok := demandOf[f.Code]; ok && f.Class == "" && v.options.Policy.Demands(d) {
		f.Class = ClassUnchecked
	}
	v.report.add(f)
}

// finish adds what only the end tells.
func (v *verifier) finish() *Report {
	r := &v.report
	if r.FirstLink == NotPerformed && v.pruned != nil && v.options.Registry != nil {
		// What was announced as removed is there, and what stays is not.
		v.note(Finding{Code: CodeFirstLinkUnanchored})
	}
	for _, f := range v.out.said {
		v.note(f)
	}
	v.finishTail()
	v.finishTime()
	v.finishCheckpoints()
	v.finishSince()
	v.finishLineage()
	v.finishAudited()
	if v.options.SkipSchema {
		v.schemaOpen = true
		v.note(Finding{Code: CodeSchemaNotPerformed})
	}
	empty := r.RecordsChecked == 0
	v.finishNameless()
	v.finishReconciling()
	r.Chain = outcome(v.chainBroken, empty)
	r.Signature = outcome(v.signatureBroken, v.signatureOpen || empty)
	r.Schema = outcome(v.schemaBroken, v.schemaOpen || empty)
	return r
}

// last is the sequence of the last entry, or of the last line that may be one.
func (v *verifier) last() uint64 {
	if next := v.head.next(); next > 0 {
		return max(v.report.LastSequence, next-1)
	}
	return v.report.LastSequence
}

// finishTail says how far the outside proves that nothing is cut off.
func (v *verifier) finishTail() {
	r, out, last := &v.report, &v.out, v.last()
	if v.tornTail {
		r.Tail = Failed
	}
	var beyond *attestation
	for ; out.next < len(out.all); out.next++ {
		a := &out.all[out.next]
		missing := a.size > last && !a.distrusted && !v.source.endsEarly
		if missing && v.options.OpenEnd {
			beyond = a
		} else if missing {
			r.Tail = Failed
			v.note(Finding{
				Code: CodeTruncated, Sequence: last + 1,
				Detail: fmt.Sprintf("the last entry is %d, and a checkpoint covers %d: checkpoint %s", last, a.size, a.path),
			})
			break
		}
		if !a.distrusted {
			v.passOver(a)
		}
	}
	r.Outside = Outside{Verified: out.verified, NotChecked: out.unchecked, TailTo: out.tailTo, TimeTo: out.timeTo}
	if r.Tail == NotPerformed && out.tailTo > 0 && out.tailTo == last && !v.source.endsEarly && beyond == nil {
		r.Tail = Valid
		return
	}
	f := Finding{Code: CodeTailUnattested}
	if beyond != nil {
		f.Sequence = last + 1
		f.Detail = fmt.Sprintf("the copy ends with %d, and a checkpoint covers %d: look for the entries behind it where the journal is written: checkpoint %s", last, beyond.size, beyond.path)
	} else if out.tailTo > 0 {
		f.Sequence, f.Detail = out.tailTo+1, fmt.Sprintf("entries up to %d are covered by a checkpoint", out.tailTo)
		if gap := out.policy.LargestGap; gap > 0 && r.Tail == NotPerformed && v.head.recordedAt.Std().Sub(out.tailAt.Std()) <= gap {
			// The next checkpoint is not due yet.
			f.Class = ClassNote
		}
	}
	v.note(f)
}

// finishTime says which keys were judged by the writer's own clock.
func (v *verifier) finishTime() {
	r, out := &v.report, &v.out
	switch {
	case !v.keyUsed:
		return
	case out.timeTo >= v.last() && out.timeTo > 0:
		r.Time = Valid
		return
	}
	f := Finding{Code: CodeTimeUnattested}
	if out.timeTo > 0 {
		f.Sequence, f.Detail = out.timeTo+1, fmt.Sprintf("entries up to %d are attested from outside", out.timeTo)
	}
	v.note(f)
}

// finishSince takes nothing as verified that the checkpoint of the caller does not
// prove.
func (v *verifier) finishSince() {
	s := v.options.Since
	if s == nil {
		return
	}
	if v.out.confirmed {
		v.report.Outside.Since = s.Size
		return
	}
	if !v.covered && s.Origin != v.report.JournalID {
		return // a checkpoint of another journal
	}
	v.signatureOpen, v.schemaOpen = true, true
	v.note(Finding{Code: CodeSignatureNotPerformed, Detail: fmt.Sprintf("the journal does not give the root of the checkpoint of %d entries that it was verified up to before", s.Size)})
}
