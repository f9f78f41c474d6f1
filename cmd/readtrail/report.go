// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/readtrail/readtrail/journal"
)

// writeReport prints a report as requirement F2 wants it: one fact a line, the
// same names in every version. Nothing that was not performed is called valid.
// The writer is the console's buffer, which keeps the first error.
func writeReport(w io.Writer, r *journal.Report) {
	line := func(name string, value any) { fmt.Fprintf(w, "%s: %s\n", name, escape(fmt.Sprint(value))) }
	line("journal", orElse(r.JournalID, "unknown"))
	line("path", r.Path)
	line("records_checked", r.RecordsChecked)
	line("first_sequence", r.FirstSequence)
	line("last_sequence", r.LastSequence)
	line("chain", r.Chain)
	line("signature", r.Signature)
	line("schema", r.Schema)
	line("first_link", namedCheck(r, r.FirstLink, journal.CodeFirstLinkUnanchored, "unanchored"))
	line("tail", namedCheck(r, r.Tail, journal.CodeTailUnattested, "unattested"))
	writeOutside(line, r)
	if c := r.Reconciled; c != nil {
		lineage := namedCheck(r, c.Lineage, journal.CodeLineageUnresolved, "unresolved")
		writeReconciled(line, c, lineage, fmt.Sprintf("in %d of the journals given", c.Journals))
	}
	if r.FirstBad != nil {
		writeDamage(line, r.FirstBad)
	}
	writeFindings(line, r)
}

// writeOutside prints what was compared with checkpoints, if there were any.
func writeOutside(line func(string, any), r *journal.Report) {
	o := r.Outside
	if o == (journal.Outside{}) {
		return
	}
	line("time", namedCheck(r, r.Time, journal.CodeTimeUnattested, "unattested"))
	line("checkpoints_verified", o.Verified)
	if o.NotChecked > 0 {
		line("checkpoints_not_checked", o.NotChecked)
	}
	for _, n := range []struct {
		name string
		to   uint64
	}{{"tail_attested_to", o.TailTo}, {"time_attested_to", o.TimeTo}, {"since_checkpoint", o.Since}} {
		if n.to > 0 {
			line(n.name, n.to)
		}
	}
}

// writeReconciled prints what was compared of audit events, and where it was looked for.
func writeReconciled(line func(string, any), c *journal.Reconciled, lineage, where string) {
	line("audit_events", c.AuditEvents)
	line("lineage", lineage)
	line("lineage_ids_found", fmt.Sprintf("%d of %d, %s", c.Found, c.IDs, where))
	if c.ArtifactsNamed > 0 {
		line("artifacts", c.Artifacts)
		line("artifacts_compared", fmt.Sprintf("%d of %d", c.ArtifactsCompared, c.ArtifactsNamed))
	}
	if c.Effects != "" {
		line("effects", c.Effects)
	}
}

// writeTotal sums up several journals.
func writeTotal(w io.Writer, reports []*journal.Report) {
	var records uint64
	count := map[int]int{}
	for _, r := range reports {
		records += r.RecordsChecked
		count[r.ExitCode()]++
	}
	fmt.Fprintf(w, "\ntotal: %d journals, %d records: %d valid, %d broken, %d not checked\n", len(reports), records, count[exitOK], count[exitBroken], count[exitUnchecked])
}

// namedCheck says of a check that was not performed what that means, where a
// note does.
func namedCheck(r *journal.Report, check journal.Check, note journal.Code, meaning string) string {
	if check == journal.NotPerformed && r.Counts[note] > 0 {
		return meaning
	}
	return string(check)
}

// writeDamage names the place of the first damage and what to do about it.
func writeDamage(line func(string, any), bad *journal.Finding) {
	switch {
	case bad.Sequence > 0:
		line("first_bad_sequence", bad.Sequence)
	case bad.Code == journal.CodeCheckpointSignatureInvalid:
		// No entry is bad, but what somebody put where checkpoints are kept.
		line("first_bad_sequence", "none")
	default:
		line("first_bad_sequence", "unknown")
	}
	doc := bad.Code.Doc()
	line("code", bad.Code)
	line("meaning", doc.Meaning)
	if bad.Detail != "" {
		line("detail", bad.Detail)
	}
	if bad.Segment != "" {
		line("segment", bad.Segment)
		line("offset", bad.Offset)
	}
	if bad.Segment == "" && bad.ExpectedRecordHash == "" {
		// It is about a checkpoint and not about an entry.
		line("next", doc.Next)
		return
	}
	readable := bad.ObservedRecordHash != ""
	line("expected_previous_hash", hashOr(bad.ExpectedPreviousHash, bad.Sequence == 1))
	line("observed_previous_hash", hashOr(bad.ObservedPreviousHash, readable))
	if readable {
		line("expected_record_hash", bad.ExpectedRecordHash)
		line("observed_record_hash", bad.ObservedRecordHash)
	}
	line("next", doc.Next)
}

// hashOr shows a hash; an absent one is none where one knows that there is none.
func hashOr(hash string, none bool) string {
	if hash == "" && none {
		return "none"
	}
	return orElse(hash, "unknown")
}

// writeFindings sums up the findings, one line a code: damage beyond the first,
// what was not checked, and notes.
func writeFindings(line func(string, any), r *journal.Report) {
	for _, doc := range journal.CodeDocs() {
		n := r.Counts[doc.Code]
		if n == 0 || n == 1 && r.FirstBad != nil && r.FirstBad.Code == doc.Code {
			continue
		}
		first := firstOf(r, doc.Code)
		text := string(doc.Code)
		if first.Sequence > 0 {
			text += fmt.Sprintf(" at sequence %d", first.Sequence)
		}
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		if first.Class == journal.ClassUnchecked {
			// One finding may stand for all entries, and its detail says why.
			if doc.Class == journal.ClassUnchecked {
				text = string(doc.Code)
			}
			text = fmt.Sprintf("%s: %s; %s", text, orElse(first.Detail, doc.Meaning), doc.Next)
		} else {
			text += ": " + doc.Meaning
			if first.Segment == "" && first.Detail != "" {
				text += "; " + first.Detail
			}
		}
		line(string(orClass(first.Class, doc.Class)), text)
	}
}

func firstOf(r *journal.Report, code journal.Code) journal.Finding {
	for _, f := range r.Findings {
		if f.Code == code {
			return f
		}
	}
	return journal.Finding{}
}

// orClass returns the class of a finding: a policy can make more of a note.
func orClass(class, otherwise journal.Class) journal.Class {
	if class == "" {
		return otherwise
	}
	return class
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
