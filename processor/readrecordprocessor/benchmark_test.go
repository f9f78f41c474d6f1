// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// benchmarkItems is the size of a request as SDKs export it.
const benchmarkItems = 512

// BenchmarkTraces measures a request of spans that all are reads; its baseline
// is the copy of the request that each round needs.
func BenchmarkTraces(b *testing.B) {
	request := ptrace.NewTraces()
	ss := newScope(request)
	for i := range benchmarkItems {
		toolSpan(ss, byte(i)).SetSpanID(pcommon.SpanID{1, byte(i >> 8), byte(i)})
	}
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			request.CopyTo(ptrace.NewTraces())
		}
	})
	for name, cfg := range map[string]*Config{"records": defaults(), "strip_only": stripOnly()} {
		b.Run(name, func(b *testing.B) {
			p, _ := newTraces(b, settings(nil), cfg)
			b.ReportAllocs()
			for b.Loop() {
				td := ptrace.NewTraces()
				request.CopyTo(td)
				require.NoError(b, p.ConsumeTraces(b.Context(), td))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkItems, "ns/span")
		})
	}
}

// BenchmarkLogs is BenchmarkTraces for log records.
func BenchmarkLogs(b *testing.B) {
	request := plog.NewLogs()
	for i := range benchmarkItems {
		log := toolLog(request, func(a pcommon.Map) { a.PutStr("gen_ai.operation.name", "search_memory") })
		log.SetEventName("gen_ai.memory.operation.details")
		log.SetTimestamp(at(2026) + pcommon.Timestamp(i))
	}
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			request.CopyTo(plog.NewLogs())
		}
	})
	b.Run("records", func(b *testing.B) {
		p, _ := newLogs(b, settings(nil), defaults())
		b.ReportAllocs()
		for b.Loop() {
			ld := plog.NewLogs()
			request.CopyTo(ld)
			require.NoError(b, p.ConsumeLogs(b.Context(), ld))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkItems, "ns/record")
	})
}
