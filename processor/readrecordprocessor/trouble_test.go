// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"encoding/json/v2"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/record"
)

// This file holds the smallest input of each kind of trouble that users of other
// tools reported. The comments name their threads.

// passed is what the processor made of some telemetry.
type passed struct {
	reads  []record.Read
	spans  []record.Span // of lineage
	output string        // the telemetry that leaves, as OTLP/JSON
	attrs  []pcommon.Map // of the spans that leave
}

// spansPass runs spans in OTLP/JSON through the processor. No S3CRET may leave.
func spansPass(t *testing.T, scope string, spans ...string) passed {
	t.Helper()
	return tracesPass(t, tracesOf(t, scope, spans...))
}

func tracesOf(t *testing.T, scope string, spans ...string) ptrace.Traces {
	t.Helper()
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"scope":{"name":%q},"spans":[%s]}]}]}`, scope, strings.Join(spans, ","))))
	require.NoError(t, err)
	return td
}

func tracesPass(t *testing.T, td ptrace.Traces) (out passed) {
	t.Helper()
	p, s := newTraces(t, settings(nil), defaults())
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	for _, span := range s.spans() {
		out.attrs = append(out.attrs, span.Attributes())
	}
	if batch := s.batch(); batch != nil {
		for _, l := range batch.Lineages {
			out.spans = append(out.spans, l.Spans...)
		}
	}
	out.finish(t, s)
	return out
}

func logPasses(t *testing.T, log string) (out passed) {
	t.Helper()
	ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + log + `]}]}]}`))
	require.NoError(t, err)
	p, s := newLogs(t, settings(nil), defaults())
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	out.finish(t, s)
	return out
}

func (p *passed) finish(t *testing.T, s *sink) {
	t.Helper()
	p.output = s.json(t)
	assert.NotContains(t, p.output, "S3CRET")
	if batch := s.batch(); batch != nil {
		for _, item := range batch.Items {
			text := body(item.Draft)
			assert.NotContains(t, text, "S3CRET")
			var r record.Read
			require.NoError(t, json.Unmarshal([]byte(text), &r))
			p.reads = append(p.reads, r)
		}
	}
}

// spanJSON is a span with an id, further members and text attributes.
func spanJSON(id, members string, attrs ...string) string {
	var list []string
	for i := 0; i < len(attrs); i += 2 {
		list = append(list, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, attrs[i], attrs[i+1]))
	}
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":%q,"name":"n","startTimeUnixNano":"1790000000000000000","endTimeUnixNano":"1790000001000000000","attributes":[%s]%s}`,
		id, strings.Join(list, ","), members)
}

const (
	one, two, three = "0000000000000001", "0000000000000002", "0000000000000003"
	opKey           = "gen_ai.operation.name"
	toolKey         = "gen_ai.tool.name"
)

// opentelemetry-python-genai#186: a library captures content although it was
// told not to.
func TestContentThatALibraryShouldNotHaveCapturedDoesNotLeave(t *testing.T) {
	p := spansPass(t, "openai-agents", spanJSON(one, "", opKey, "execute_tool", toolKey, "f", argumentsKey, `{"k":"S3CRET"}`, resultKey, "S3CRET"))
	require.Len(t, p.reads, 1)
	assert.Equal(t, content.Plain.OfString(`{"k":"S3CRET"}`).Value, p.reads[0].Request.ArgumentsDigest)
	assert.Equal(t, content.Plain.OfString("S3CRET").Value, p.reads[0].Response.ResultDigest)
}

// pydantic-ai#8403: status and exception repeat what was left out elsewhere.
func TestContentInStatusAndExceptionDoesNotLeave(t *testing.T) {
	p := spansPass(t, "pydantic-ai", spanJSON(one, `"status":{"code":2,"message":"ToolRetryError: S3CRET"},"events":[{"name":"exception","timeUnixNano":"1","attributes":[`+
		`{"key":"exception.message","value":{"stringValue":"S3CRET"}},{"key":"exception.stacktrace","value":{"stringValue":"at S3CRET"}},{"key":"exception.type","value":{"stringValue":"ToolRetryError"}}]}]`,
		toolKey, "f"))
	require.Len(t, p.reads, 1)
	assert.Equal(t, record.StatusError, p.reads[0].Response.Status)
	assert.Contains(t, p.output, content.Plain.OfString("S3CRET").Value)
	assert.Contains(t, p.output, "ToolRetryError")
}

// opentelemetry-collector-contrib#36633: attributes of span events were
// skipped.
func TestContentInSpanEventsDoesNotLeave(t *testing.T) {
	p := spansPass(t, "s", spanJSON(one, `"events":[{"name":"gen_ai.tool.message","attributes":[{"key":"content","value":{"stringValue":"S3CRET"}}]}]`))
	assert.Contains(t, p.output, content.Plain.OfString("S3CRET").Value)
}

