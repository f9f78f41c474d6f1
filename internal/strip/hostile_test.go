// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/telemetry"
)

func TestHostileSpansAreStripped(t *testing.T) {
	for name, build := range map[string]func(ptrace.Span){
		"10 MB under every kind of key": func(s ptrace.Span) {
			big := strings.Repeat("Marta ", 10_000_000/6)
			for _, key := range []string{"gen_ai.prompt", "url.full", "note", "gen_ai.tool.name", "http.request.header.x"} {
				s.Attributes().PutStr(key, big)
			}
			s.Attributes().PutStr(big, "x")
			s.Status().SetMessage(big)
			s.SetName(big)
		},
		"structures 10,000 deep": func(s ptrace.Span) {
			for _, key := range []string{"gen_ai.prompt", "process.command_args", "note", "gen_ai.response.finish_reasons"} {
				v := s.Attributes().PutEmptySlice(key).AppendEmpty()
				for range 10_000 {
					v = v.SetEmptyMap().PutEmptySlice("Marta").AppendEmpty()
				}
				v.SetStr("Marta")
			}
		},
		"text 10,000 deep": func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.prompt", strings.Repeat("[", 10_000)+"\"Marta\""+strings.Repeat("]", 10_000))
		},
		"100,000 attributes": func(s ptrace.Span) {
			many := make(map[string]any, 100_000)
			for i := range 100_000 {
				many[fmt.Sprintf("Marta.%d", i)] = "Marta"
			}
			assert.NoError(t, s.Attributes().FromRaw(many))
		},
		"invalid UTF-8 in keys, values and names": func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.prompt.0.Marta\xff", "Marta\xff")
			s.Attributes().PutStr("gen_ai.tool.name", "Marta\xff")
			s.Attributes().PutEmptyMap("input.value").PutStr("Marta\xff", "Marta\xff")
			s.SetName("Marta\xff")
			s.Status().SetMessage("Marta\xff")
		},
	} {
		t.Run(name, func(t *testing.T) {
			traces := ptrace.NewTraces()
			build(traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty())
			stripper(t, Options{}).traces(traces)
			out, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
			require.NoError(t, err)
			require.NotContains(t, string(out), "Marta")
		})
	}
}

func plainSpan() ptrace.Span {
	span := ptrace.NewSpan()
	span.SetName("SELECT customers")
	a := span.Attributes()
	a.PutStr("db.system.name", "postgresql")
	a.PutStr("db.operation.name", "SELECT")
	a.PutStr("db.collection.name", "customers")
	a.PutStr("server.address", "db.internal")
	a.PutInt("server.port", 5432)
	a.PutStr("my.app.step", "load the customer")
	a.PutEmptySlice("my.app.list").AppendEmpty().SetStr("x")
	span.TraceState().FromRaw("ot=th:8")
	return span
}

func TestASpanWithNothingKnownCostsNoAllocationInKnownMode(t *testing.T) {
	s, span := stripper(t, Options{Mode: Known}), plainSpan()
	var cache telemetry.Cache
	var counts Counts
	assert.Zero(t, testing.AllocsPerRun(100, func() { s.Span(span, 0, &cache, "", &counts) }))
	assert.Equal(t, Counts{}, counts)
	assert.Equal(t, 7, span.Attributes().Len())
}

func BenchmarkKnownModePlainSpan(b *testing.B) {
	s, span := stripper(b, Options{Mode: Known}), plainSpan()
	var counts Counts
	b.ReportAllocs()
	for b.Loop() {
		s.Span(span, 0, nil, "", &counts)
	}
}

func BenchmarkStrictModeToolSpan(b *testing.B) {
	s := stripper(b, Options{})
	original := plainSpan()
	original.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	original.Attributes().PutStr("gen_ai.tool.name", "lookup_customer")
	original.Attributes().PutStr("gen_ai.tool.call.arguments", "{\"customer_id\":\"KYC-000123\"}")
	original.Attributes().PutStr("gen_ai.tool.call.result", "{\"name\":\"Marta Exempel\",\"risk\":\"medium\",\"score\":0.25}")
	span := ptrace.NewSpan()
	var cache telemetry.Cache
	var counts Counts
	b.ReportAllocs()
	for b.Loop() {
		original.CopyTo(span)
		cache.Reset()
		s.Span(span, 0, &cache, "execute_tool lookup_customer", &counts)
	}
}
