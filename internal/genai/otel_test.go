// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// documentForms are the same two documents as every form in which libraries
// write them.
var documentForms = map[string]any{
	"a JSON string": `[{"id":"d1","score":0.50,"content":"first"},{"id":"d2","content":"second"}]`,
	"a structure": []any{
		map[string]any{"id": "d1", "score": 0.5, "content": "first"},
		map[string]any{"id": "d2", "content": "second"},
	},
	"an array of JSON strings": []any{`{"id":"d1","score":0.5,"content":"first"}`, `{"id":"d2","content":"second"}`},
	"JSON in JSON":             `"[{\"id\":\"d1\",\"score\":0.5,\"content\":\"first\"},{\"id\":\"d2\",\"content\":\"second\"}]"`,
	"a wrapper":                `{"documents":[{"id":"d1","score":0.5,"page_content":"first"},{"id":"d2","page_content":"second"}]}`,
	"documents in objects": `[{"document":{"id":"d1","score":5e-1,"content":"first","metadata":{"k":1}}},` +
		`{"document":{"id":"d2","content":"second"}}]`,
	"nodes with scores": map[string]any{"nodes": []any{
		map[string]any{"node": map[string]any{"id_": "d1", "text": "first"}, "score": 0.5},
		map[string]any{"node": map[string]any{"id_": "d2", "text": "second"}},
	}},
}

func TestARetrievalKeepsIdsScoresAndDigestsOfDocumentsInEveryForm(t *testing.T) {
	one, two := content.Plain.OfString("first"), content.Plain.OfString("second")
	want := []record.Chunk{
		{ID: "d1", Score: "0.5", ContentDigest: one.Value, ContentCanonicalization: "bytes", ContentSize: one.Size},
		{ID: "d2", ContentDigest: two.Value, ContentCanonicalization: "bytes", ContentSize: two.Size},
	}
	for form, documents := range documentForms {
		t.Run(form, func(t *testing.T) {
			o := newTestLifter(t).Span(testSpan{name: "retrieval policies", attrs: map[string]any{
				"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "policies",
				"gen_ai.retrieval.query.text": "what", "gen_ai.retrieval.documents": documents,
			}}.input(t))
			require.NotNil(t, o.Read)
			assert.Equal(t, want, o.Read.Retrieval.Chunks)
			assert.Equal(t, "policies", o.Read.Retrieval.IndexID)
			assert.Equal(t, content.Plain.OfString("what").Value, o.Read.Retrieval.QueryDigest)
			assert.Equal(t, record.BasisUnwrapped, o.Read.Basis["retrieval.chunks"])
			assert.NotEmpty(t, o.Read.Response.ResultDigest)
			assert.Equal(t, record.SourceIndex, o.Read.Source.Kind)
			assert.Equal(t, "retrieval policies", o.SafeName)
			draft(t, o)
		})
	}
}

func TestDocumentsThatCanNotBeToldApartLeaveADigestOfTheWhole(t *testing.T) {
	for documents, state := range map[string]record.Captured{
		"plain text": record.CapturedContent, `[{"id":"d1","content":"cut o`: record.CapturedTruncated, "__REDACTED__": record.CapturedPlaceholder,
	} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{
			"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents,
		}}.input(t))
		assert.Empty(t, o.Read.Retrieval.Chunks)
		assert.Equal(t, record.Capture{Request: record.CapturedNothing, Response: state}, o.Read.Capture)
		assert.Equal(t, state != record.CapturedPlaceholder, o.Read.Response.ResultDigest != "")
		draft(t, o)
	}
}

func TestTopKIsReadUnderItsOldAndItsNewName(t *testing.T) {
	for key, value := range map[string]any{"gen_ai.request.top_k": 5.0, "gen_ai.retrieval.top_k": 5} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "retrieval", key: value}}.input(t))
		assert.EqualValues(t, 5, o.Read.Retrieval.TopK, key)
	}
	for _, value := range []any{0, -1, 2.5, "many", 1e300} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.top_k": value}}.input(t))
		assert.Zero(t, o.Read.Retrieval.TopK, value)
	}
}

