// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// Spans that two conventions describe, and spans that describe themselves by
// halves of one.
func TestWhatIsReadIsRecognizedWhateverElseASpanSays(t *testing.T) {
	const kind, name, call = "openinference.span.kind", "gen_ai.tool.name", "gen_ai.tool.call.id"
	for what, c := range map[string]struct {
		attrs attributes
		class Class
		tool  string
	}{
		"an unknown kind that executes":      {attributes{kind: "UNKNOWN", operation: "execute_tool", name: "f"}, ClassTool, "f"},
		"a prompt that executes":             {attributes{kind: "PROMPT", operation: "execute_tool", name: "f"}, ClassTool, "f"},
		"an evaluator that executes":         {attributes{kind: "EVALUATOR", operation: "execute_tool", name: "f"}, ClassTool, "f"},
		"a tool in small letters":            {attributes{kind: "tool", "tool.name": "f"}, ClassTool, "f"},
		"a retriever in small letters":       {attributes{kind: "retriever"}, ClassRetrieval, ""},
		"a chain that executes":              {attributes{kind: "CHAIN", operation: "execute_tool", name: "f"}, ClassTool, "f"},
		"an agent that executes":             {attributes{kind: "AGENT", operation: "execute_tool", name: "f"}, ClassTool, "f"},
		"a model that executes":              {attributes{kind: "LLM", operation: "execute_tool", name: "f"}, ClassTool, "f"},
		"a guardrail that calls an MCP tool": {attributes{kind: "GUARDRAIL", "mcp.method.name": "tools/call", name: "f"}, ClassTool, "f"},
		"a chain that calls an MCP tool":     {attributes{kind: "CHAIN", "mcp.method.name": "tools/call", name: "f"}, ClassTool, "f"},
		"a chain that reads an MCP resource": {attributes{kind: "CHAIN", "mcp.method.name": "resources/read"}, ClassDocument, ""},
		"a chain that searches":              {attributes{kind: "CHAIN", operation: "retrieval"}, ClassRetrieval, ""},
		"an unknown kind that remembers":     {attributes{kind: "UNKNOWN", operation: "search_memory"}, ClassMemory, ""},
		"an unknown kind with a tool":        {attributes{kind: "UNKNOWN", name: "f"}, ClassTool, "f"},
		"an unknown kind that calls a model": {attributes{kind: "UNKNOWN", operation: "chat"}, ClassInference, ""},
		"an unknown kind and nothing else":   {attributes{kind: "UNKNOWN"}, ClassOther, ""},
		"a chain":                            {attributes{kind: "CHAIN", "gen_ai.request.model": "m"}, ClassOther, ""},
		"a prompt":                           {attributes{kind: "PROMPT"}, ClassOther, ""},
		"a model that asks for a tool":       {attributes{kind: "LLM", operation: "chat", name: "f", call: "c"}, ClassInference, ""},
		"a tool with a model, no operation":  {attributes{"gen_ai.request.model": "m", name: "f", call: "c"}, ClassTool, "f"},
		"a call id with a model":             {attributes{"gen_ai.request.model": "m", call: "c"}, ClassInference, ""},
		"a call id":                          {attributes{call: "c"}, ClassTool, ""},
		"a Vercel tool under any scope":      {attributes{"ai.toolCall.name": "f"}, ClassTool, "f"},
		"a datastore without an operation":   {attributes{name: "f", "gen_ai.tool.type": "datastore"}, ClassRetrieval, "f"},
		"a datastore call without operation": {attributes{call: "c", "gen_ai.tool.type": "datastore"}, ClassRetrieval, ""},
		"an MCP datastore":                   {attributes{"mcp.method.name": "tools/call", name: "f", "gen_ai.tool.type": "datastore"}, ClassRetrieval, "f"},
		"an empty operation is none":         {attributes{operation: "", name: "f"}, ClassTool, "f"},
		"an empty tool name is none":         {attributes{operation: "", name: ""}, ClassOther, ""},
		"an empty kind is none":              {attributes{kind: "", operation: "execute_tool"}, ClassTool, ""},
	} {
		t.Run(what, func(t *testing.T) {
			o := newTestLifter(t).Span(testSpan{attrs: c.attrs}.input(t))
			assert.Equal(t, c.class, o.Class)
			if _, isRead := eventTypes[c.class]; !isRead {
				assert.Nil(t, o.Read)
				return
			}
			require.NotNil(t, o.Read)
			assert.Equal(t, c.tool, o.Read.Source.ToolID)
			draft(t, o)
		})
	}
}

