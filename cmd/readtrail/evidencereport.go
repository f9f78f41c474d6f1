// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/readtrail/readtrail/journal"
)

// The codes of copies (contract 6).
const (
	codeCopyMissing      journal.Code = "artifact_missing"
	codeCopyMismatch     journal.Code = "artifact_digest_mismatch"
	codeCopyNotPerformed journal.Code = "not_performed"
)

// copyCodes say what the codes mean and what an auditor does next.
var copyCodes = []journal.CodeDoc{
	{
		Code: codeCopyMissing, Class: journal.ClassBroken,
		Meaning: "a record names a copy that is not in the store",
		Next: "look for it in backups of the store; if it was erased on purpose, ask for the decision: erasing by destroying an identity " +
			"leaves the objects",
	},
	{
		Code: codeCopyMismatch, Class: journal.ClassBroken,
		Meaning: "a copy is not what was stored: it was changed, or replaced by another content",
		Next:    "check that the key of a keyed digest is the right one; keep the object, look for it in backups of the store, and ask who could write there",
	},
	{
		Code: codeCopyNotPerformed, Class: journal.ClassUnchecked,
		Meaning: "a copy was not checked: it is there and could not be opened or recomputed, or its record could not be read",
		Next:    "ask for the identity of one of the public keys in recipients.txt of its set, and for the key of a keyed digest",
	},
}

// copyReport is what was found out about the copies that one journal names.
type copyReport struct {
	Path      string `json:"path"`
	JournalID string `json:"journal_id,omitzero"`
	// Outcome is valid, failed or not_performed; none if no record names a copy.
	Outcome string `json:"copies"`
	// RecordsWithCopies counts read records, Copies the digests that they name.
	RecordsWithCopies uint64 `json:"records_with_copies"`
	Copies            uint64 `json:"copies_named"`
	Valid             uint64 `json:"valid"`
	Missing           uint64 `json:"artifact_missing"`
	Mismatches        uint64 `json:"artifact_digest_mismatch"`
	NotPerformed      uint64 `json:"not_performed"`
	// Findings are the first of each code; the counts count all.
	Findings []copyFinding `json:"findings"`
	ExitCode int           `json:"exit_code"`
}

// copyFinding is one copy that is not valid.
type copyFinding struct {
	Code     journal.Code  `json:"code"`
	Class    journal.Class `json:"class"`
	Sequence uint64        `json:"sequence"`
	// Member is where the record names the copy; "" if the record could not be
	// read.
	Member string `json:"member,omitzero"`
	Digest string `json:"digest,omitzero"`
	Detail string `json:"detail"`
}

// maxCopyFindings bounds the findings of each code.
const maxCopyFindings = 20

func (r *copyReport) add(f copyFinding, code journal.Code) {
	f.Code, f.Class = code, copyCodeDoc(code).Class
	n := r.counter(code)
	*n++
	if *n <= maxCopyFindings {
		r.Findings = append(r.Findings, f)
	}
}

func (r *copyReport) counter(code journal.Code) *uint64 {
	switch code {
	case codeCopyMissing:
		return &r.Missing
	case codeCopyMismatch:
		return &r.Mismatches
	}
	return &r.NotPerformed
}

func copyCodeDoc(code journal.Code) journal.CodeDoc {
	for _, doc := range copyCodes {
		if doc.Code == code {
			return doc
		}
	}
	return journal.CodeDoc{}
}

// judge fills the outcome when everything was looked up.
func (r *copyReport) judge() {
	switch {
	case r.Missing > 0 || r.Mismatches > 0:
		r.Outcome, r.ExitCode = string(journal.Failed), exitBroken
	case r.NotPerformed > 0:
		r.Outcome, r.ExitCode = string(journal.NotPerformed), exitUnchecked
	case r.Copies == 0:
		r.Outcome, r.ExitCode = "none", exitOK
	default:
		r.Outcome, r.ExitCode = string(journal.Valid), exitOK
	}
}

// write prints the report, one fact a line.
func (r *copyReport) write(w io.Writer) {
	line := func(name string, value any) { fmt.Fprintf(w, "%s: %s\n", name, escape(fmt.Sprint(value))) }
	line("journal", orElse(r.JournalID, "unknown"))
	line("path", r.Path)
	line("copies", r.Outcome)
	line("records_with_copies", r.RecordsWithCopies)
	line("copies_named", r.Copies)
	line("valid", r.Valid)
	for _, doc := range copyCodes {
		n := *r.counter(doc.Code)
		line(string(doc.Code), n)
		if n == 0 {
			continue
		}
		listed := uint64(0)
		for _, f := range r.Findings {
			if f.Code == doc.Code {
				line("  "+string(f.Class), f.String())
				listed++
			}
		}
		if n > listed {
			line("  and", fmt.Sprintf("%d more", n-listed))
		}
		line("  next", doc.Next)
	}
}

// String says where the copy is named and what is wrong with it.
func (f copyFinding) String() string {
	text := fmt.Sprintf("sequence %d", f.Sequence)
	if f.Member != "" {
		text += " " + f.Member
	}
	return text + ": " + f.Detail
}
