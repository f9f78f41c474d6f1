// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func TestDialectsSayTheSameInPlacesOfTheirOwn(t *testing.T) {
	l := newTestLifter(t)

	t.Run("a key of its own", func(t *testing.T) {
		o := l.Span(testSpan{attrs: map[string]any{
			"langsmith.span.kind": "retriever", "gen_ai.operation.name": "embeddings",
			"gen_ai.prompt": `{"input":"what"}`, "gen_ai.completion": `{"output":[{"page_content":"first"}]}`,
		}}.input(t))
		assert.Equal(t, content.Plain.OfString("what").Value, o.Read.Retrieval.QueryDigest)
		assert.Equal(t, content.Plain.OfString("first").Value, o.Read.Retrieval.Chunks[0].ContentDigest)
		assert.Equal(t, "jcs", o.Read.Response.ResultCanonicalization)
		draft(t, o)
	})
	t.Run("content in events", func(t *testing.T) {
		o := l.Span(testSpan{scope: "strands.telemetry.tracer", attrs: map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f",
		}, change: events(
			attributes{"event": "gen_ai.tool.message", "content": `{"a":1}`}, attributes{"event": "gen_ai.choice", "message": "done"},
		)}.input(t))
		assert.Equal(t, content.Plain.OfString(`{"a":1}`).Value, o.Read.Request.ArgumentsDigest)
		assert.Equal(t, content.Plain.OfString("done").Value, o.Read.Response.ResultDigest)
		draft(t, o)
	})
	t.Run("empty JSON in place of content", func(t *testing.T) {
		o := l.Span(testSpan{scope: "gcp.vertex.agent", attrs: map[string]any{
			"gen_ai.operation.name": "execute_tool", "gcp.vertex.agent.tool_call_args": map[string]any{}, "gcp.vertex.agent.invocation_id": "run_1",
		}}.input(t))
		assert.Equal(t, record.CapturedPlaceholder, o.Read.Capture.Request)
		assert.Empty(t, o.Read.Request.ArgumentsDigest)
		assert.Equal(t, "run_1", o.ExecutionID)
		draft(t, o)
	})
	t.Run("one event for each document", func(t *testing.T) {
		o := l.Span(testSpan{attrs: map[string]any{"db.system": "chroma", "db.chroma.query.n_results": 2}, change: events(
			attributes{"event": "db.query.result", "db.query.result.id": "d1", "db.query.result.document": "text of d1"},
			attributes{"event": "db.query.result", "db.query.result.id": "d2", "db.query.result.document": "text of d2"},
		)}.input(t))
		assert.Len(t, o.Read.Retrieval.Chunks, 2)
		assert.Equal(t, "d2", o.Read.Retrieval.Chunks[1].ID)
		assert.Equal(t, record.CapturedContent, o.Read.Capture.Response)
		assert.EqualValues(t, 2, o.Read.Retrieval.TopK)
		draft(t, o)
	})
	t.Run("the tool in the span name", func(t *testing.T) {
		o := l.Span(testSpan{scope: "logfire.openai_agents", name: "Function: lookup", attrs: map[string]any{"input": "i"}}.input(t))
		assert.Equal(t, "lookup", o.Read.Source.ToolID)
		assert.Equal(t, "Function: lookup", o.SafeName)
		draft(t, o)
	})
}

func TestEveryRowHasAConditionWithTriggersAClassAndReadableNames(t *testing.T) {
	for i, r := range rows() {
		assert.NotNil(t, r.when.holds, i)
		assert.False(t, r.when.on.empty(), "row %d (%s, %s) is tried on every item", i, r.dialect, r.class)
		assert.NotEmpty(t, r.class, i)
		for _, name := range r.names {
			for _, segment := range parseName(name) {
				if segment.key != "" && segment.key != segmentTool && segment.key != segmentNumber {
					assert.Equal(t, content.Harmless, harmless.Rule(segment.key, 0).Class, "%s: key %s does not stay in clear", name, segment.key)
				}
			}
		}
	}
}