func TestADatastoreToolIsARetrievalWithAToolName(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{name: "execute_tool search", attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "datastore", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "call_1",
		"gen_ai.tool.call.arguments": `{"q":"x"}`, "gen_ai.tool.call.result": `[{"id":"d1","text":"t"}]`,
	}}.input(t))
	assert.Equal(t, ClassRetrieval, o.Class)
	assert.Equal(t, "read.retrieval", o.Read.EventType)
	assert.Equal(t, "search", o.Read.Source.ToolID)
	assert.Equal(t, "call_1", o.Read.ToolCallID)
	assert.Equal(t, "d1", o.Read.Retrieval.Chunks[0].ID)
	draft(t, o)
}

func TestMemoryOperationsNameStoreOperationAndEntries(t *testing.T) {
	likes := content.Plain.OfString("likes tea")
	t.Run("a search answers with records", func(t *testing.T) {
		o := newTestLifter(t).Span(testSpan{name: "search_memory", attrs: map[string]any{
			"gen_ai.operation.name": "search_memory", "gen_ai.memory.store.id": "prefs", "gen_ai.memory.query.text": "tea?",
			"gen_ai.memory.records": `[{"id":"m1","content":"likes tea","metadata":{"created_at":"2026-01-02T03:04:05Z"}},{"content":null}]`,
		}}.input(t))
		assert.Equal(t, "read.memory", o.Read.EventType)
		assert.Equal(t, record.SourceMemory, o.Read.Source.Kind)
		require.Len(t, o.Read.Memory.Entries, 2)
		e := o.Read.Memory.Entries[0]
		assert.Equal(t, "2026-01-02T03:04:05.000000000Z", e.WrittenAt.String())
		assert.Equal(t, record.MemoryEntry{ID: "m1", WrittenAt: e.WrittenAt, ContentDigest: likes.Value, ContentCanonicalization: "bytes", ContentSize: 9}, e)
		assert.Equal(t, record.MemoryEntry{}, o.Read.Memory.Entries[1])
		assert.Equal(t, record.Capture{Request: record.CapturedContent, Response: record.CapturedContent}, o.Read.Capture)
		assert.Equal(t, "search_memory", o.SafeName)
		draft(t, o)
	})
	t.Run("a write asks with records", func(t *testing.T) {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{
			"gen_ai.operation.name": "upsert_memory", "gen_ai.memory.store.id": "prefs",
			"gen_ai.memory.records": []any{map[string]any{"id": "m1", "content": "likes tea"}},
		}}.input(t))
		assert.Equal(t, "upsert_memory", o.Read.Memory.Operation)
		assert.Equal(t, "prefs", o.Read.Memory.StoreID)
		assert.Equal(t, likes.Value, o.Read.Memory.Entries[0].ContentDigest)
		assert.Equal(t, record.Capture{Request: record.CapturedContent, Response: record.CapturedNothing}, o.Read.Capture)
		draft(t, o)
	})
	t.Run("a deletion names the entry", func(t *testing.T) {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{
			"gen_ai.operation.name": "delete_memory", "gen_ai.memory.record.id": "m1",
		}}.input(t))
		assert.Equal(t, &record.Memory{Operation: "delete_memory", Entries: []record.MemoryEntry{{ID: "m1"}}}, o.Read.Memory)
		draft(t, o)
	})
}

func TestMCPToolCallsAreToolsOnBothSidesAndTheirRPCIdIsNoToolCallID(t *testing.T) {
	for _, kind := range []ptrace.SpanKind{ptrace.SpanKindClient, ptrace.SpanKindServer} {
		o := newTestLifter(t).Span(testSpan{name: "tools/call crm.get", kind: kind, attrs: map[string]any{
			"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "crm.get",
			"jsonrpc.request.id": 7, "mcp.session.id": "s1", "gen_ai.tool.call.arguments": map[string]any{"id": 9007199254740993},
			"gen_ai.tool.call.result": `{"content":[]}`, "error.type": "tool_error",
		}}.input(t))
		assert.Equal(t, ClassTool, o.Class)
		assert.Equal(t, "otel-mcp", o.Dialect)
		assert.Equal(t, "crm.get", o.Read.Source.ToolID)
		assert.Empty(t, o.Read.ToolCallID)
		assert.Equal(t, "7", o.Read.Correlation.RequestID)
		assert.Equal(t, "s1", o.Read.Correlation.CorrelationID)
		assert.Equal(t, "json", o.Read.Request.ArgumentsCanonicalization)
		assert.Equal(t, record.StatusError, o.Read.Response.Status)
		assert.Equal(t, "tools/call crm.get", o.SafeName)
		wantEdge := record.EdgeType("")
		if kind == ptrace.SpanKindClient {
			wantEdge = record.EdgeProtocolCall
		}
		assert.Equal(t, wantEdge, o.Skeleton.EdgeType)
		draft(t, o)
	}
}

