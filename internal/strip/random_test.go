// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
)

// mark stands in every random string, so that one that leaves is found; no
// shape and no name admits it.
const mark = "¤"

var keys = rapid.OneOf(
	rapid.SampledFrom([]string{
		"service.name", "gen_ai.tool.name", "gen_ai.usage.input_tokens", "gen_ai.response.finish_reasons", "openinference.span.kind", "input.mime_type", "http.request.method",
		"http.route", "server.address", "server.port", "gen_ai.input.messages_ref", "event.name", "exception.type", "url.scheme", "process.pid", "readtrail.read_id", "execution_id",
		"retrieval.documents.0.document.id", "retrieval.documents.0.document.score", "ai.toolCall.id", "ai.response.timestamp", "host.name", "readtrail.content_location",
	}),
	rapid.SampledFrom([]string{
		"gen_ai.tool.call.arguments", "input.value", "metadata", "message", "content", "llm.input_messages.0.message.content", "url.full", "process.command_args", "db.query.text",
		"exception.message", "http.request.header.authorization", "api_key", "lk.pii.chat_ctx", "system_prompt", "user.id", "text", "owner",
	}),
	rapid.Map(rapid.SampledFrom([]string{
		"", "gen_ai.prompt.0.", "gen_ai.prompt.variable.", "ai.", "ai.telemetry.metadata.", "metadata.", "http.request.header.", "mcp.request.argument.", "llm.input_messages.0.", "pii.", "gen_ai.usage.",
		"service.", "code.function.parameters.",
	}), func(prefix string) string { return prefix + mark }),
)

var texts = rapid.OneOf(
	rapid.SampledFrom([]string{
		mark, "a " + mark, "{\"a\":\"" + mark + "\"}", "[\"" + mark, "https://u:" + mark + "@h/", "Bearer " + mark, mark + "\xff", "ot=th:" + mark + ",x=" + mark,
		"[\"" + mark + "\"]", "https://opentelemetry.io/schemas/" + mark, "codex." + mark, "gen_ai." + mark, "...[TRUNCATED: original length 1]" + mark,
	}),
	rapid.Map(rapid.String(), func(s string) string { return s + mark }),
)

func randomValue(t *rapid.T, v pcommon.Value, depth int) {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind = min(kind, 5)
	}
	switch kind {
	case 0, 1:
		v.SetStr(texts.Draw(t, "text"))
	case 2:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case 3:
		v.SetDouble(rapid.SampledFrom([]float64{0.5, math.NaN(), math.Inf(1)}).Draw(t, "double"))
	case 4:
		v.SetBool(true)
	case 5:
		v.SetEmptyBytes().FromRaw([]byte(texts.Draw(t, "bytes")))
	case 6:
		s := v.SetEmptySlice()
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			randomValue(t, s.AppendEmpty(), depth-1)
		}
	case 7:
		randomAttributes(t, v.SetEmptyMap(), depth-1)
	}
}

func randomAttributes(t *rapid.T, m pcommon.Map, depth int) {
	for range rapid.IntRange(0, 5).Draw(t, "attributes") {
		randomValue(t, m.PutEmpty(keys.Draw(t, "key")), depth)
	}
}

func randomScope(t *rapid.T, scope pcommon.InstrumentationScope) {
	scope.SetName(rapid.OneOf(texts, rapid.SampledFrom([]string{"ai", "codex_otel"})).Draw(t, "scope"))
	scope.SetVersion(texts.Draw(t, "version"))
	randomAttributes(t, scope.Attributes(), 2)
}

var eventNames = rapid.OneOf(texts, rapid.SampledFrom([]string{"gen_ai.choice", "exception", "db.query.result", "tool.output", "codex.tool_result"}))

func randomTraces(t *rapid.T) ptrace.Traces {
	traces := ptrace.NewTraces()
	r := traces.ResourceSpans().AppendEmpty()
	r.SetSchemaUrl(texts.Draw(t, "schema"))
	randomAttributes(t, r.Resource().Attributes(), 2)
	ss := r.ScopeSpans().AppendEmpty()
	ss.SetSchemaUrl(texts.Draw(t, "schema"))
	randomScope(t, ss.Scope())
	span := ss.Spans().AppendEmpty()
	span.SetName(texts.Draw(t, "name"))
	span.TraceState().FromRaw(texts.Draw(t, "state"))
	span.Status().SetMessage(texts.Draw(t, "status"))
	randomAttributes(t, span.Attributes(), 3)
	for range rapid.IntRange(0, 2).Draw(t, "events") {
		e := span.Events().AppendEmpty()
		e.SetName(eventNames.Draw(t, "event"))
		randomAttributes(t, e.Attributes(), 2)
	}
	l := span.Links().AppendEmpty()
	l.TraceState().FromRaw(texts.Draw(t, "state"))
	randomAttributes(t, l.Attributes(), 2)
	return traces
}

