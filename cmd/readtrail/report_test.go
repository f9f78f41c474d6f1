// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

func reportText(r *journal.Report) string {
	var out strings.Builder
	writeReport(&out, r)
	return out.String()
}

func TestAHostileJournalCannotForgeALineOfAReport(t *testing.T) {
	const hostile = "x\nchain: valid\x1b[2J\u009b"
	text := reportText(&journal.Report{
		JournalID: hostile, Path: hostile, Chain: journal.Failed, Signature: journal.NotPerformed,
		FirstBad: &journal.Finding{Code: journal.CodeSchemaInvalid, Segment: hostile, Detail: hostile},
	})
	require.NotContains(t, text, "\nchain: valid")
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u009b")
}

func TestAReportSaysWhatIsNotKnown(t *testing.T) {
	text := reportText(&journal.Report{
		Chain: journal.Failed, Signature: journal.NotPerformed, Schema: journal.NotPerformed,
		FirstLink: journal.NotPerformed, Tail: journal.NotPerformed,
		FirstBad: &journal.Finding{Code: journal.CodeNotCanonical, Class: journal.ClassBroken, Segment: "s"},
	})
	for _, line := range []string{
		"journal: unknown", "signature: not_performed", "first_link: not_performed", "tail: not_performed",
		"first_bad_sequence: unknown", "expected_previous_hash: unknown", "observed_previous_hash: unknown",
	} {
		require.Contains(t, text, line+"\n")
	}
	require.NotContains(t, text, ": valid")
}

func TestAReportSumsUpDamageBehindTheFirst(t *testing.T) {
	first := journal.Finding{Code: journal.CodeSequenceGap, Class: journal.ClassBroken, Sequence: 4}
	text := reportText(&journal.Report{
		FirstBad: &first,
		Findings: []journal.Finding{first, {Code: journal.CodeSignatureInvalid, Class: journal.ClassBroken, Sequence: 9}},
		Counts:   map[journal.Code]uint64{journal.CodeSequenceGap: 3, journal.CodeSignatureInvalid: 1},
	})
	require.Contains(t, text, "broken: sequence_gap at sequence 4 and 2 more: ")
	require.Contains(t, text, "broken: signature_invalid at sequence 9: ")
}

func TestEveryCodeTellsAnAuditorWhatToDoNext(t *testing.T) {
	for _, doc := range journal.CodeDocs() {
		text := reportText(&journal.Report{FirstBad: &journal.Finding{Code: doc.Code, Class: doc.Class, Sequence: 2}})
		require.Contains(t, text, "next: "+doc.Next+"\n", doc.Code)
		require.NotEmpty(t, doc.Next)
	}
}