// opentelemetry-collector-contrib#37239: log bodies were skipped.
func TestContentInLogBodiesDoesNotLeave(t *testing.T) {
	want := content.Plain.OfString(`{"content":"S3CRET"}`).Value
	for _, body := range []string{
		`{"kvlistValue":{"values":[{"key":"content","value":{"stringValue":"S3CRET"}}]}}`, `{"stringValue":"{\"content\":\"S3CRET\"}"}`,
	} {
		assert.Contains(t, logPasses(t, `{"eventName":"gen_ai.user.message","timeUnixNano":"1","body":`+body+`}`).output, want)
	}
}

// langfuse#6517: JSON that a limit of the SDK cut in the middle of a string.
func TestJSONThatWasCutIsDigestedAsItCame(t *testing.T) {
	const cut = `[{"role":"user","content":"aaa`
	p := spansPass(t, "ai", spanJSON(one, "", "ai.operationId", "ai.generateText.doGenerate", "ai.prompt.messages", cut))
	assert.Empty(t, p.reads)
	assert.Contains(t, p.output, content.Plain.OfString(cut).Value)
	assert.Equal(t, record.CapturedTruncated, content.Plain.OfString(cut).State)
}

// openinference#3143: arguments encoded twice.
func TestArgumentsEncodedTwiceDoNotLeave(t *testing.T) {
	p := spansPass(t, "openinference.instrumentation.openai",
		spanJSON(one, "", "openinference.span.kind", "LLM", "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", `"{\"city\":\"S3CRET\"}"`))
	assert.Empty(t, p.reads, "the model only asked for the call")
}

// semantic-conventions-genai#489: call ids that are missing, empty, a placeholder
// or the same for two calls.
func TestCallIdsThatAreNoneAreAbsentAndEachCallIsARead(t *testing.T) {
	tool := func(n int, callID ...string) string {
		return spanJSON(fmt.Sprintf("%016x", n), "", append([]string{opKey, "execute_tool", toolKey, "f"}, callID...)...)
	}
	const key = "gen_ai.tool.call.id"
	p := spansPass(t, "s", tool(1), tool(2, key, ""), tool(3, key, "<not specified>"), tool(4, key, "null"), tool(5, key, "call_1"), tool(6, key, "call_1"))
	require.Len(t, p.reads, 6)
	ids := map[string]bool{}
	for i, r := range p.reads {
		ids[r.ReadID] = true
		assert.Equal(t, i >= 4, r.ToolCallID == "call_1", i)
		assert.Equal(t, i < 4, r.ToolCallID == "", i)
	}
	assert.Len(t, ids, 6)
}

// langsmith-sdk#2527: one key arrives as JSON in a string or as a structure.
func TestAStringAndAStructureOfTheSameValueHaveOneDigest(t *testing.T) {
	structured := strings.Replace(spanJSON(two, "", opKey, "execute_tool", argumentsKey, "X"), `{"stringValue":"X"}`,
		`{"kvlistValue":{"values":[{"key":"b","value":{"stringValue":"S3CRET"}},{"key":"a","value":{"intValue":"1"}}]}}`, 1)
	p := spansPass(t, "s", spanJSON(one, "", opKey, "execute_tool", argumentsKey, `{ "a":1.0, "b":"S3CRET" }`), structured)
	require.Len(t, p.reads, 2)
	assert.Equal(t, p.reads[0].Request, p.reads[1].Request)
	assert.Equal(t, "jcs", p.reads[0].Request.ArgumentsCanonicalization)
}

// opentelemetry-go#6114: ids of zeros are invalid, and a parent of zeros is
// none.
func TestIdsOfZerosAreNone(t *testing.T) {
	zeros := strings.Replace(spanJSON("0000000000000000", "", opKey, "execute_tool"), "0102030405060708090a0b0c0d0e0f10", strings.Repeat("0", 32), 1)
	p := spansPass(t, "s", zeros, spanJSON(two, `"parentSpanId":""`, opKey, "execute_tool"), spanJSON(three, `"parentSpanId":"0000000000000000"`, opKey, "execute_tool"))
	require.Len(t, p.reads, 3)
	assert.Equal(t, record.IDProblemZeroTraceID, p.reads[0].ObservedBy.IDProblem)
	assert.Empty(t, p.reads[0].Correlation.TraceID+p.reads[0].Correlation.SpanID)
	for _, r := range p.reads[1:] {
		assert.Empty(t, r.Correlation.ParentSpanID)
		assert.NotEmpty(t, r.Correlation.SpanID)
	}
}

// opentelemetry-ebpf-instrumentation#2592: one span id, two outcomes.
func TestOneIdWithTwoOutcomesIsBothOutcomes(t *testing.T) {
	p := spansPass(t, "s", spanJSON(one, "", opKey, "execute_tool", "error.type", "499"), spanJSON(one, "", opKey, "execute_tool"))
	require.Len(t, p.reads, 2, "the journal writes the second with conflicts_with")
	assert.Equal(t, p.reads[0].ReadID, p.reads[1].ReadID)
	assert.Equal(t, record.StatusError, p.reads[0].Response.Status)
	assert.Equal(t, record.StatusOK, p.reads[1].Response.Status)
}

