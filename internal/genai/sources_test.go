// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func readBy(t *testing.T, sources []source, s testSpan) string {
	t.Helper()
	r := compileRow(row{fields: fields{arguments: sources}})
	v, _ := r.find(spanItem(s.input(t)), arguments)
	switch {
	case !v.ok:
		return ""
	case v.raw != nil:
		return string(v.raw)
	default:
		return v.data.AsString()
	}
}

func TestAPathGoesThroughElementsOfArrays(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":["x",{"b":[7,8]}]}`:     "8",
		`{"a":["x"]}`:                 "",
		`{"a":{"1":{"b":{"1":9}}}}`:   "9",
		`{"a":"[0,{\"b\":[1,2]}]"}`:   "2",
		`{"a":[`:                      "",
		`{"a":[0,{"b":"not a list"}]`: "",
	} {
		assert.Equal(t, want, readBy(t, inside(attr("k"), "a", "1", "b", "1"), testSpan{attrs: attributes{"k": text}}), text)
	}
	structured := testSpan{attrs: attributes{"k": []any{"x", map[string]any{"b": "y"}}}}
	assert.Equal(t, "y", readBy(t, inside(attr("k"), "1", "b"), structured))
	assert.Empty(t, readBy(t, inside(attr("k"), "-1"), structured))
	assert.Empty(t, readBy(t, inside(attr("k"), "100000000"), structured))
}

func TestAMessagePartIsFoundByItsType(t *testing.T) {
	sources := messagePart(attr("m"), "tool_call_response", "response", "result")
	for text, want := range map[string]string{
		`[{"role":"tool","parts":[{"type":"text","content":"a"},{"type":"tool_call_response","response":{"b":1}}]}]`:  `{"b":1}`,
		`[{"parts":[]},{"parts":[{"type":"tool_call_response","result":"r"}]}]`:                                       `"r"`,
		`[{"parts":[{"type":"tool_call_response","id":"c"}]},{"parts":[{"type":"tool_call_response","result":"r"}]}]`: "",
		`[{"parts":[{"type":"tool_call_response","response":null,"result":2}]}]`:                                      "2",
		`{"parts":[{"type":"tool_call_response","result":"r"}]}`:                                                      "",
		`[{"parts":"x"},"y",3]`:              "",
		`[{"parts":[{"type":"tool_call_resp`: "",
		``:                                   "",
	} {
		assert.Equal(t, want, readBy(t, sources, testSpan{attrs: attributes{"m": text}}), text)
	}
	assert.Equal(t, "r", readBy(t, sources, testSpan{attrs: attributes{
		"m": []any{map[string]any{"parts": []any{map[string]any{"type": "tool_call_response", "result": "r"}}}},
	}}))
}

func TestAPartIsLookedForInALimitedNumberOfMessages(t *testing.T) {
	many := "[" + strings.Repeat(`{"parts":[]},`, 5*maxMessages) + `{"parts":[{"type":"t","a":1}]}]`
	assert.Empty(t, readBy(t, messagePart(attr("m"), "t", "a"), testSpan{attrs: attributes{"m": many}}))
}

func TestOneEventSpeaksForASpanAndSeveralDoTogether(t *testing.T) {
	one := testSpan{change: events(attributes{"event": "e", "k": "a"}, attributes{"event": "e", "x": "b"}, attributes{"event": "f", "k": "c"})}
	two := testSpan{change: events(attributes{"event": "e", "k": "a"}, attributes{"event": "e", "k": "b"})}
	assert.Equal(t, "a", readBy(t, onlyEventAttr("e", "k"), one))
	assert.Empty(t, readBy(t, allEventsAttr("e", "k"), one))
	assert.Empty(t, readBy(t, onlyEventAttr("e", "k"), two))
	assert.Equal(t, `["a","b"]`, readBy(t, allEventsAttr("e", "k"), two))
	assert.Empty(t, readBy(t, onlyEventAttr("e", "k"), testSpan{}))
}

func TestAWholeEventIsOneObject(t *testing.T) {
	s := testSpan{change: events(attributes{"event": "e", "a": "1", "b": "2", "c": "3"}, attributes{"event": "e", "d": "4"})}
	assert.JSONEq(t, `{"a":"1","c":"3"}`, readBy(t, wholeEvent("e", "b"), s))
	assert.Empty(t, readBy(t, wholeEvent("e", "a", "b", "c"), s))
	assert.Empty(t, readBy(t, wholeEvent("f"), s))
	hostile := testSpan{change: func(s ptrace.Span) {
		e := s.Events().AppendEmpty()
		e.SetName("e")
		for i := range maxGathered + 1 {
			e.Attributes().PutInt(fmt.Sprint("k", i), 1)
		}
	}}
	assert.Empty(t, readBy(t, wholeEvent("e"), hostile))
}

