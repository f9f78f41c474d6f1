// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/strip"
)

// acmeRows are a dialect that nobody speaks: the worked example of
// CONTRIBUTING.md, which shows these lines.
var acmeRows = []row{
	{
		dialect: "acme", when: is("acme.kind", "tool"), class: ClassTool,
		fields: fields{
			toolName:   attr("acme.tool.name"),
			toolCallID: attr("acme.tool.call_id"),
			arguments:  attr("acme.tool.input"),
			result:     eventAttr("acme.tool.done", "acme.tool.output"),
		},
		names: []string{"acme tool"},
	},
	{
		dialect: "acme", when: is("acme.kind", "search"), class: ClassRetrieval,
		fields:    fields{query: attr("acme.search.query"), topK: attr("acme.search.limit")},
		documents: []documentSource{documentsIn(attr("acme.search.hits"))},
	},
}

// TestADialectTakesRowsAndAFixture adds a dialect to the table and nothing
// else: what its rows read is lifted, and is content for the stripper.
func TestADialectTakesRowsAndAFixture(t *testing.T) {
	l, err := newLifter(append(acmeRows, rows()...), Options{Profile: testProfile})
	require.NoError(t, err)
	places := contentKeys(append(acmeRows, rows()...))
	for _, mode := range []strip.Mode{strip.Strict, strip.Known} {
		t.Run(string(mode), func(t *testing.T) {
			stripper, err := strip.New(strip.Options{Mode: mode, Places: places})
			require.NoError(t, err)
			var seen []Observation
			spans(t, "testdata/acme.traces.jsonl", func(in SpanInput) {
				o := l.Span(in)
				require.NotContains(t, string(draft(t, o)), "CANARY")
				seen = append(seen, o)
				var counts strip.Counts
				stripper.Span(in.Span, content.ScopeGate(in.Scope.Name()), in.Cache, o.SafeName, &counts)
				if mode == strip.Known { // which leaves names that no table knows
					in.Span.SetName("")
				}
				require.NotContains(t, spanJSON(t, in.Span), "CANARY")
			})
			require.Len(t, seen, 2)
			tool, search := seen[0], seen[1]
			assert.Equal(t, ClassTool, tool.Class)
			assert.Equal(t, "acme", tool.Dialect)
			assert.Equal(t, "lookup_customer", tool.Read.Source.ToolID)
			assert.Equal(t, "call_a1", tool.Read.ToolCallID)
			assert.Equal(t, "acme tool", tool.SafeName)
			assert.Equal(t, content.Plain.OfString(`{"customer":"CANARY-acme-1"}`).Value, tool.Read.Request.ArgumentsDigest)
			assert.Equal(t, content.Plain.OfString("medium risk, CANARY-acme-2").Value, tool.Read.Response.ResultDigest)
			assert.Equal(t, ClassRetrieval, search.Class)
			assert.Empty(t, search.SafeName)
			assert.EqualValues(t, 3, search.Read.Retrieval.TopK)
			require.Len(t, search.Read.Retrieval.Chunks, 2)
			assert.Equal(t, "doc-9", search.Read.Retrieval.Chunks[1].ID)
			assert.Equal(t, content.Plain.OfString("CANARY-acme-6").Value, search.Read.Retrieval.Chunks[1].ContentDigest)
		})
	}
}

func spanJSON(t *testing.T, span ptrace.Span) string {
	traces := ptrace.NewTraces()
	span.CopyTo(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty())
	out, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	require.NoError(t, err)
	return string(out)
}

func TestContributingShowsTheRowsOfTheExample(t *testing.T) {
	source, err := os.ReadFile("newdialect_test.go")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(source), "var acmeRows = []row{\n")
	require.True(t, found)
	shown, _, found := strings.Cut(rest, "\n}\n")
	require.True(t, found)
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	unindented := strings.ReplaceAll("\n"+shown, "\n\t", "\n")
	require.Contains(t, string(page), strings.ReplaceAll(strings.TrimSpace(unindented), "\t", "    "))
}

// TestARowIsFoundByATrigger holds that an item which has no marker of any
// dialect costs no look at the rows.
func TestARowIsFoundByATrigger(t *testing.T) {
	l := newTestLifter(t)
	assert.Equal(t, rowSet{}, l.table.spans.always)
	assert.Equal(t, rowSet{}, l.table.logs.always)
	it := spanItem(testSpan{attrs: map[string]any{"http.route": "/x", "k": 1}}.input(t))
	recognized, candidates := l.table.match(it)
	touched := l.table.touched(it, recognized, candidates)
	assert.Same(t, &unknown, recognized)
	assert.Same(t, &unknown, touched)
	_, err := newLifter(make([]row, maxRows+1), Options{})
	assert.ErrorContains(t, err, "more than 256 rows")
}