func TestASpanThatTwoDialectsDescribeIsOneReadWithNameAndCallID(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{scope: "ai", name: "ai.toolCall kyc", attrs: map[string]any{
		"ai.operationId": "ai.toolCall", "operation.name": "ai.toolCall kyc", "ai.telemetry.functionId": "kyc",
		"ai.toolCall.name": "lookup", "ai.toolCall.id": "call_1", "ai.toolCall.args": "{}",
		"openinference.span.kind": "TOOL", "tool.name": "lookup", "tool_call.id": "call_1", "input.value": "{}",
	}}.input(t))
	assert.Equal(t, "vercel-ai", o.Dialect)
	assert.Equal(t, "lookup", o.Read.Source.ToolID)
	assert.Equal(t, "call_1", o.Read.ToolCallID)
	assert.Equal(t, record.CapturedContent, o.Read.Capture.Request)
	assert.Equal(t, "ai.toolCall kyc", o.SafeName)
}

func TestAnOpenInferenceRetrieverHasFlattenedDocuments(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{scope: "openinference.instrumentation.langchain", name: "Retriever", attrs: map[string]any{
		"openinference.span.kind": "RETRIEVER", "input.value": "what",
		"retrieval.documents.1.document.content": "second", "retrieval.documents.0.document.content": "first",
		"retrieval.documents.0.document.id": "d1", "retrieval.documents.0.document.score": 0.25, "retrieval.documents.10.document.id": "d3",
		"retrieval.documents.x.document.id": "no", "retrieval.documents.007.document.id": "no",
	}}.input(t))
	require.Len(t, o.Read.Retrieval.Chunks, 3)
	assert.Equal(t, "d1", o.Read.Retrieval.Chunks[0].ID)
	assert.Equal(t, "0.25", o.Read.Retrieval.Chunks[0].Score)
	assert.Equal(t, content.Plain.OfString("second").Value, o.Read.Retrieval.Chunks[1].ContentDigest)
	assert.Equal(t, "d3", o.Read.Retrieval.Chunks[2].ID)
	assert.Empty(t, o.Read.Response.ResultDigest, "no value holds the answer as a whole")
	assert.Equal(t, record.CapturedContent, o.Read.Capture.Response)
	draft(t, o)
}

func TestARerankAnswersInTheOrderOfItsRanking(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{scope: "gen_ai", name: "rerank m", attrs: map[string]any{
		"gen_ai.operation.name": "rerank", "gen_ai.request.model": "m",
		"ai.documents": []any{`"first"`, `"second"`}, "ai.ranking": []any{`{"index":1,"relevanceScore":0.9}`, `{"index":7}`},
	}}.input(t))
	assert.Equal(t, "vercel-ai", o.Dialect)
	require.Len(t, o.Read.Retrieval.Chunks, 2)
	assert.Equal(t, content.Plain.OfString("second").Value, o.Read.Retrieval.Chunks[0].ContentDigest)
	assert.Equal(t, "0.9", o.Read.Retrieval.Chunks[0].Score)
	assert.Equal(t, record.Chunk{}, o.Read.Retrieval.Chunks[1])
	assert.Equal(t, "rerank m", o.SafeName)
	draft(t, o)
}

func TestARerankerThatTellsOnlyWhatItWasGivenHasNoAnswer(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{attrs: map[string]any{
		"openinference.span.kind": "RERANKER", "reranker.query": "what", "reranker.top_k": 1, "reranker.input_documents.0.document.content": "first",
	}}.input(t))
	assert.Len(t, o.Read.Retrieval.Chunks, 1)
	assert.EqualValues(t, 1, o.Read.Retrieval.TopK)
	assert.Equal(t, record.Capture{Request: record.CapturedContent, Response: record.CapturedNothing}, o.Read.Capture)
}

func TestAnEffectUnderAnOperationThatNobodyKnowsIsStillAnEffect(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "vectordb", "db.system": "postgresql"}}.input(t))
	assert.Equal(t, ClassDB, o.Class)
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

func BenchmarkSpan(b *testing.B) {
	l := newTestLifter(b, crmRule)
	for name, attrs := range map[string]map[string]any{
		"tool": {
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "crm.customer.get", "gen_ai.tool.call.id": "call_1",
			"gen_ai.tool.call.arguments": `{"customer_id":"cust_1"}`, "gen_ai.tool.call.result": `{"version":"v41","as_of":"2026-10-09T08:12:03.390Z"}`,
		},
		"unknown": {"k1": 1, "k2": "b", "k3": "c", "k4": 4, "k5": true, "k6": "f", "k7": "g", "k8": "h"},
	} {
		in := testSpan{name: "execute_tool crm.customer.get", attrs: attrs}.input(b)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				in.Cache.Reset()
				l.Span(in)
			}
		})
	}
}
