// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func withEvents(events ...map[string]any) func(ptrace.Span) {
	return func(s ptrace.Span) {
		for _, attrs := range events {
			e := s.Events().AppendEmpty()
			e.SetName(attrs["event"].(string))
			_ = e.Attributes().FromRaw(attrs)
			e.Attributes().Remove("event")
		}
	}
}

func TestOnlyAKnownWrapperIsTakenOff(t *testing.T) {
	for name, c := range map[string]struct {
		input, want string
		basis       record.Basis
	}{
		"LangChain's callback":         {`{"input_str":"x","tags":[],"metadata":{},"inputs":{"id":1},"kwargs":{}}`, `{"id":1}`, record.BasisUnwrapped},
		"without structured inputs":    {`{"input_str":"x","tags":[],"metadata":{},"inputs":null,"kwargs":{}}`, `x`, record.BasisUnwrapped},
		"an MCP request":               {`{"tool_name":"f","arguments":{"id":1}}`, `{"id":1}`, record.BasisUnwrapped},
		"a tool's own inputs":          {`{"inputs":{"id":1},"reason":"x"}`, `{"inputs":{"id":1},"reason":"x"}`, ""},
		"a tool's own arguments":       {`{"arguments":{"id":1}}`, `{"arguments":{"id":1}}`, ""},
		"no JSON":                      {`{'inputs': 1, 'input_str': 2}`, `{'inputs': 1, 'input_str': 2}`, ""},
		"a wrapper that was cut short": {`{"input_str":"x","tags":[],"metadata":{},"inputs":{"id":`, `{"input_str":"x","tags":[],"metadata":{},"inputs":{"id":`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTestLifter(t).Span(testSpan{name: "f.tool", attrs: map[string]any{
				"traceloop.span.kind": "tool", "traceloop.entity.name": "f", "traceloop.entity.input": c.input,
			}}.input(t))
			assert.Equal(t, content.Plain.OfString(c.want).Value, o.Read.Request.ArgumentsDigest)
			assert.Equal(t, c.basis, o.Read.Basis["request.arguments_digest"])
			draft(t, o)
		})
	}
}

func TestAMatchIsWhatAnEventSaysOfIt(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{name: "marqo.search", attrs: map[string]any{"db.system": "marqo", "db.operation": "search"}, change: withEvents(
		map[string]any{"event": "db.query.result", "_id": "d1", "_score": 0.5, "Title": "t", "Text": "x"},
		map[string]any{"event": "db.search.result", "db.search.result.id": 7, "db.search.result.distance": "0.1", "db.search.result.entity": "e"},
		map[string]any{"event": "db.query.result", "db.query.result.id": "d3", "db.query.result.distance": "0.1"},
		map[string]any{"event": "db.query.embeddings", "db.query.embeddings.vector": "[0.1]"},
	)}.input(t))
	require.Len(t, o.Read.Retrieval.Chunks, 3)
	assert.Equal(t, "d1", o.Read.Retrieval.Chunks[0].ID)
	assert.Equal(t, "0.5", o.Read.Retrieval.Chunks[0].Score)
	assert.Equal(t, content.Plain.OfString(`{"Text":"x","Title":"t"}`).Value, o.Read.Retrieval.Chunks[0].ContentDigest)
	assert.Equal(t, "7", o.Read.Retrieval.Chunks[1].ID)
	assert.Empty(t, o.Read.Retrieval.Chunks[1].Score, "a distance is no score")
	assert.Equal(t, content.Plain.OfString("e").Value, o.Read.Retrieval.Chunks[1].ContentDigest)
	assert.Equal(t, record.Chunk{ID: "d3"}, o.Read.Retrieval.Chunks[2])
	assert.Equal(t, record.BasisReassembled, o.Read.Basis["retrieval.chunks"])
	assert.Equal(t, record.Capture{Request: record.CapturedNothing, Response: record.CapturedContent}, o.Read.Capture)
	assert.Equal(t, "marqo", o.Skeleton.Effect.System)
	draft(t, o)
}

func TestMatchesAreGroupsOfAttributesOrEvents(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{name: "pinecone.query", attrs: map[string]any{
		"db.system":                       "Pinecone",
		"db.vector.query.result.1.id":     "d2",
		"db.vector.query.result.0.id":     "d1",
		"db.vector.query.result.0.score":  0.25,
		"db.vector.query.result.01.id":    "no",
		"db.vector.query.result.x.id":     "no",
		"db.vector.query.result.2.values": []any{0.1},
	}, change: withEvents(
		map[string]any{"event": "pinecone.query.result.1.metadata", "text": "x"},
		map[string]any{"event": "pinecone.query.result.9.metadata", "text": "y"},
	)}.input(t))
	require.Len(t, o.Read.Retrieval.Chunks, 3)
	assert.Equal(t, record.Chunk{ID: "d1", Score: "0.25"}, o.Read.Retrieval.Chunks[0])
	assert.Equal(t, content.Plain.OfString(`{"text":"x"}`).Value, o.Read.Retrieval.Chunks[1].ContentDigest)
	assert.Equal(t, record.Chunk{}, o.Read.Retrieval.Chunks[2])
	draft(t, o)
}

