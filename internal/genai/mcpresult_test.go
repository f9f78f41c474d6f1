// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

func TestARuleLooksIntoTheResultOfAnMCPTool(t *testing.T) {
	l := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, SourceRecordVersion: Value{Result: "$.version"}})
	for name, c := range map[string]struct {
		result any
		want   string
	}{
		"the result as it was received": {`{"version":"v1","content":[{"type":"text","text":"{\"version\":\"v2\"}"}]}`, "v1"},
		"structured content":            {`{"content":[{"type":"text","text":"{\"version\":\"v2\"}"}],"structuredContent":{"version":"v3"}}`, "v3"},
		"the only text":                 {`{"content":[{"type":"text","text":"{\"version\":\"v2\"}"}]}`, "v2"},
		"a structure": {map[string]any{"content": []any{
			map[string]any{"type": "text", "text": `{"version":"v2"}`},
		}}, "v2"},
		"one of two texts":        {`{"content":[{"type":"text","text":"{\"version\":\"v2\"}"},{"type":"text","text":"{}"}]}`, ""},
		"content of another kind": {`{"content":[{"text":"{\"version\":\"v2\"}"}]}`, ""},
		"a text that is no JSON":  {`{"content":[{"type":"text","text":"version v2"}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, attrs := range []map[string]any{
				{"mcp.method.name": "tools/call", "gen_ai.tool.name": "f", "gen_ai.tool.call.result": c.result},
				{operation: "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.result": c.result},
			} {
				o := l.Span(testSpan{attrs: attrs}.input(t))
				assert.Equal(t, c.want, o.Read.Response.SourceRecordVersion)
				if c.want != "" {
					assert.Equal(t, record.BasisRule, o.Read.Basis["response.source_record_version"])
				}
				draft(t, o)
			}
		})
	}
}

func TestAnMCPToolThatSaysItFailedFailed(t *testing.T) {
	l := newTestLifter(t)
	for result, want := range map[string]record.Status{
		`{"content":[{"type":"text","text":"no such customer"}],"isError":true}`: record.StatusError,
		`{"content":[],"isError":true}`:                                          record.StatusError,
		`{"content":[{"type":"text","text":"x"}],"isError":false}`:               record.StatusOK,
		`{"content":[{"type":"text","text":"x"}],"isError":"true"}`:              record.StatusOK,
		`{"isError":true}`:               record.StatusOK,
		`{"content":"x","isError":true}`: record.StatusOK,
		`isError`:                        record.StatusOK,
	} {
		o := l.Span(testSpan{attrs: map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.call.result": result}}.input(t))
		assert.Equal(t, want, o.Read.Response.Status, result)
		assert.Equal(t, want, o.Skeleton.Status, result)
	}
	failed := map[string]any{"content": []any{}, "isError": true}
	o := l.Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.call.result": failed}, change: func(s ptrace.Span) {
		s.Status().SetCode(ptrace.StatusCodeOk)
	}}.input(t))
	assert.Equal(t, record.StatusError, o.Read.Response.Status)
	o = l.Log(testLog(t, func(r plog.LogRecord) {
		require.NoError(t, r.Attributes().FromRaw(map[string]any{operation: "execute_tool", "gen_ai.tool.call.result": failed}))
	}))
	assert.Equal(t, record.StatusError, o.Read.Response.Status)
}

func TestAFastMCPToolIsNamedByItsComponent(t *testing.T) {
	for key, want := range map[string]record.Source{
		"tool:lookup":        {ToolID: "lookup", Kind: "api"},
		"tool:lookup@":       {ToolID: "lookup", Kind: "api"},
		"tool:lookup@2.0":    {ToolID: "lookup", Kind: "api", ToolVersion: "2.0"},
		"resource:lookup":    {Kind: "api"},
		"tool:for Marta, 70": {Kind: "api"},
	} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"mcp.method.name": "tools/call", "fastmcp.component.key": key}}.input(t))
		assert.Equal(t, want, o.Read.Source, key)
	}
}
