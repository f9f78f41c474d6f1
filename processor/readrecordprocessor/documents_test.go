// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"encoding/json/v2"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/record"
)

var (
	sumOne = strings.Repeat("a1", 32)
	sumTwo = strings.Repeat("b2", 32)
)

// callOf runs one call of a tool through the processor with the rules of
// testdata/config.yaml and returns its record. Nothing of canary may leave.
func callOf(t *testing.T, tool string, attrs map[string]any, change ...func(ptrace.Span)) *record.Read {
	t.Helper()
	cfg, err := load(t, "all_settings")
	require.NoError(t, err)
	cfg.(*Config).Mode = strip.Strict
	p, s := newTraces(t, settings(nil), cfg.(*Config).WithoutKeys())
	td := ptrace.NewTraces()
	span := toolSpan(newScope(td), 1)
	require.NoError(t, span.Attributes().FromRaw(attrs))
	span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	span.Attributes().PutStr("gen_ai.tool.name", tool)
	for _, c := range change {
		c(span)
	}
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	require.Len(t, s.batch().Items, 1)
	text := body(s.batch().Items[0].Draft)
	assert.NotContains(t, text, "CANARY")
	assert.NotContains(t, s.json(t), "CANARY")
	var r record.Read
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	return &r
}

func timeOf(t *testing.T, s string) record.Time {
	t.Helper()
	tm, err := record.ParseTime(s)
	require.NoError(t, err)
	return tm
}

