// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestARecordNamesACopyOfEachContentOrOfEachField(t *testing.T) {
	const all = `"request":{"arguments_digest":"a"},"response":{"status":"ok","result_digest":"b"},` +
		`"retrieval":{"query_digest":"c","chunks":[{"content_digest":"d"},{"id":"x"},{"content_digest":"e"}]},` +
		`"memory":{"entries":[{"id":"m"},{"content_digest":"f"}]},"documents":[{"document_id":"d","checksum_sha256":"g","with_content":true}]`
	for name, test := range map[string]struct {
		body string
		want string
	}{
		"digest_only":   {`{` + all + `,"retention":{"content_stored":"digest_only"}}`, ""},
		"evidence_copy": {`{` + all + `,"retention":{"content_stored":"evidence_copy"}}`, "request.arguments_digest=a response.result_digest=b retrieval.query_digest=c retrieval.chunks[0].content_digest=d retrieval.chunks[2].content_digest=e memory.entries[1].content_digest=f"},
		"fields":        {`{` + all + `,"retention":{"content_stored":"fields","fields":[{"path":"$.a","digest":"h"},{"path":"$.a","digest":"i"}]}}`, "retention.fields[0] $.a=h retention.fields[1] $.a=i"},
	} {
		t.Run(name, func(t *testing.T) {
			named, err := namedCopies(&journal.Entry{Kind: record.KindRead, Body: []byte(test.body)})
			require.NoError(t, err)
			var got []string
			for _, n := range named {
				got = append(got, n.member+"="+n.digest)
			}
			require.Equal(t, test.want, strings.Join(got, " "))
		})
	}
}

func TestARecordThatIsNotUnderstoodIsNotCheckedAndNotValid(t *testing.T) {
	for name, e := range map[string]*journal.Entry{
		"another choice":  {Kind: record.KindRead, Header: journal.EntryHeader{EventType: "read.tool"}, Body: []byte(`{"retention":{"content_stored":"everything"}}`)},
		"another shape":   {Kind: record.KindRead, Header: journal.EntryHeader{EventType: "read.tool"}, Body: []byte(`{"retention":1}`)},
		"another version": {Kind: record.KindRead, SchemaVersion: "9.0.0", Body: []byte(`{}`)},
		"no place":        {Kind: record.KindRead, Header: journal.EntryHeader{EventType: "read.tool"}, Body: []byte(`{"response":{"result_digest":"` + plainDigest("x") + `"},"retention":{"content_stored":"evidence_copy"}}`)},
		"no copy":         {Kind: record.KindRead, Header: journal.EntryHeader{EventType: "read.tool"}, Body: []byte(`{"retention":{"content_stored":"evidence_copy"}}`)},
		"no field":        {Kind: record.KindRead, Header: journal.EntryHeader{EventType: "read.tool"}, Body: []byte(`{"response":{"result_digest":"x"},"retention":{"content_stored":"fields"}}`)},
		"no digest":       {Kind: record.KindRead, Header: journal.EntryHeader{EventType: "read.tool"}, Body: []byte(`{"response":{"result_digest":"x"},"retention":{"content_stored":"evidence_copy"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			r := &copyReport{}
			(&copyCheck{}).checkEntry(t.Context(), r, e)
			r.judge()
			require.Equal(t, exitUnchecked, r.ExitCode)
			require.Equal(t, "not_performed", r.Outcome)
			require.EqualValues(t, 1, r.NotPerformed)
		})
	}
}

func TestManyFindingsAreCountedAndTheFirstAreListed(t *testing.T) {
	r := &copyReport{}
	for i := range 3 * maxCopyFindings {
		r.add(copyFinding{Sequence: uint64(i), Detail: "x"}, codeCopyMissing)
	}
	require.Len(t, r.Findings, maxCopyFindings)
	var out strings.Builder
	r.judge()
	r.write(&out)
	require.Contains(t, out.String(), fmt.Sprintf("artifact_missing: %d\n", 3*maxCopyFindings))
	require.Contains(t, out.String(), fmt.Sprintf("  and: %d more\n", 2*maxCopyFindings))
}

func TestEveryCodeOfCopiesTellsAnAuditorWhatToDoNext(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../docs/evidence.md"))
	require.NoError(t, err)
	for _, doc := range copyCodes {
		require.Contains(t, string(text), fmt.Sprintf("| `%s` | %s | %s | %s |\n", doc.Code, doc.Class, doc.Meaning, doc.Next))
	}
}
