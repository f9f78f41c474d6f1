// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// TestHostileTelemetryNeverHarmsItsNeighbors sends a batch of tool spans, each
// hostile in its own way, over gRPC, where nobody checks UTF-8. Each leaves a
// record or an item.unrecordable, and the good span beside it is recorded.
func TestHostileTelemetryNeverHarmsItsNeighbors(t *testing.T) {
	hostile := map[string]func(ptrace.Span){
		"zero ids":          func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{}); s.SetSpanID(pcommon.SpanID{}) },
		"a 10 MB attribute": func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", strings.Repeat("x", 10<<20)) },
		"depth 10,000 in JSON": func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.tool.call.result", strings.Repeat("[", 10000)+strings.Repeat("]", 10000))
		},
		"invalid UTF-8": func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.tool.call.result", "ab\xff\xfe")
			s.SetName("\xff")
			s.Attributes().PutStr("k\xff", "v")
		},
		"an invalid tool name": func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.name", "\xff\xfe") },
		"NaN":                  func(s ptrace.Span) { s.Attributes().PutEmptyMap("gen_ai.tool.call.result").PutDouble("x", math.NaN()) },
		"100,000 attributes":   func(s ptrace.Span) { manyAttributes(s.Attributes(), 100000) },
		"1970":                 func(s ptrace.Span) { s.SetStartTimestamp(1); s.SetEndTimestamp(2) },
		"2100":                 func(s ptrace.Span) { s.SetEndTimestamp(4102444800000000000) },
		"no time":              func(s ptrace.Span) { s.SetStartTimestamp(0); s.SetEndTimestamp(0) },
		"the end of time":      func(s ptrace.Span) { s.SetEndTimestamp(math.MaxUint64) },
		"our own attributes":   func(s ptrace.Span) { forge(s.Attributes()) },
		"a colliding id": func(s ptrace.Span) {
			s.SetSpanID(goodSpanID)
			s.Attributes().PutStr("gen_ai.tool.call.arguments", "other")
		},
		"100,000 documents":   func(s ptrace.Span) { manyDocuments(s.Attributes()) },
		"depth 20 in kvlists": func(s ptrace.Span) { deepMap(s.Attributes().PutEmptyMap("gen_ai.tool.call.result"), 20) },
	}
	h := newHouse(t, "e2e/testdata/full.yaml")
	c := h.start()
	conn, err := grpc.NewClient(c.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(64<<20)))
	require.NoError(t, err)
	defer conn.Close()
	client := ptraceotlp.NewGRPCClient(conn)

	n := byte(0)
	for name, mutate := range hostile {
		n++
		before := len(h.entries())
		traces := ptrace.NewTraces()
		spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		good := goodSpan(spans.AppendEmpty(), n)
		good.SetSpanID(goodSpanID)
		mutate(goodSpan(spans.AppendEmpty(), n))
		_, err := client.Export(t.Context(), ptraceotlp.NewExportRequestFromTraces(traces))
		require.NoError(t, err, name)

		var reads, unrecordable int
		for _, e := range h.entries()[before:] {
			switch {
			case e.Read != nil:
				reads++
			case e.Journal != nil && e.Journal.EventType == "item.unrecordable":
				unrecordable++
				assert.NotEmpty(t, e.Journal.Detail["reason"], name)
			}
		}
		assert.Equal(t, 2, reads+unrecordable, "%s: %d reads, %d unrecordable", name, reads, unrecordable)
		assert.GreaterOrEqual(t, reads, 1, name)
	}
	rss := peakMemoryMiB(t, c.PID())
	t.Logf("peak memory %d MiB", rss)
	assert.Less(t, rss, 1500)
	require.NoError(t, c.Stop())
	h.requireVerified()
	assert.NotContains(t, c.Output(), "panic")
}

var goodSpanID = pcommon.SpanID{9, 9, 9, 9, 9, 9, 9, 9}

func goodSpan(s ptrace.Span, n byte) ptrace.Span {
	s.SetTraceID(pcommon.TraceID{15: n})
	s.SetSpanID(pcommon.SpanID{7: n})
	s.SetName("execute_tool f")
	s.SetStartTimestamp(1791533523000000000)
	s.SetEndTimestamp(1791533523418000000)
	s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	s.Attributes().PutStr("gen_ai.tool.name", "f")
	return s
}

func manyAttributes(m pcommon.Map, n int) {
	all := m.AsRaw()
	for i := range n {
		all["k"+strconv.Itoa(i)] = i
	}
	if err := m.FromRaw(all); err != nil { // linear, where PutInt searches first
		panic(err)
	}
}

func manyDocuments(m pcommon.Map) {
	m.PutStr("gen_ai.operation.name", "retrieval")
	m.PutStr("gen_ai.retrieval.documents", "["+strings.TrimSuffix(strings.Repeat(`{"id":"d","score":1},`, 100000), ",")+"]")
}

func deepMap(m pcommon.Map, depth int) {
	for range depth {
		m = m.PutEmptyMap("d")
	}
}

func forge(m pcommon.Map) {
	for _, key := range []string{"readtrail.read_id", "readtrail.execution.id", "readtrail.source.kind", "readtrail.source.as_of", "readtrail.purpose", "event_id", "execution_id", "call_id"} {
		m.PutStr(key, "\x00\" }, {\n "+strings.Repeat("z", 5000))
	}
	m.PutInt("readtrail.record_refs", 5)
}

// peakMemoryMiB reads the high water mark of a process.
func peakMemoryMiB(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc here; the bound on memory was not checked")
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			require.NoError(t, err)
			return kib / 1024
		}
	}
	t.Fatal("no VmHWM")
	return 0
}