func TestAnMCPToolNameStandsInTheSpanNameIfNowhereElse(t *testing.T) {
	l := newTestLifter(t)
	named := func(name string) string {
		return l.Span(testSpan{name: name, attrs: map[string]any{"mcp.method.name": "tools/call"}}.input(t)).Read.Source.ToolID
	}
	assert.Equal(t, "weather", named("tools/call weather"))
	assert.Empty(t, named("tools/call what is my balance"))
	assert.Empty(t, named("anything"))
}

func TestAnMCPResourceIsADocumentNamedByTheDigestOfItsURI(t *testing.T) {
	for _, uri := range []string{
		"kyc://passport/doc_syn_771", "file:///home/marta exempel/pass.pdf", "notes://x/Marta%20Exempel%20has%20cancer", "mailto:jane@example.com",
	} {
		o := readResource(t, uri, nil)
		assert.Equal(t, ClassDocument, o.Class)
		assert.Equal(t, "read.document", o.Read.EventType)
		assert.Equal(t, record.SourceDocument, o.Read.Source.Kind)
		assert.Equal(t, []record.Document{{DocumentID: content.Plain.OfString(uri).Value, WithContent: true}}, o.Read.Documents)
		assert.Equal(t, content.Plain.OfString(uri).Value, o.Read.Request.ArgumentsDigest)
		assert.Equal(t, record.CapturedContent, o.Read.Capture.Request)
		assert.Empty(t, o.SafeName)
		draft(t, o)

		o = readResource(t, uri, map[string]any{ownDocumentID: "doc_1"})
		assert.Equal(t, []record.Document{{DocumentID: "doc_1", WithContent: true}}, o.Read.Documents)
	}
}

func TestAResourceWithACredentialInItsURIHasNeitherNameNorDigest(t *testing.T) {
	for _, uri := range []any{
		"https://user:secret@example.com/a", "https://example.com/a?token=abcdefghij", "https://hooks.slack.com/services/T0/B0/x", "https://h/hf_0123456789abcdefghijklmnop",
		"https://h/ya29.0123456789abcdefghij", "https://h/token=S", "https://h/a%3Faccess_token%3DS", "//user:pw@h/x", "https://h/?accessToken=S",
		map[string]any{"access_token": "S"},
	} {
		o := readResource(t, uri, nil)
		assert.Equal(t, "read.document", o.Read.EventType)
		assert.Empty(t, o.Read.Documents, uri)
		assert.Empty(t, o.Read.Request.ArgumentsDigest, uri)
		assert.Equal(t, record.CapturedPlaceholder, o.Read.Capture.Request, uri)
		draft(t, o)

		o = readResource(t, uri, map[string]any{ownDocumentID: "doc_1", "gen_ai.tool.call.arguments": "{}"})
		assert.Equal(t, "doc_1", o.Read.Documents[0].DocumentID)
		assert.Equal(t, content.Plain.OfString("{}").Value, o.Read.Request.ArgumentsDigest)
	}
}

func readResource(t *testing.T, uri any, attrs map[string]any) Observation {
	t.Helper()
	all := map[string]any{"mcp.method.name": "resources/read", "mcp.resource.uri": uri}
	maps.Copy(all, attrs)
	return newTestLifter(t).Span(testSpan{name: "resources/read x", kind: ptrace.SpanKindClient, attrs: all}.input(t))
}

func TestOtherMCPMethodsAreNoReads(t *testing.T) {
	for _, method := range []string{"initialize", "ping", "tools/list", "prompts/get", "server/discover", "notifications/initialized"} {
		o := newTestLifter(t).Span(testSpan{name: method, attrs: map[string]any{"mcp.method.name": method}}.input(t))
		assert.Equal(t, ClassMCP, o.Class, method)
		assert.Nil(t, o.Read)
		assert.Equal(t, method, o.SafeName)
	}
}

