// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestATableSaysWhatWasReadAndHowMuchCameOfIt(t *testing.T) {
	for want, read := range map[string]record.Read{
		"crm.customer.get":               {Source: record.Source{ToolID: "crm.customer.get"}},
		"policies, 0 chunks":             {Retrieval: &record.Retrieval{IndexID: "policies"}},
		"search policies, 1 chunk":       {Source: record.Source{ToolID: "search"}, Retrieval: &record.Retrieval{IndexID: "policies", Chunks: make([]record.Chunk, 1)}},
		"notes search_memory, 2 entries": {Memory: &record.Memory{StoreID: "notes", Operation: "search_memory", Entries: make([]record.MemoryEntry, 2)}},
		"doc_1":                          {Documents: []record.Document{{DocumentID: "doc_1"}}},
		"3 documents":                    {Documents: make([]record.Document, 3)},
		"policies, 2 chunks, 1 document": {Retrieval: &record.Retrieval{IndexID: "policies", Chunks: make([]record.Chunk, 2)}, Documents: make([]record.Document, 1)},
		"":                               {},
	} {
		require.Equal(t, want, whatWasRead(&read))
	}
}

func TestATableSaysWhichVersionASystemGave(t *testing.T) {
	asOf := record.NewTime(time.Date(2026, 10, 9, 8, 0, 0, 123_456_789, time.UTC))
	for want, response := range map[string]record.Response{
		"crm":                          {},
		"crm@v41":                      {SourceRecordVersion: "v41", AsOf: asOf},
		"crm@2026-10-09T08:00:00.123Z": {AsOf: asOf},
	} {
		require.Equal(t, want, systemVersion(&record.Read{Source: record.Source{System: "crm"}, Response: response}))
	}
}

func TestAnEntryOfANewerVersionIsShownButNotInterpreted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeFixture(dir, "get"))
	signer, err := journal.NewFileSigner(dir + "/signing-key.pem")
	require.NoError(t, err)
	body := `{"journal_id":"jrn_1","recorded_at":"2026-10-09T09:12:04.418000000Z","sequence":7,"source":{"tool_id":"get"}}`
	line, err := journal.Assemble(record.KindRead, "2.0.0", []byte(body), "", signer).Sign(signer)
	require.NoError(t, err)
	e, err := journal.ParseLine(line[:len(line)-1])
	require.NoError(t, err)
	require.Equal(t, &observation{sequence: 7, event: "read_record", what: "not interpreted: version 2.0.0"}, observe(e))
}

func TestADigestIsShortenedToItsKeyAndItsFirstDigits(t *testing.T) {
	const digits = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for digest, want := range map[string]string{
		"":                                "",
		"sha256:" + digits:                "9f86d081884c",
		"hmac-sha256:bank-2026:" + digits: "bank-2026:9f86d081884c",
		"sha256:short":                    "sha256:short",
		"sha512:" + digits:                "sha512:9f86d081884c",
	} {
		require.Equal(t, want, shortDigest(digest))
	}
}
