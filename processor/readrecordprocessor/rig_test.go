// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

// canary stands for content: it must not leave.
const canary = "CANARY-Erika-Mustermann-4711"

// sink keeps what the processor hands on, and with which context.
type sink struct {
	ctx context.Context
	// carried is what the context carried while it was consumed; nil if nothing.
	carried *carrier.Batch
	traces  ptrace.Traces
	logs    plog.Logs
	fail    error
}

func (s *sink) batch() *carrier.Batch { return s.carried }

func (s *sink) json(t *testing.T) string {
	t.Helper()
	var out []byte
	var err error
	if s.traces != (ptrace.Traces{}) {
		out, err = (&ptrace.JSONMarshaler{}).MarshalTraces(s.traces)
	} else {
		out, err = (&plog.JSONMarshaler{}).MarshalLogs(s.logs)
	}
	require.NoError(t, err)
	return string(out)
}

func (s *sink) spans() []ptrace.Span {
	var out []ptrace.Span
	for _, rs := range s.traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				out = append(out, span)
			}
		}
	}
	return out
}

func settings(tel *componenttest.Telemetry) processor.Settings {
	set := processortest.NewNopSettings(metadata.Type)
	if tel != nil {
		set.TelemetrySettings = tel.NewTelemetrySettings()
	}
	return set
}

func newTraces(t testing.TB, set processor.Settings, cfg *Config) (processor.Traces, *sink) {
	t.Helper()
	s := &sink{}
	next, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
		s.ctx, s.carried, s.traces = ctx, carrier.FromContext(ctx), td
		return s.fail
	})
	require.NoError(t, err)
	p, err := NewFactory().CreateTraces(t.Context(), set, cfg, next)
	require.NoError(t, err)
	return p, s
}

func newLogs(t testing.TB, set processor.Settings, cfg *Config) (processor.Logs, *sink) {
	t.Helper()
	s := &sink{}
	next, err := consumer.NewLogs(func(ctx context.Context, ld plog.Logs) error {
		s.ctx, s.carried, s.logs = ctx, carrier.FromContext(ctx), ld
		return s.fail
	})
	require.NoError(t, err)
	p, err := NewFactory().CreateLogs(t.Context(), set, cfg, next)
	require.NoError(t, err)
	return p, s
}

func defaults() *Config { return createDefaultConfig().(*Config) }

func stripOnly() *Config {
	cfg := defaults()
	cfg.Records = false
	return cfg
}

var trace = pcommon.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// toolSpan adds the execution of a tool, with content, as OpenTelemetry's
// conventions have it.
func toolSpan(ss ptrace.ScopeSpans, id byte) ptrace.Span {
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(trace)
	span.SetSpanID(pcommon.SpanID{0, 0, 0, 0, 0, 0, 0, id})
	span.SetName("execute_tool crm.customer.get")
	span.SetKind(ptrace.SpanKindInternal)
	span.SetStartTimestamp(1_790_000_000_000_000_000)
	span.SetEndTimestamp(1_790_000_001_000_000_000 + pcommon.Timestamp(id))
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", "crm.customer.get")
	a.PutStr("gen_ai.tool.call.id", "call_"+string('a'+rune(id)))
	a.PutStr("gen_ai.tool.call.arguments", `{"customer":"`+canary+`"}`)
	a.PutStr("gen_ai.tool.call.result", `{"name":"`+canary+`"}`)
	return span
}

// otherSpan adds a span that is no read and no part of an agent.
func otherSpan(ss ptrace.ScopeSpans, id byte) ptrace.Span {
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(trace)
	span.SetSpanID(pcommon.SpanID{0, 0, 0, 0, 0, 0, 0, id})
	span.SetName("handle " + canary)
	span.SetStartTimestamp(1_790_000_000_000_000_000)
	span.SetEndTimestamp(1_790_000_002_000_000_000)
	return span
}

func newScope(td ptrace.Traces) ptrace.ScopeSpans {
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "kyc-agent")
	return rs.ScopeSpans().AppendEmpty()
}

func body(d *record.Draft) string {
	return string(d.Complete(record.Completion{EventID: "evt_1", JournalID: "j", Sequence: 1, CollectorID: "c", Parts: d.Parts()}))
}
