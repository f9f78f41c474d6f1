// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
	"github.com/readtrail/readtrail/record"
)

// TestLintSaysWhatTheProcessorDoes sends the corpus through the processor and
// compares its metrics with what lint says.
func TestLintSaysWhatTheProcessorDoes(t *testing.T) {
	for _, mode := range []strip.Mode{strip.Strict, strip.Known} {
		for _, file := range corpus(t) {
			l := newLinter(t, mode, nil)
			readFile(t, l, file)
			require.Equal(t, processed(t, mode, file), totals(l.Report()), "%s %s", mode, file)
		}
	}
}

// totals adds up a report as the processor's metrics do.
func totals(r *lint.Report) map[string]int64 {
	out := map[string]int64{}
	for _, p := range r.Places {
		action := map[string]string{
			"digest": "digested", "redacted": "digested", "removed_credential": "credential",
			"removed_unknown": "removed", "removed_misshapen": "removed", "removed_free_key": "removed", "replaced": "removed",
		}[p.Outcome]
		if action != "" {
			out["values "+action+" "+p.Place] += p.Values
		}
	}
	for _, g := range r.Groups {
		for reason, n := range g.Unrecordable {
			out["unrecordable "+reason] += n
		}
		if g.Reads > 0 {
			out["records "+g.Dialect] += g.Reads
		}
	}
	if n := r.Summary.Spans; n > 0 {
		out["spans"] = n
	}
	if n := r.Summary.LogRecords; n > 0 {
		out["log_records"] = n
	}
	return out
}

// processed returns the processor's own metrics after a file.
func processed(t *testing.T, mode strip.Mode, file string) map[string]int64 {
	t.Helper()
	meter := componenttest.NewTelemetry()
	defer func() { require.NoError(t, meter.Shutdown(t.Context())) }()
	factory := readrecordprocessor.NewFactory()
	set := processor.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: meter.NewTelemetrySettings()}
	config := factory.CreateDefaultConfig().(*readrecordprocessor.Config)
	config.Mode = mode
	lines, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range bytes.Lines(lines) {
		if strings.HasSuffix(file, ".logs.jsonl") {
			p, err := factory.CreateLogs(t.Context(), set, config, consumertest.NewNop())
			require.NoError(t, err)
			ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
			require.NoError(t, err)
			require.NoError(t, p.ConsumeLogs(t.Context(), ld))
			continue
		}
		p, err := factory.CreateTraces(t.Context(), set, config, consumertest.NewNop())
		require.NoError(t, err)
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
	}
	out := map[string]int64{}
	for name, labels := range map[string][]string{
		"values": {"action", "place"}, "records": {"dialect"}, "unrecordable": {"reason"}, "spans": nil, "log_records": nil,
	} {
		metric, err := meter.GetMetric("otelcol_processor_read_record_" + name)
		if err != nil {
			continue // nothing was counted
		}
		for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
			key := name
			for _, label := range labels {
				value, _ := point.Attributes.Value(attribute.Key(label))
				key += " " + value.AsString()
			}
			out[key] += point.Value
		}
	}
	assert.NotEmpty(t, out)
	return out
}

func TestModelCallsAreCountedIfTheirContextsAreRecorded(t *testing.T) {
	const call = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"chat m",` +
		`"endTimeUnixNano":"1","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},` +
		`{"key":"gen_ai.input.messages","value":{"stringValue":"[]"}}]}]}]}]}`
	assert.Zero(t, lintText(t, call).Summary.Contexts)
	config := readrecordprocessor.NewFactory().CreateDefaultConfig().(*readrecordprocessor.Config)
	config.Contexts = true
	lifter, stripper, err := config.Compile()
	require.NoError(t, err)
	l := lint.New(lint.Options{Lifter: lifter, Stripper: stripper, Records: true})
	require.NoError(t, l.Read(t.Context(), "in", strings.NewReader(call)))
	r := l.Report()
	assert.EqualValues(t, 1, r.Summary.Contexts)
	assert.EqualValues(t, 1, r.Groups[0].Request[record.CapturedContent])
	assert.EqualValues(t, 1, r.Groups[0].Response[record.CapturedNothing])
}
