// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
)

// mark stands in every random string: no shape, no name and no word admits it.
const mark = "¤"

var (
	texts = rapid.OneOf(
		rapid.SampledFrom([]string{mark, "{\"a\":\"" + mark + "\"}", "https://u:" + mark + "@h/", "Bearer " + mark, mark + "\xff", "ot=th:" + mark}),
		rapid.Map(rapid.String(), func(s string) string { return s + mark }),
	)
	keys = rapid.OneOf(
		rapid.SampledFrom([]string{"gen_ai.tool.name", "gen_ai.operation.name", "openinference.span.kind", "input.value", "metadata", "http.request.header.cookie", "app.tenant", "event.name", "url.full"}),
		rapid.Map(rapid.SampledFrom([]string{"", "metadata.", "gen_ai.prompt.0.", "http.request.header.", "app.", "mcp.request.argument.", "pii.", "input.", "gen_ai.usage."}), func(prefix string) string {
			return prefix + mark
		}),
	)
	// knownWords make some random items reads.
	knownWords = rapid.SampledFrom([]string{"execute_tool", "TOOL", "RETRIEVER", "search_memory", "gen_ai.choice"})
)

func randomValue(t *rapid.T, v pcommon.Value, depth int) {
	switch rapid.IntRange(0, 4+2*min(depth, 1)).Draw(t, "kind") {
	case 0:
		v.SetStr(texts.Draw(t, "text"))
	case 1:
		v.SetStr(knownWords.Draw(t, "word"))
	case 2:
		v.SetDouble(rapid.Float64().Draw(t, "double"))
	case 3:
		v.SetEmptyBytes().FromRaw([]byte(texts.Draw(t, "bytes")))
	case 4:
	case 5:
		randomValue(t, v.SetEmptySlice().AppendEmpty(), depth-1)
	default:
		randomAttributes(t, v.SetEmptyMap(), depth-1)
	}
}

func randomAttributes(t *rapid.T, m pcommon.Map, depth int) {
	for range rapid.IntRange(0, 5).Draw(t, "attributes") {
		randomValue(t, m.PutEmpty(keys.Draw(t, "key")), depth)
	}
}

// randomLines are two requests, of which a line may be damaged.
func randomLines(t *rapid.T) string {
	td, ld := ptrace.NewTraces(), plog.NewLogs()
	rs := td.ResourceSpans().AppendEmpty()
	rs.SetSchemaUrl(texts.Draw(t, "schema"))
	randomAttributes(t, rs.Resource().Attributes(), 2)
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(texts.Draw(t, "scope"))
	for range rapid.IntRange(1, 3).Draw(t, "spans") {
		span := ss.Spans().AppendEmpty()
		span.SetName(texts.Draw(t, "name"))
		span.SetEndTimestamp(pcommon.Timestamp(rapid.Uint64().Draw(t, "end")))
		span.Status().SetMessage(texts.Draw(t, "status"))
		span.TraceState().FromRaw(texts.Draw(t, "state"))
		randomAttributes(t, span.Attributes(), 3)
		e := span.Events().AppendEmpty()
		e.SetName(texts.Draw(t, "event"))
		randomAttributes(t, e.Attributes(), 2)
		randomAttributes(t, span.Links().AppendEmpty().Attributes(), 1)
	}
	log := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	log.SetEventName(texts.Draw(t, "event"))
	log.SetSeverityText(texts.Draw(t, "severity"))
	randomValue(t, log.Body(), 3)
	randomAttributes(t, log.Attributes(), 2)

	traces, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	logs, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
	require.NoError(t, err)
	cut := rapid.IntRange(0, len(logs)).Draw(t, "cut")
	return string(traces) + "\n" + string(logs) + "\n" + string(logs[:cut])
}

func TestNothingOfRandomTelemetryIsPrinted(t *testing.T) {
	for _, mode := range []strip.Mode{strip.Strict, strip.Known} {
		rapid.Check(t, func(t *rapid.T) {
			var printed strings.Builder
			l := newLinter(t, mode, func(item *lint.Item) error { return json.MarshalWrite(&printed, item) })
			require.NoError(t, l.Read(t.Context(), "in", strings.NewReader(randomLines(t))))
			r := l.Report()
			require.Positive(t, r.Summary.Spans)
			require.Positive(t, r.Summary.LogRecords)
			require.NotContains(t, printed.String()+spelled(t, r), mark)
		})
	}
}

// TestSuggestionsAreForWhatLooksNarrow also shows that the collector takes them
// and that they do what they promise.
func TestSuggestionsAreForWhatLooksNarrow(t *testing.T) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	require.NoError(t, rs.Resource().Attributes().FromRaw(map[string]any{"app.mixed": "42", "app.text": "t-1"}))
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for i, attributes := range []map[string]any{
		{"app.mixed": 1, "app.flag": true, "app.text": "one", "app.at": "2026-11-30", "app.empty": "", "app.list": []any{"a"}, "customer.no": 4711, "app.4711123": 1, "pii.note": 1},
		{"app.mixed": 2, "app.flag": "", "app.text": "two words", "app.at": "2026-12-01T00:00:00Z", "app.empty": nil, "app.tenant": "t-1"},
	} {
		span := spans.AppendEmpty()
		span.SetName("GET")
		require.NoError(t, span.Attributes().FromRaw(attributes), i)
	}
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	r := lintText(t, string(line))
	assert.Equal(t, []lint.Suggestion{
		{Key: "app.at", Shape: "timestamp", Values: 2},
		{Key: "app.flag", Shape: "bool", Values: 1},
		{Key: "app.mixed", Shape: "number", Values: 3},
		{Key: "app.tenant", Shape: "identifier", Values: 1},
	}, r.Keep)
	assert.Equal(t, 9, r.Summary.UnknownKeys)

	config := readrecordprocessor.NewFactory().CreateDefaultConfig().(*readrecordprocessor.Config)
	for _, s := range r.Keep {
		config.Keep = append(config.Keep, readrecordprocessor.KeepConfig{Key: s.Key, Shape: s.Shape})
	}
	lifter, stripper, err := config.Compile()
	require.NoError(t, err)
	l := lint.New(lint.Options{Lifter: lifter, Stripper: stripper})
	require.NoError(t, l.Read(t.Context(), "in", strings.NewReader(string(line))))
	assert.Equal(t, 9-len(r.Keep), l.Report().Summary.UnknownKeys)
}

func TestKeysAreShownAsFarAsTheyAreWords(t *testing.T) {
	td := ptrace.NewTraces()
	attributes := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().Attributes()
	shown := map[string]string{
		"app.tenant":                           "app.tenant",
		"app.Zoë.x":                            "app.*",
		"app.7.x":                              "app.N.x",
		"app.DE89370400440532013000":           "app.*",
		"app.ghp_0123456789abcdefghijklmn":     "app.*",
		"marta@bank.example":                   "*",
		"app.She said no.Marta":                "app.*",
		"metadata.marta":                       "metadata.*",
		"llm.input_messages.0.message.content": "llm.input_messages.N.message.content",
		strings.Repeat("a.", 50) + "b":         strings.Repeat("a.", 16) + "*",
	}
	want := map[string]int64{}
	for key, as := range shown {
		attributes.PutInt(key, 1)
		want[as]++
	}
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	got := map[string]int64{}
	for _, p := range lintText(t, string(line)).Places {
		if p.Place == "attribute" {
			got[p.Key] += p.Values
		}
	}
	assert.Equal(t, want, got)
}