func TestAnEmptyErrorTypeIsNoError(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{attrs: attributes{operation: "execute_tool", "error.type": ""}}.input(t))
	assert.Equal(t, record.StatusOK, o.Read.Response.Status)
}

func TestOpenInferenceReadsWhatTheOpenTelemetryConventionsSayBeside(t *testing.T) {
	for _, kind := range []string{"RETRIEVER", "RERANKER"} {
		o := newTestLifter(t).Span(testSpan{attrs: attributes{
			"openinference.span.kind": kind, operation: "retrieval", "gen_ai.data_source.id": "policies", "gen_ai.retrieval.query.text": "what",
			"gen_ai.retrieval.documents": `[{"id":"d1","content":"x"}]`, "gen_ai.retrieval.top_k": 3, "gen_ai.conversation.id": "c1",
			"gen_ai.tool.name": "search", "gen_ai.tool.call.id": "call_1",
		}}.input(t))
		r := o.Read
		assert.Equal(t, "openinference", o.Dialect)
		assert.Equal(t, "policies", r.Retrieval.IndexID)
		assert.Equal(t, content.Plain.OfString("what").Value, r.Retrieval.QueryDigest)
		require.Len(t, r.Retrieval.Chunks, 1)
		assert.Equal(t, "d1", r.Retrieval.Chunks[0].ID)
		assert.EqualValues(t, 3, r.Retrieval.TopK)
		assert.Equal(t, record.Capture{Request: record.CapturedContent, Response: record.CapturedContent}, r.Capture)
		assert.NotEmpty(t, r.Response.ResultDigest)
		assert.Equal(t, "c1", r.Correlation.CorrelationID)
		assert.Equal(t, "search", r.Source.ToolID)
		assert.Equal(t, "call_1", r.ToolCallID)
		draft(t, o)
	}
	o := newTestLifter(t).Span(testSpan{attrs: attributes{"openinference.span.kind": "TOOL", "gen_ai.conversation.id": "c1"}}.input(t))
	assert.Equal(t, "c1", o.Read.Correlation.CorrelationID)
	o = newTestLifter(t).Span(testSpan{attrs: attributes{"openinference.span.kind": "TOOL", "gen_ai.conversation.id": "c1", "session.id": "s1"}}.input(t))
	assert.Equal(t, "s1", o.Read.Correlation.CorrelationID, "its own key comes first")
}

func TestTheSchemaOfAToolIsNotItsArguments(t *testing.T) {
	const schema = `{"type":"object","properties":{"customer_id":{"type":"string"}},"required":["customer_id"]}`
	for _, marker := range []attributes{{"openinference.span.kind": "TOOL"}, {"ai.operationId": "ai.toolCall"}} {
		for parameters, captured := range map[string]record.Captured{
			schema:                 record.CapturedNothing,
			`{"$schema":"x"}`:      record.CapturedNothing,
			`{"customer_id":"c1"}`: record.CapturedContent,
			`{"q":{"type":"string","description":"d"}}`:       record.CapturedNothing, // smolagents
			`{"q":{"type":"string"}}`:                         record.CapturedContent,
			`{"q":{"type":"string","description":"d"},"n":1}`: record.CapturedContent,
			`{"type":"object","id":"1"}`:                      record.CapturedContent,
		} {
			attrs := attributes{"tool.parameters": parameters}
			for k, v := range marker {
				attrs[k] = v
			}
			o := newTestLifter(t).Span(testSpan{attrs: attrs}.input(t))
			assert.Equal(t, captured, o.Read.Capture.Request, parameters)
			assert.Equal(t, captured == record.CapturedContent, o.Read.Request.ArgumentsDigest != "")
			draft(t, o)
		}
		attrs := attributes{"tool.parameters": schema, "input.value": `{"customer_id":"c1"}`}
		for k, v := range marker {
			attrs[k] = v
		}
		o := newTestLifter(t).Span(testSpan{attrs: attrs}.input(t))
		assert.Equal(t, content.Plain.OfString(`{"customer_id":"c1"}`).Value, o.Read.Request.ArgumentsDigest)
	}
}