func TestARequestedToolCallIsNeverAnExecutedOne(t *testing.T) {
	for _, attrs := range []map[string]any{
		{
			"gen_ai.operation.name": "chat", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "call_1",
			"gen_ai.output.messages": `[{"role":"assistant","parts":[{"type":"tool_call","id":"call_1","name":"f"}]}]`,
		},
		{"gen_ai.system": "openai", "gen_ai.request.model": "gpt-4", "gen_ai.tool.call.id": "call_1"},
		{"ai.operationId": "ai.generateText.doGenerate", "ai.response.toolCalls": `[{"toolName":"f"}]`},
		{"openinference.span.kind": "LLM", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f"},
	} {
		o := newTestLifter(t).Span(testSpan{attrs: attrs, change: func(s ptrace.Span) {
			e := s.Events().AppendEmpty()
			e.SetName("gen_ai.choice")
			e.Attributes().PutStr("message", `{"tool_calls":[]}`)
		}}.input(t))
		assert.Equal(t, ClassInference, o.Class)
		assert.Nil(t, o.Read)
	}
}

func TestOperationsOfEveryVersionAreClassified(t *testing.T) {
	for op, class := range map[string]Class{
		"chat": ClassInference, "text_completion": ClassInference, "generate_content": ClassInference, "fetch_response": ClassInference,
		"embeddings": ClassEmbedding, "create_agent": ClassAgent, "invoke_agent": ClassAgent, "invoke_workflow": ClassAgent, "plan": ClassAgent,
		"rerank": ClassRetrieval, "create_memory_store": ClassMemory, "never_heard_of": ClassOther,
	} {
		o := newTestLifter(t).Span(testSpan{name: op, attrs: map[string]any{"gen_ai.operation.name": op, "gen_ai.system": "openai"}}.input(t))
		assert.Equal(t, class, o.Class, op)
	}
}

func TestAToolSpanOfBeforeOperationsIsATool(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.tool.name": "f", "gen_ai.tool.call.id": "<not specified>"}}.input(t))
	assert.Equal(t, ClassTool, o.Class)
	assert.Empty(t, o.Read.ToolCallID)
	assert.Equal(t, record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing}, o.Read.Capture)
	draft(t, o)
}

func testLog(t *testing.T, change func(plog.LogRecord)) LogInput {
	t.Helper()
	batch := plog.NewLogs()
	sl := batch.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	l := sl.LogRecords().AppendEmpty()
	l.SetTimestamp(1_791_533_523_418_000_000)
	change(l)
	return LogInput{Resource: batch.ResourceLogs().At(0).Resource(), Scope: sl.Scope(), Log: l}
}

func TestMessageEventsAreInferenceAndNeverReads(t *testing.T) {
	for _, name := range []string{
		"gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message", "gen_ai.choice",
		"gen_ai.client.inference.operation.details",
	} {
		for _, asAttribute := range []bool{false, true} {
			o := newTestLifter(t).Log(testLog(t, func(l plog.LogRecord) {
				if asAttribute {
					l.Attributes().PutStr("event.name", name)
				} else {
					l.SetEventName(name)
				}
				l.Body().SetEmptyMap().PutStr("id", "call_1")
				l.Attributes().PutStr("gen_ai.operation.name", "chat")
			}))
			assert.Equal(t, ClassInference, o.Class, name)
			assert.Nil(t, o.Read)
		}
	}
}

func TestALogRecordOfAnExecutedToolIsAReadOfItsOwn(t *testing.T) {
	l := newTestLifter(t)
	in := testLog(t, func(r plog.LogRecord) {
		r.SetEventName("tool.done")
		r.Body().SetStr("done")
		r.SetTraceID([16]byte{1})
		r.SetSpanID([8]byte{2})
		require.NoError(t, r.Attributes().FromRaw(map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "call_1", "gen_ai.tool.call.result": "r",
		}))
	})
	o := l.Log(in)
	require.NotNil(t, o.Read)
	assert.Equal(t, record.SignalLog, o.Read.ObservedBy.Signal)
	assert.Equal(t, record.ReadIDOfLog([16]byte{1}, [8]byte{2}, 1_791_533_523_418_000_000, "tool.done", "call_1", content.Plain.OfString("done").Value), o.Read.ReadID)
	assert.Equal(t, record.StatusOK, o.Read.Response.Status)
	draft(t, o)
}
