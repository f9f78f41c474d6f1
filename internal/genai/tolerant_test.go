// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/jsontext"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func chunksOf(t *testing.T, documents any) *record.Read {
	t.Helper()
	o := newTestLifter(t).Span(testSpan{attrs: map[string]any{operation: "retrieval"}, change: func(s ptrace.Span) {
		require.NoError(t, s.Attributes().PutEmpty("gen_ai.retrieval.documents").FromRaw(documents))
	}}.input(t))
	require.NotNil(t, o.Read)
	draft(t, o)
	return o.Read
}

func TestDocumentsInUnusualJSONAreStillToldApart(t *testing.T) {
	text := content.Plain.OfString("x")
	plain := record.Chunk{ID: "d1", ContentDigest: text.Value, ContentCanonicalization: "bytes", ContentSize: 1}
	for name, c := range map[string]struct {
		documents string
		want      record.Chunk
	}{
		"NaN":          {`[{"id":"d1","score":NaN,"content":"x"}]`, plain},
		"Infinity":     {`[ {"id":"d1", "score":-Infinity, "content":"x"} ]`, plain},
		"a name twice": {`[{"id":"d1","id":"d2","content":"x","content":"y"}]`, plain},
		"a text that is not UTF-8": {"[{\"id\":\"d1\",\"content\":\"\xff\"}]", record.Chunk{
			ID: "d1", ContentDigest: digestOf("\"\xff\""), ContentCanonicalization: "bytes", ContentSize: 3,
		}},
		"half of a surrogate pair": {`[{"id":"d1","content":"\ud83d"}]`, record.Chunk{
			ID: "d1", ContentDigest: digestOf(`"\ud83d"`), ContentCanonicalization: "bytes", ContentSize: 8,
		}},
		"an object with NaN as content": {`[{"id":"d1","content":{"a":NaN}}]`, record.Chunk{
			ID: "d1", ContentDigest: digestOf(`{"a":NaN}`), ContentCanonicalization: "bytes", ContentSize: 9,
		}},
		"one document alone":                  {`{"id":"d1","content":"x"}`, plain},
		"one document alone without its text": {`{"id":"d1","score":0.5}`, record.Chunk{ID: "d1", Score: "0.5"}},
		"a document as LangChain dumps it": {
			`[{"lc":1,"type":"constructor","id":["langchain","schema","document","Document"],"kwargs":{"id":"d1","page_content":"x","metadata":{"k":1},"type":"Document"}}]`,
			plain,
		},
		"the result of an MCP tool":                         {`{"content":[{"type":"text","text":"[{\"id\":\"d1\",\"text\":\"x\"}]"}]}`, plain},
		"the result of an MCP tool with structured content": {`{"content":[],"structuredContent":{"result":[{"id":"d1","text":"x"}]}}`, plain},
	} {
		t.Run(name, func(t *testing.T) {
			r := chunksOf(t, c.documents)
			assert.Equal(t, []record.Chunk{c.want}, r.Retrieval.Chunks)
			assert.Equal(t, record.BasisUnwrapped, r.Basis["retrieval.chunks"])
			assert.Equal(t, record.CapturedContent, r.Capture.Response)
			assert.NotEmpty(t, r.Response.ResultDigest)
		})
	}
}

func TestNoChunksIsAnAnswerOnlyIfTheDocumentsCouldBeRead(t *testing.T) {
	r := chunksOf(t, `[]`)
	assert.Empty(t, r.Retrieval.Chunks)
	assert.Equal(t, record.BasisUnwrapped, r.Basis["retrieval.chunks"], "nothing was found")
	for documents, captured := range map[string]record.Captured{
		`Document(page_content='x')`:                          record.CapturedContent,
		`[{'id': 'd1'}]`:                                      record.CapturedContent,
		`{"answer":42}`:                                       record.CapturedContent,
		`[{"id":"d1"}] and more`:                              record.CapturedContent,
		`[{"id":"d1","content":"cut o`:                        record.CapturedTruncated,
		`[{"id":"d1","score":NaN,"content":"cut o`:            record.CapturedTruncated,
		`[{"id":"d1","score":0.`:                              record.CapturedTruncated,
		`[{"id":"d1"},`:                                       record.CapturedTruncated,
		strings.Repeat("[", 2000):                             record.CapturedContent,
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000): record.CapturedContent,
	} {
		r := chunksOf(t, documents)
		assert.Empty(t, r.Retrieval.Chunks)
		assert.NotContains(t, r.Basis, "retrieval.chunks", documents[:min(len(documents), 40)])
		assert.NotEmpty(t, r.Response.ResultDigest)
		assert.Equal(t, captured, r.Capture.Response, documents[:min(len(documents), 40)])
	}
}

// FuzzTolerant holds that reading tolerantly finds at least what a strict reader
// finds, and that parts are what stands in the text.
func FuzzTolerant(f *testing.F) {
	for _, s := range []string{`{"a":[1,NaN,"\ud800"],"a":{}}`, `[1,2`, `{"a"`, `"\`, `[-Infinity]`, "[1 ,\n2]", `{"a":1}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := jsontext.Value(s)
		err := checkTolerantly(text)
		if text.IsValid() && len(s) < content.MaxJSONDepth {
			require.NoError(t, err)
		}
		if err != nil {
			return
		}
		_ = partsOf(text, func(name, part jsontext.Value) bool {
			require.Contains(t, s, string(name))
			require.NoError(t, checkTolerantly(part))
			return true
		})
	})
}