func TestFlattenedDocumentsWithoutTheirTextsAreAPlaceholder(t *testing.T) {
	for want, texts := range map[record.Captured][]string{
		record.CapturedPlaceholder: {"__REDACTED__", "__REDACTED__"},
		record.CapturedContent:     {"__REDACTED__", "x"},
	} {
		attrs := attributes{"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": "d1"}
		for i, text := range texts {
			attrs["retrieval.documents."+string(rune('0'+i))+".document.content"] = text
		}
		o := newTestLifter(t).Span(testSpan{attrs: attrs}.input(t))
		assert.Equal(t, want, o.Read.Capture.Response)
		assert.Equal(t, "d1", o.Read.Retrieval.Chunks[0].ID)
		draft(t, o)
	}
	o := newTestLifter(t).Span(testSpan{attrs: attributes{"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": "d1"}}.input(t))
	assert.Equal(t, record.CapturedContent, o.Read.Capture.Response, "ids are an answer")
}

func TestAnApplicationsOwnLogIsNoRead(t *testing.T) {
	l := newTestLifter(t)
	log := func(event string, attrs attributes) Observation {
		return l.Log(testLog(t, func(r plog.LogRecord) {
			r.SetEventName(event)
			r.Body().SetStr("Invoking tool f")
			require.NoError(t, r.Attributes().FromRaw(attrs))
		}))
	}
	for _, op := range []string{"execute_tool", "retrieval", "rerank", "search_memory", "upsert_memory"} {
		o := log("", attributes{operation: op, "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "call_1"})
		assert.Equal(t, ClassOther, o.Class, op)
		assert.Nil(t, o.Read)
		assert.Equal(t, "call_1", o.CallID, "it can be found by the call")
		assert.Equal(t, "otel-genai", o.Dialect)
	}
	for _, attrs := range []attributes{
		{operation: "execute_tool", "gen_ai.tool.call.arguments": "{}"},
		{operation: "execute_tool", "gen_ai.tool.call.result": attributes{}},
		{operation: "execute_tool", ownReadID: "read_1"},
		{operation: "retrieval", "gen_ai.retrieval.query.text": "what"},
		{operation: "search_memory", "gen_ai.memory.records": "[]"},
	} {
		assert.NotNil(t, log("", attrs).Read)
	}
	assert.Equal(t, ClassMemory, log("gen_ai.memory.operation.details", attributes{operation: "delete_memory"}).Class)
}

func TestTheResourceNamesTheExecutionOfItsSpans(t *testing.T) {
	l := newTestLifter(t)
	in := testSpan{attrs: attributes{operation: "execute_tool"}}.input(t)
	in.Resource.Attributes().PutStr(ownExecutionID, "run_of_resource")
	o := l.Span(in)
	assert.Equal(t, "run_of_resource", o.ExecutionID)
	assert.Equal(t, record.BasisAttribute, o.Read.Basis["execution_id"])
	in.Span.Attributes().PutStr(ownExecutionID, "run_of_span")
	assert.Equal(t, "run_of_span", l.Span(in).ExecutionID)
	in.Span.Attributes().PutStr(ownExecutionID, "no id, but text")
	assert.Equal(t, "run_of_resource", l.Span(in).ExecutionID)
	in.Resource.Attributes().PutStr(ownExecutionID, "no id, but text")
	assert.Equal(t, "trace:"+in.Span.TraceID().String(), l.Span(in).ExecutionID)

	log := testLog(t, func(r plog.LogRecord) {
		r.Attributes().PutStr(operation, "execute_tool")
		r.Attributes().PutStr("gen_ai.tool.call.result", "x")
	})
	log.Resource.Attributes().PutStr(ownExecutionID, "run_of_resource")
	assert.Equal(t, "run_of_resource", l.Log(log).ExecutionID)
}

func TestScoresAreTheShortestDecimalsOfTheirValue(t *testing.T) {
	for literal, want := range map[string]string{
		"0.12345678901234567890":    "0.1234567890123456789",
		"0.1234567890123456789e0":   "0.1234567890123456789",
		"1.2345678901234567890E+05": "1.234567890123456789e5",
		"1.2345678901234567890e-05": "1.234567890123456789e-5",
		"0.50":                      "0.5",
		"5e-1":                      "0.5",
		"1.0":                       "1",
		"12345678901234567890":      "12345678901234567890",
		"12345678901234567891":      "12345678901234567891",
		"1e400":                     "",
		"NaN":                       "",
	} {
		assert.Equal(t, want, decimal(literal), literal)
	}
}
