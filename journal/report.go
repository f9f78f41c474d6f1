// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// Check is the outcome of a check (contract 6). One that was not performed on
// every entry is never valid.
type Check string

// The outcomes of contract 6.
const (
	Valid        Check = "valid"
	Failed       Check = "failed"
	NotPerformed Check = "not_performed"
)

// Report is what Verify found out about one journal (requirement F2).
type Report struct {
	// Path is the directory or file that was read.
	Path      string `json:"path"`
	JournalID string `json:"journal_id,omitzero"`
	// RecordsChecked counts the complete lines that were read, bad ones too.
	RecordsChecked uint64 `json:"records_checked"`
	FirstSequence  uint64 `json:"first_sequence"`
	LastSequence   uint64 `json:"last_sequence"`
	// Chain covers canonical form, record hashes, sequence, predecessors and
	// journal id.
	Chain Check `json:"chain"`
	// Signature covers signatures and the trust in their keys.
	Signature Check `json:"signature"`
	Schema    Check `json:"schema"`
	// FirstLink says whether the journal begins with its first entry.
	FirstLink Check `json:"first_link"`
	// Tail says whether something outside proves that nothing was cut off.
	Tail Check `json:"tail"`
	// Time says whether somebody else than the writer attests when every entry was
	// there already.
	Time Check `json:"time"`
	// Outside says what was compared with checkpoints kept elsewhere.
	Outside Outside `json:"checkpoints,omitzero"`
	// Reconciled is what was compared of the audit events, nil if the journal has none or
	// nothing was to be.
	Reconciled *Reconciled `json:"reconciled,omitzero"`
	// FirstBad is the first broken finding in the order of the journal.
	FirstBad *Finding `json:"first_bad,omitzero"`
	// Findings holds the first findings of each code; Counts counts all.
	Findings []Finding       `json:"findings"`
	Counts   map[Code]uint64 `json:"counts"`

	unchecked bool
}

// Outside is what Verify compared with checkpoints that were kept apart from the
// journal.
type Outside struct {
	// Verified counts those whose roots the journal gives; NotChecked those that end
	// before the first entry that can be computed, or behind damage.
	Verified   uint64 `json:"verified,omitzero"`
	NotChecked uint64 `json:"not_checked,omitzero"`
	// TailTo and TimeTo are the sequences up to which checkpoints prove that nothing is
	// cut off, and when the entries existed at the latest; 0 for none.
	TailTo uint64 `json:"tail_to,omitzero"`
	TimeTo uint64 `json:"time_to,omitzero"`
	// Since is the sequence up to which signatures and schemas were taken as verified
	// before, 0 for none.
	Since uint64 `json:"since,omitzero"`
}

// Finding is one thing that Verify found. Hashes are in the form of
// record_hash; absent means not known or, for a predecessor, none.
type Finding struct {
	Code  Code  `json:"code"`
	Class Class `json:"class"`
	// Sequence is the place in the journal: the one that the entry names or,
	// if the entry cannot be believed, the one where it stands. 0 if unknown
	// or if the finding has no place.
	Sequence uint64 `json:"sequence,omitzero"`
	// Segment and Offset are the file and byte where the line begins. Segment
	// is empty if the finding has no place; JSON then has no offset either.
	Segment string `json:"segment,omitzero"`
	Offset  int64  `json:"offset"`
	// Expected is what the check computes: the record hash of the entry
	// before, and the hash of the entry's own bytes. Observed is what the
	// entry names.
	ExpectedPreviousHash string `json:"expected_previous_hash,omitzero"`
	ObservedPreviousHash string `json:"observed_previous_hash,omitzero"`
	ExpectedRecordHash   string `json:"expected_record_hash,omitzero"`
	ObservedRecordHash   string `json:"observed_record_hash,omitzero"`
	// Detail says more in words. It never holds content.
	Detail string `json:"detail,omitzero"`
}

// MarshalJSONTo implements json.MarshalerTo.
func (f Finding) MarshalJSONTo(e *jsontext.Encoder) error {
	type members Finding
	out := struct {
		members `json:",inline"`
		Offset  *int64 `json:"offset,omitzero"`
	}{members: members(f)}
	if f.Segment != "" {
		out.Offset = &f.Offset
	}
	return json.MarshalEncode(e, out)
}

// ExitCode returns the verdict as contract 6 defines it: 0 valid, 1 broken, 2 a
// check that was demanded could not be made.
func (r *Report) ExitCode() int {
	switch {
	case r.FirstBad != nil:
		return 1
	case r.Chain != Valid || r.Signature != Valid || r.unchecked:
		return 2
	default:
		return 0
	}
}

// maxFindingsPerCode bounds a report about a journal with damage all over.
const maxFindingsPerCode = 20

func (r *Report) add(f Finding) {
	if f.Class == "" {
		f.Class = f.Code.Doc().Class
	}
	r.unchecked = r.unchecked || f.Class == ClassUnchecked
	if f.Class == ClassBroken && r.FirstBad == nil {
		first := f
		r.FirstBad = &first
	}
	r.Counts[f.Code]++
	if r.Counts[f.Code] <= maxFindingsPerCode {
		r.Findings = append(r.Findings, f)
	}
}