func TestASourceCanDependOnACondition(t *testing.T) {
	sources := provided(has("count"), attr("k"))
	assert.Equal(t, "v", readBy(t, sources, testSpan{attrs: attributes{"k": "v", "count": 1}}))
	assert.Empty(t, readBy(t, sources, testSpan{attrs: attributes{"k": "v"}}))
}

func TestEntriesOfWhichOnlyTheNumberIsKnown(t *testing.T) {
	for n, want := range map[any]int{1: 1, "3": 3, 0: 0, -1: 0, maxCounted: maxCounted, maxCounted + 1: 0, int64(1) << 60: 0, "x": 0} {
		found := counted("n").find(spanItem(testSpan{attrs: attributes{"n": n}}.input(t)))
		assert.Len(t, found.list, want, n)
		assert.Equal(t, want > 0, found.ok, n)
	}
}

func TestALibrarysWordForItsOutcomeCountsWhereTheStatusIsSilent(t *testing.T) {
	outcome := outcomeOf("success", "true", "false")
	for _, c := range []struct {
		value  any
		status record.Status
		want   record.Status
	}{
		{true, record.StatusUnknown, record.StatusOK},
		{false, record.StatusOK, record.StatusError},
		{"False", record.StatusUnknown, record.StatusError},
		{"true", record.StatusError, record.StatusError},
		{"TRUE", record.StatusOK, record.StatusOK},
		{"maybe", record.StatusUnknown, record.StatusUnknown},
		{"", record.StatusOK, record.StatusOK},
		{nil, record.StatusUnknown, record.StatusUnknown},
		{[]any{false}, record.StatusOK, record.StatusOK},
	} {
		it := spanItem(testSpan{attrs: attributes{"success": c.value}}.input(t))
		assert.Equal(t, c.want, (&row{outcome: outcome}).ended(it, c.status), c.value)
	}
	assert.Equal(t, record.StatusOK, (&row{}).ended(nil, record.StatusOK))
}

func TestADocumentsURIInsideJSONIsNamedByItsDigestOnly(t *testing.T) {
	read := func(uri string) *record.Read {
		o := newTestLifter(t).Span(testSpan{scope: "logfire.mcp", name: "MCP request: resources/read", attrs: attributes{
			"rpc.method": "resources/read", "request": `{"id":7,"params":{"uri":"` + uri + `"}}`,
		}}.input(t))
		require.NotNil(t, o.Read)
		draft(t, o)
		return o.Read
	}
	r := read("file:///customers/marta.pdf")
	assert.Equal(t, content.Plain.OfString("file:///customers/marta.pdf").Value, r.Documents[0].DocumentID)
	assert.Equal(t, "7", r.Correlation.RequestID)
	secret := read("https://user:hunter2hunter2@example.com/a")
	assert.Empty(t, secret.Documents)
	assert.Equal(t, record.CapturedPlaceholder, secret.Capture.Request)
	assert.Empty(t, secret.Request.ArgumentsDigest)
}

func TestOneCallOfACodingAgentIsASpanAndALogWithOneID(t *testing.T) {
	l := newTestLifter(t)
	span := l.Span(testSpan{scope: "com.anthropic.claude_code.tracing", name: "claude_code.tool", attrs: attributes{
		"tool_name": "Bash", "tool_use_id": "toolu_1", "full_command": "ls",
	}}.input(t))
	in := testLog(t, func(log plog.LogRecord) {
		log.SetTraceID(pcommon.TraceID{0x5b, 15: 1})
		log.SetSpanID(pcommon.SpanID{0x02, 7: 1})
		require.NoError(t, log.Attributes().FromRaw(attributes{
			"event.name": "tool_result", "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": `{"command":"ls"}`, "success": "false",
		}))
	})
	in.Scope.SetName("com.anthropic.claude_code.events")
	log := l.Log(in)
	require.NotNil(t, span.Read)
	require.NotNil(t, log.Read)
	assert.Equal(t, span.Read.ToolCallID, log.Read.ToolCallID)
	assert.Equal(t, span.Read.ExecutionID, log.Read.ExecutionID)
	assert.NotEqual(t, span.Read.ReadID, log.Read.ReadID)
	assert.Equal(t, record.StatusError, log.Read.Response.Status)
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