func TestARuleNamesTheDocumentsOfATool(t *testing.T) {
	list := `{"files":[{"id":"doc_1","sha256":"` + strings.ToUpper(sumOne) + `","version":3,"received_at":"2026-10-09T08:12:03Z","text":"` + canary + `"},` +
		`{"id":"Akte CANARY.pdf","sha256":"sha256:` + sumTwo + `","version":"CANARY is no version","received_at":"yesterday"},` +
		`{"id":"doc_1","sha256":"` + sumOne + `","version":"3","received_at":"2026-10-09T08:12:03Z"},{"sha256":"` + sumOne + `"}]}`
	want := []record.Document{
		{DocumentID: "doc_1", ChecksumSHA256: sumOne, ObjectVersionID: "3", ReceivedAt: timeOf(t, "2026-10-09T08:12:03.000000000Z"), WithContent: true},
		{DocumentID: content.Plain.OfRaw([]byte("Akte CANARY.pdf")).Value, ChecksumSHA256: sumTwo, WithContent: true},
	}
	for name, result := range map[string]any{
		"JSON":                      list,
		"the result of an MCP tool": fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, list),
		"an array of JSON strings": map[string]any{"files": []any{
			`{"id":"doc_1","sha256":"` + sumOne + `","version":"3","received_at":"2026-10-09T10:12:03+02:00"}`, `{"id":"Akte CANARY.pdf","sha256":"` + sumTwo + `"}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := callOf(t, "dms.fetch", map[string]any{"gen_ai.tool.call.result": result})
			assert.Equal(t, want, r.Documents)
			assert.Equal(t, record.EventReadDocument, r.EventType)
			assert.Equal(t, record.SourceDocument, r.Source.Kind)
			assert.Equal(t, record.BasisRule, r.Basis["documents"])
			assert.NotEmpty(t, r.Response.ResultDigest)
		})
	}
	t.Run("one document alone", func(t *testing.T) {
		r := callOf(t, "dms.fetch", map[string]any{"gen_ai.tool.call.result": `{"files":{"id":"doc_1"}}`})
		assert.Equal(t, []record.Document{{DocumentID: "doc_1", WithContent: true}}, r.Documents)
	})
	t.Run("a result that was not captured", func(t *testing.T) {
		r := callOf(t, "dms.fetch", nil)
		assert.Empty(t, r.Documents)
		assert.Equal(t, record.EventReadDocument, r.EventType)
		assert.NotContains(t, r.Basis, "documents")
		assert.Equal(t, record.CapturedNothing, r.Capture.Response)
	})
	t.Run("a read that failed", func(t *testing.T) {
		r := callOf(t, "dms.fetch", map[string]any{"gen_ai.tool.call.result": list}, func(s ptrace.Span) { s.Status().SetCode(ptrace.StatusCodeError) })
		require.Len(t, r.Documents, 2)
		assert.False(t, r.Documents[0].WithContent)
	})
	t.Run("a tool that only names documents", func(t *testing.T) {
		r := callOf(t, "dms.list", map[string]any{"gen_ai.tool.call.result": `{"ids":["doc_1","doc_2"]}`})
		assert.Equal(t, []record.Document{{DocumentID: "doc_1"}, {DocumentID: "doc_2"}}, r.Documents)
	})
}

func TestTheApplicationNamesItsDocuments(t *testing.T) {
	five := `[{"id":"doc_1","checksum_sha256":"` + sumOne + `","object_version_id":"3","received_at":"2026-10-09T08:12:03Z"},` +
		`{"id":"doc_2","checksum_sha256":"` + sumTwo + `"},"doc_3",{"id":"doc_4","with_content":false},{"id":"doc_5","checksum_sha256":"CANARY"}]`
	var structured []any
	require.NoError(t, json.Unmarshal([]byte(five), &structured))
	want := []record.Document{
		{DocumentID: "doc_1", ChecksumSHA256: sumOne, ObjectVersionID: "3", ReceivedAt: timeOf(t, "2026-10-09T08:12:03.000000000Z"), WithContent: true},
		{DocumentID: "doc_2", ChecksumSHA256: sumTwo, WithContent: true},
		{DocumentID: "doc_3", WithContent: true},
		{DocumentID: "doc_4"},
		{DocumentID: "doc_5", WithContent: true},
	}
	for name, list := range map[string]any{"JSON": five, "a structure": structured} {
		t.Run(name, func(t *testing.T) {
			r := callOf(t, "dms.fetch", map[string]any{"readtrail.documents": list, "gen_ai.tool.call.result": `{"files":[{"id":"other"}]}`})
			assert.Equal(t, want, r.Documents)
			assert.Equal(t, record.BasisAttribute, r.Basis["documents"])
			assert.Equal(t, record.EventReadDocument, r.EventType)
		})
	}
	r := callOf(t, "any.tool", map[string]any{
		"readtrail.document.id": "doc_0", "readtrail.document.with_content": false, "readtrail.documents": []any{`{"document_id":"doc_1"}`}, "readtrail.document.checksum_sha256": "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE=",
	})
	assert.Equal(t, []record.Document{{DocumentID: "doc_0", ChecksumSHA256: sumOne}, {DocumentID: "doc_1", WithContent: true}}, r.Documents)
}

func TestARuleSaysWhatAToolFoundInAnIndex(t *testing.T) {
	first, object := content.Plain.OfString(canary), content.Plain.OfString(`{"a":0.1,"b":"x"}`)
	want := []record.Chunk{
		{ID: "c_1", Score: "0.87", ContentDigest: first.Value, ContentCanonicalization: "bytes", ContentSize: first.Size},
		{ID: "9007199254740993", Score: "0.5", ContentDigest: object.Value, ContentCanonicalization: "jcs", ContentSize: object.Size},
		{},
	}
	for name, result := range map[string]any{
		"JSON": `{"index":{"build":"b_17"},"hits":[{"chunk":"c_1","score":0.870,"text":"` + canary + `"},{"chunk":9007199254740993,"score":"0.5","text":{"b":"x","a":0.10}},{"chunk":["CANARY"],"score":"high"}]}`,
		"a structure": map[string]any{"index": map[string]any{"build": "b_17"}, "hits": []any{
			map[string]any{"chunk": "c_1", "score": 0.87, "text": canary},
			map[string]any{"chunk": int64(9007199254740993), "score": "0.5", "text": map[string]any{"b": "x", "a": 0.1}},
			map[string]any{},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := callOf(t, "policy_search", map[string]any{"gen_ai.tool.call.arguments": `{"query":"` + canary + `"}`, "gen_ai.tool.call.result": result})
			assert.Equal(t, &record.Retrieval{
				IndexID: "policy-manual", BuildVersion: "b_17", TopK: 5, Chunks: want,
				QueryDigest: first.Value, QueryCanonicalization: "bytes", QuerySize: first.Size,
			}, r.Retrieval)
			assert.Equal(t, record.EventReadRetrieval, r.EventType)
			assert.Equal(t, record.SourceIndex, r.Source.Kind)
			for _, member := range []string{"retrieval.index_id", "retrieval.build_version", "retrieval.top_k", "retrieval.query_digest", "retrieval.chunks"} {
				assert.Equal(t, record.BasisRule, r.Basis[member], member)
			}
		})
	}
	t.Run("an empty list is an answer", func(t *testing.T) {
		r := callOf(t, "policy_search", map[string]any{"gen_ai.tool.call.result": `{"hits":[]}`})
		assert.Empty(t, r.Retrieval.Chunks)
		assert.Equal(t, record.BasisRule, r.Basis["retrieval.chunks"])
	})
	t.Run("a path that leads nowhere leaves it to what is recognized", func(t *testing.T) {
		r := callOf(t, "policy_search", map[string]any{"gen_ai.tool.call.result": `{"matches":[{"id":"c_9","score":1}]}`})
		assert.Equal(t, []record.Chunk{{ID: "c_9", Score: "1"}}, r.Retrieval.Chunks)
		assert.Equal(t, record.BasisUnwrapped, r.Basis["retrieval.chunks"])
	})
	t.Run("the application knows better", func(t *testing.T) {
		r := callOf(t, "policy_search", map[string]any{
			"readtrail.retrieval.index_id": "other", "readtrail.retrieval.build_version": "b_18", "readtrail.retrieval.top_k": 7,
			"readtrail.retrieval.chunks": `[{"id":"c_7","score":0.25,"content":"` + canary + `"}]`,
		})
		assert.Equal(t, &record.Retrieval{IndexID: "other", BuildVersion: "b_18", TopK: 7, Chunks: []record.Chunk{
			{ID: "c_7", Score: "0.25", ContentDigest: first.Value, ContentCanonicalization: "bytes", ContentSize: first.Size},
		}}, r.Retrieval)
		for _, member := range []string{"retrieval.index_id", "retrieval.build_version", "retrieval.top_k", "retrieval.chunks"} {
			assert.Equal(t, record.BasisAttribute, r.Basis[member], member)
		}
		assert.Equal(t, record.CapturedContent, r.Capture.Response)
	})
}

func TestARuleSaysWhatAToolFoundInAMemory(t *testing.T) {
	note := content.Plain.OfString(canary)
	want := []record.MemoryEntry{
		{ID: "m_1", WrittenAt: timeOf(t, "2026-01-02T03:04:05.500000000Z"), ContentDigest: note.Value, ContentCanonicalization: "bytes", ContentSize: note.Size},
		{ID: "m_2"},
	}
	r := callOf(t, "memory_search", map[string]any{
		"gen_ai.tool.call.result": `{"notes":[{"id":"m_1","saved":"2026-01-02T03:04:05.5Z","note":"` + canary + `"},{"id":"m_2","saved":1767323045}]}`,
	})
	assert.Equal(t, &record.Memory{StoreID: "prefs", Operation: "search_memory", Entries: want}, r.Memory)
	assert.Equal(t, record.EventReadMemory, r.EventType)
	assert.Equal(t, record.SourceMemory, r.Source.Kind)
	for _, member := range []string{"memory.store_id", "memory.operation", "memory.entries"} {
		assert.Equal(t, record.BasisRule, r.Basis[member], member)
	}

	r = callOf(t, "recall", map[string]any{
		"readtrail.memory.store_id": "notes", "readtrail.memory.operation": "upsert_memory",
		"readtrail.memory.entries": []any{map[string]any{"id": "m_1", "written_at": "2026-01-02T03:04:05.5Z", "content": canary}, map[string]any{"id": "m_2"}},
	})
	assert.Equal(t, &record.Memory{StoreID: "notes", Operation: "upsert_memory", Entries: want}, r.Memory)
	assert.Equal(t, record.EventReadMemory, r.EventType)
	assert.Equal(t, record.SourceMemory, r.Source.Kind)
	assert.Equal(t, record.BasisAttribute, r.Basis["memory.entries"])
}

func TestMoreDocumentsThanAnEntryHoldsAreUnrecordable(t *testing.T) {
	many := `[` + strings.Repeat(`"d",`, 10_000) + `"d"]`
	for tool, attrs := range map[string]map[string]any{
		"any.tool":      {"readtrail.documents": many},
		"dms.fetch":     {"gen_ai.tool.call.result": `{"files":` + many + `}`},
		"policy_search": {"gen_ai.tool.call.result": `{"hits":` + many + `}`},
		"memory_search": {"gen_ai.tool.call.result": `{"notes":` + many + `}`},
	} {
		cfg, err := load(t, "all_settings")
		require.NoError(t, err)
		p, s := newTraces(t, settings(nil), cfg.(*Config).WithoutKeys())
		td := ptrace.NewTraces()
		span := toolSpan(newScope(td), 1)
		require.NoError(t, span.Attributes().FromRaw(attrs))
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		span.Attributes().PutStr("gen_ai.tool.name", tool)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		require.Len(t, s.batch().Items, 1, tool)
		assert.Contains(t, body(s.batch().Items[0].Draft), "item.unrecordable", tool)
	}
}