func TestMatchesThatAreOnlyCountedAreNoContent(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{scope: "@openlit/instrumentation-qdrant", name: "SEARCH kyc", attrs: map[string]any{
		"db.system.name": "qdrant", "db.operation.name": "SEARCH", "db.collection.name": "kyc", "db.n_results": 2, "db.vector.query.top_k": 5, "db.query.text": "[0.1]",
	}}.input(t))
	assert.Equal(t, "openlit", o.Dialect)
	assert.Equal(t, []record.Chunk{{}, {}}, o.Read.Retrieval.Chunks)
	assert.EqualValues(t, 5, o.Read.Retrieval.TopK)
	assert.Equal(t, record.Capture{Request: record.CapturedContent, Response: record.CapturedNothing}, o.Read.Capture)
	assert.Equal(t, "SEARCH kyc", o.SafeName)
	draft(t, o)

	for _, n := range []any{-1, 0, maxCounted + 1, 1 << 40, "many", nil} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"db.system.name": "qdrant", "db.operation.name": "SEARCH", "db.n_results": n}}.input(t))
		require.NotNil(t, o.Read, n)
		assert.Empty(t, o.Read.Retrieval.Chunks, n)
	}
}

func TestTheMembersOfAWholeRequestAreNotItsName(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{name: "tools/call", attrs: map[string]any{
		"mcp.method.name": "tools/call", "mcp.tool.name": "f", "mcp.request.argument.id": `"1"`, "mcp.request.argument.note": `"n"`,
		"mcp.tool.result.0.content": "a", "mcp.tool.result.1.content": "b",
	}}.input(t))
	assert.Equal(t, content.Plain.OfString(`{"id":"\"1\"","note":"\"n\""}`).Value, o.Read.Request.ArgumentsDigest)
	assert.Equal(t, content.Plain.OfString(`{"0":"a","1":"b"}`).Value, o.Read.Response.ResultDigest)
	assert.Equal(t, record.BasisReassembled, o.Read.Basis["response.result_digest"])
	draft(t, o)
}

func TestAReadWinsOverTheKindOfAnotherDialect(t *testing.T) {
	for _, attrs := range []map[string]any{
		{"langfuse.observation.type": "span", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"},
		{"langsmith.span.kind": "chain", "openinference.span.kind": "TOOL", "tool.name": "f"},
		{"mlflow.spanType": `"CHAIN"`, "ai.toolCall.name": "f"},
		{"gen_ai.span.kind": "STEP", "mcp.method.name": "tools/call", "gen_ai.tool.name": "f"},
		{"traceloop.span.kind": "workflow", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"},
	} {
		o := newTestLifter(t).Span(testSpan{name: "f", attrs: attrs}.input(t))
		assert.Equal(t, ClassTool, o.Class, attrs)
		assert.Equal(t, "f", o.Read.Source.ToolID, attrs)
	}
}

// TestEveryRowSaysByWhatItIsFound keeps a span that no dialect knows cheap.
func TestEveryRowSaysByWhatItIsFound(t *testing.T) {
	for i, r := range rows() {
		assert.False(t, r.when.on.empty(), "row %d (%s, %s) is tried on every item", i, r.dialect, r.class)
	}
}

// TestATriggerIsNoMoreThanAHint holds that a row is found for every item that
// its condition holds for: a table without an index recognizes the same.
func TestATriggerIsNoMoreThanAHint(t *testing.T) {
	l := newTestLifter(t)
	for _, file := range tracesFiles(t) {
		spans(t, file, func(in SpanInput) {
			it := spanItem(in)
			var want *compiledRow
			for i := range l.table.spans.rows {
				if r := &l.table.spans.rows[i]; r.when.holds(it) {
					want = r
					break
				}
			}
			if want == nil {
				want = &unknown
			}
			got, _ := l.table.match(it)
			require.Same(t, want, got, in.Span.Name())
		})
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("db.query.result", "db.query.result.id", "d1", "db.vector.query.result.0.metadata", "x")
	f.Add("pinecone.query.result.0.metadata", "text", "x", "db.vector.query.result.0.id", "\xff")
	f.Add("db.search.result", "db.search.result.entity", `{"a":`, "db.vector.query.result.99999999999999999999.id", "")
	f.Fuzz(func(t *testing.T, event, key, value, attr, text string) {
		o := newTestLifter(t).Span(testSpan{name: "pinecone.query", attrs: map[string]any{"db.system": "Pinecone", attr: text}, change: func(s ptrace.Span) {
			e := s.Events().AppendEmpty()
			e.SetName(event)
			e.Attributes().PutStr(key, value)
			e.Attributes().CopyTo(s.Attributes().PutEmptyMap("more"))
			s.SetSpanID(pcommon.SpanID{1})
		}}.input(t))
		if o.Read != nil {
			draft(t, o)
		}
	})
}
