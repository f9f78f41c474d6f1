// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package provenance checks what a decision and a claim cite against what their
// execution was given, as the journal has it (requirements B1 to B4 and G3). A
// citation proves that the agent was shown the source; that the value stands there
// is a second check, made when the content can be produced.
//
// A Need is what has to be confirmed. It sees the entries of the execution one after
// the other, and keeps of them only what its citations name, so that its size is
// that of what it confirms. Await shows it those that are there and, for a while,
// those that still come.
package provenance

import (
	"iter"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The findings of contract 6 that intake can come to.
const (
	// CodeMissing: a field without a source, or a named source without proof.
	CodeMissing = "missing_field_provenance"
	// CodeNotShown: the source is known to the execution, and what the field cites of
	// it was not shown to the agent, or not in this step.
	CodeNotShown = "citation_not_shown"
	// CodeUnavailable: the step was shown the source, and of what it was shown nothing
	// was recorded, so that nobody can ever look for the value there.
	CodeUnavailable = "content_unavailable"
	// CodeWrongExecution: the cited read is one of another execution.
	CodeWrongExecution = "citation_wrong_execution"
	// CodeUnmarked: a model's value that the reviewer did not see marked as such, or
	// of which that is not known.
	CodeUnmarked = "model_value_unmarked"
	// CodeClaimUnsupported: a claim that cites nothing, or something that was in no
	// context of its execution.
	CodeClaimUnsupported = "claim_unsupported"
)

// Need is something to confirm.
type Need interface {
	// Execution is the id of the execution whose entries count.
	Execution() string
	// See takes note of an entry of the execution. An entry that cannot be read as
	// what it says it is confirms nothing, and neither does one with conflicts_with:
	// another one with its id came first.
	See(e *journal.Entry)
	// Met reports whether more entries would change nothing.
	Met() bool
}

// Check returns what the entries of its execution do not confirm of a decision, by
// the names of its fields. Entries of other executions count for nothing. An error
// of the entries is returned: then nothing is known.
func Check(d *record.Decision, entries iter.Seq2[*journal.Entry, error]) ([]record.Unmet, error) {
	need := OfDecision(d)
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		if need.See(e); need.Met() {
			break
		}
	}
	return need.Unmet(), nil
}
