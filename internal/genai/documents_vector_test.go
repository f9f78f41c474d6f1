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

func TestAMatchIsWhatAnEventSaysOfIt(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{name: "marqo.search", attrs: map[string]any{"db.system": "marqo", "db.operation": "search"}, change: events(
		attributes{"event": "db.query.result", "_id": "d1", "_score": 0.5, "Title": "t", "Text": "x"},
		attributes{"event": "db.search.result", "db.search.result.id": 7, "db.search.result.distance": "0.1", "db.search.result.entity": "e"},
		attributes{"event": "db.query.result", "db.query.result.id": "d3", "db.query.result.distance": "0.1"},
		attributes{"event": "db.query.embeddings", "db.query.embeddings.vector": "[0.1]"},
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
	}, change: events(
		attributes{"event": "pinecone.query.result.1.metadata", "text": "x"},
		attributes{"event": "pinecone.query.result.9.metadata", "text": "y"},
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