// vercel/ai#6546: NaN is null in JSON, which the OTLP receiver refuses before any
// processor sees it; NaN itself passes.
func TestNumbersThatAreNone(t *testing.T) {
	null := strings.Replace(spanJSON(one, "", resultKey, "X"), `{"stringValue":"X"}`, `{"doubleValue":null}`, 1)
	_, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` + null + `]}]}]}`))
	require.Error(t, err)
	td := tracesOf(t, "ai", spanJSON(one, "", opKey, "execute_tool"))
	attrs := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	attrs.PutDouble("gen_ai.usage.input_tokens", math.NaN())
	attrs.PutDouble(resultKey, math.NaN())
	p := tracesPass(t, td)
	require.Len(t, p.reads, 1)
	assert.Equal(t, content.Plain.OfString("NaN").Value, p.reads[0].Response.ResultDigest)
}

// opentelemetry-collector-contrib#35723: text that is not UTF-8, cut in the
// middle of a character.
func TestTextThatIsNotUTF8IsDigestedByItsBytes(t *testing.T) {
	for _, text := range []string{"S3CRET\xff\xfe", "S3CRET\xe2\x82"} {
		td := tracesOf(t, "s", spanJSON(one, "", opKey, "execute_tool"))
		td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr(resultKey, text)
		p := tracesPass(t, td)
		require.Len(t, p.reads, 1)
		assert.Equal(t, content.Plain.OfRaw([]byte(text)).Value, p.reads[0].Response.ResultDigest)
		assert.Equal(t, "bytes", p.reads[0].Response.ResultCanonicalization)
	}
}

// opentelemetry-collector-contrib#14760: children arrive before their parent.
func TestAChildThatComesBeforeItsParentNamesItAllTheSame(t *testing.T) {
	child := spansPass(t, "http", spanJSON(three, `"kind":3,"parentSpanId":"`+two+`"`, "http.request.method", "GET"))
	tool := spansPass(t, "s", spanJSON(two, `"parentSpanId":"`+one+`"`, opKey, "execute_tool"))
	agent := spansPass(t, "s", spanJSON(one, "", opKey, "invoke_agent"))
	require.Len(t, child.spans, 1)
	assert.Equal(t, two, child.spans[0].ParentSpanID)
	assert.Equal(t, two, tool.spans[0].SpanID)
	assert.Equal(t, tool.reads[0].ReadID, tool.spans[0].ReadID)
	assert.Equal(t, agent.spans[0].SpanID, tool.spans[0].ParentSpanID)
}

// elastic/docs-content#7602: privacy switches leave empty JSON and no call id.
func TestWhatPrivacySwitchesLeaveIsNoContent(t *testing.T) {
	p := spansPass(t, "s", spanJSON(one, "", opKey, "chat", "gen_ai.input.messages", "[]"), spanJSON(two, "", opKey, "execute_tool", argumentsKey, `{"city":"<replaced>"}`))
	require.Len(t, p.reads, 1)
	assert.Equal(t, record.Capture{Request: record.CapturedPlaceholder, Response: record.CapturedNothing}, p.reads[0].Capture)
	assert.Empty(t, p.reads[0].Request.ArgumentsDigest)
	assert.NotContains(t, p.output, "city")
}

// No thread: integers beyond 2^53 lose digits in a double.
func TestLargeIntegersStayExact(t *testing.T) {
	const args = `{"id":9007199254740993}`
	cfg := defaults()
	cfg.Sources = []genai.SourceRule{{Match: genai.SourceMatch{Tool: "*"}, RecordRefs: []genai.Value{{Arguments: "$.id"}}}}
	structured := strings.Replace(spanJSON(two, "", opKey, "execute_tool", argumentsKey, "X"), `{"stringValue":"X"}`,
		`{"kvlistValue":{"values":[{"key":"id","value":{"intValue":"9007199254740993"}}]}}`, 1)
	proc, s := newTraces(t, settings(nil), cfg)
	require.NoError(t, proc.ConsumeTraces(t.Context(), tracesOf(t, "s", spanJSON(one, "", opKey, "execute_tool", argumentsKey, args), structured)))
	var p passed
	p.finish(t, s)
	require.Len(t, p.reads, 2)
	for i, form := range []string{"bytes", "json"} {
		assert.Equal(t, []string{"9007199254740993"}, p.reads[i].Request.RecordRefs)
		assert.Equal(t, form, p.reads[i].Request.ArgumentsCanonicalization)
		assert.Equal(t, content.Plain.OfRaw([]byte(args)).Value, p.reads[i].Request.ArgumentsDigest)
	}
}