func randomLogs(t *rapid.T) plog.Logs {
	logs := plog.NewLogs()
	r := logs.ResourceLogs().AppendEmpty()
	r.SetSchemaUrl(texts.Draw(t, "schema"))
	randomAttributes(t, r.Resource().Attributes(), 2)
	sl := r.ScopeLogs().AppendEmpty()
	randomScope(t, sl.Scope())
	log := sl.LogRecords().AppendEmpty()
	log.SetEventName(eventNames.Draw(t, "event"))
	log.SetSeverityText(texts.Draw(t, "severity"))
	randomValue(t, log.Body(), 3)
	randomAttributes(t, log.Attributes(), 2)
	return logs
}

func TestEveryStringThatLeavesIsHarmlessOrADigest(t *testing.T) {
	s := stripper(t, Options{})
	rapid.Check(t, func(t *rapid.T) {
		traces, logs := randomTraces(t), randomLogs(t)
		s.traces(traces)
		s.logs(logs)
		requireOnlyKnown(t, traces.ResourceSpans().At(0).Resource().Attributes())
		ss := traces.ResourceSpans().At(0).ScopeSpans().At(0)
		requireOnlyKnown(t, ss.Scope().Attributes())
		span := ss.Spans().At(0)
		requireOnlyKnown(t, span.Attributes())
		for _, e := range span.Events().All() {
			requireOnlyKnown(t, e.Attributes())
		}
		requireOnlyKnown(t, span.Links().At(0).Attributes())
		record := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		requireOnlyKnown(t, record.Attributes())
		require.True(t, record.Body().Type() == pcommon.ValueTypeEmpty || isClear(record.Body().AsString()))

		for _, out := range marshaled(t, traces, logs) {
			require.False(t, bytes.Contains(out, []byte(mark)) || bytes.Contains(out, []byte("\\u00a4")))
		}
	})
}

// requireOnlyKnown walks what is left of attributes.
func requireOnlyKnown(t *rapid.T, m pcommon.Map) {
	policy, err := content.NewPolicy(nil, nil)
	require.NoError(t, err)
	for key, v := range m.All() {
		if v.Type() == pcommon.ValueTypeStr && isClear(v.Str()) {
			continue
		}
		if v.Type() == pcommon.ValueTypeEmpty { // of content, which is not there
			continue
		}
		rule := policy.Rule(key, 0)
		require.Equal(t, content.Harmless, rule.Class, "%q=%q", key, v.AsString())
		require.True(t, telemetry.Matches(rule.Shape, v), "%q=%q", key, v.AsString())
	}
}

func isClear(s string) bool { return content.ShapeDigest.Matches(s) || content.IsPlaceholder(s) }

func marshaled(t require.TestingT, traces ptrace.Traces, logs plog.Logs) [][]byte {
	var out [][]byte
	for _, marshal := range []func() ([]byte, error){
		func() ([]byte, error) { return (&ptrace.JSONMarshaler{}).MarshalTraces(traces) },
		func() ([]byte, error) { return (&ptrace.ProtoMarshaler{}).MarshalTraces(traces) },
		func() ([]byte, error) { return (&plog.JSONMarshaler{}).MarshalLogs(logs) },
		func() ([]byte, error) { return (&plog.ProtoMarshaler{}).MarshalLogs(logs) },
	} {
		b, err := marshal()
		require.NoError(t, err)
		out = append(out, b)
	}
	return out
}

// FuzzStrip strips what a receiver may hand over, in both modes. In strict
// mode nothing is left to strip a second time but digests and placeholders.
func FuzzStrip(f *testing.F) {
	traces, logs := ptrace.NewTraces(), plog.NewLogs()
	span := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.Attributes().PutStr("gen_ai.tool.call.arguments", "{\"a\":1}")
	span.Attributes().PutStr("http.request.header.cookie", "x")
	span.Events().AppendEmpty().SetName("gen_ai.choice")
	logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetEmptyMap().PutEmptySlice("input")
	for _, seed := range marshaled(f, traces, logs) {
		f.Add(seed)
	}
	f.Add([]byte(strings.Repeat("\x0a\x05", 100)))
	strict, known := stripper(f, Options{}), stripper(f, Options{Mode: Known})
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, s := range []*Stripper{strict, known} {
			if traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(in); err == nil {
				s.traces(traces)
				if s == strict {
					require.Zero(t, s.traces(traces).Total(Removed))
				}
			}
			if logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(in); err == nil {
				s.logs(logs)
				if s == strict {
					require.Zero(t, s.logs(logs).Total(Removed))
				}
			}
		}
	})
}
