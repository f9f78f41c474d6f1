// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

const (
	argumentsKey = "gen_ai.tool.call.arguments"
	resultKey    = "gen_ai.tool.call.result"
)

// deep nests a canary in maps and slices in turn.
func deep(v pcommon.Value, depth int) {
	for i := range depth {
		if i%2 == 0 {
			v = v.SetEmptyMap().PutEmpty("k")
		} else {
			v = v.SetEmptySlice().AppendEmpty()
		}
	}
	v.SetStr(canary)
}

// hostileSpans spoil the second of three spans that execute a tool.
var hostileSpans = map[string]func(ptrace.Span){
	"no ids":           func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{}); s.SetSpanID(pcommon.SpanID{}) },
	"no trace id":      func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{}) },
	"no span id":       func(s ptrace.Span) { s.SetSpanID(pcommon.SpanID{}) },
	"own parent":       func(s ptrace.Span) { s.SetParentSpanID(s.SpanID()) },
	"ids of the first": func(s ptrace.Span) { s.SetSpanID(pcommon.SpanID{0, 0, 0, 0, 0, 0, 0, 1}) },
	"10 MB of text":    func(s ptrace.Span) { s.Attributes().PutStr(resultKey, strings.Repeat(canary+" ", 10<<20/len(canary))) },
	"10 MB name":       func(s ptrace.Span) { s.SetName(strings.Repeat(canary, 10<<20/len(canary))) },
	"10 MB tool name":  func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.name", strings.Repeat("a", 10<<20)) },
	"10 MB call id":    func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.id", strings.Repeat("a", 10<<20)) },
	"10 MB tracestate": func(s ptrace.Span) { s.TraceState().FromRaw(strings.Repeat("a=b,", 10<<20/4)) },
	"10 MB of bytes":   func(s ptrace.Span) { s.Attributes().PutEmptyBytes(argumentsKey).FromRaw(make([]byte, 10<<20)) },
	"depth 10,000":     func(s ptrace.Span) { deep(s.Attributes().PutEmpty(argumentsKey), 10000) },
	"depth as JSON": func(s ptrace.Span) {
		s.Attributes().PutStr(argumentsKey, strings.Repeat(`{"a":[`, 5000)+strings.Repeat(`]}`, 5000))
	},
	"depth in any key": func(s ptrace.Span) { deep(s.Attributes().PutEmpty("anything"), 10000) },
	"invalid UTF-8":    func(s ptrace.Span) { s.Attributes().PutStr(argumentsKey, "\xff\xfe"+canary) },
	"invalid names":    func(s ptrace.Span) { s.SetName("\xff"); s.Attributes().PutStr("gen_ai.tool.name", "\xff") },
	"invalid key":      func(s ptrace.Span) { s.Attributes().PutStr("\xff"+canary, "v") },
	"NaN":              func(s ptrace.Span) { s.Attributes().PutEmptyMap(argumentsKey).PutDouble("score", math.NaN()) },
	"infinity":         func(s ptrace.Span) { s.Attributes().PutDouble(resultKey, math.Inf(-1)) },
	"in 1970":          func(s ptrace.Span) { s.SetStartTimestamp(1); s.SetEndTimestamp(2) },
	"in 2100":          func(s ptrace.Span) { s.SetEndTimestamp(at(2100)) },
	"at the end of time": func(s ptrace.Span) {
		s.SetStartTimestamp(math.MaxUint64)
		s.SetEndTimestamp(math.MaxUint64)
	},
	"end before start": func(s ptrace.Span) { s.SetStartTimestamp(at(2100)); s.SetEndTimestamp(at(1971)) },
	"no time":          func(s ptrace.Span) { s.SetStartTimestamp(0); s.SetEndTimestamp(0) },
	"100,000 attributes": func(s ptrace.Span) {
		all := s.Attributes().AsRaw()
		for i := range 100000 {
			all[fmt.Sprintf("%s-%d", canary, i)] = canary
		}
		if err := s.Attributes().FromRaw(all); err != nil { // linear, where PutStr searches first
			panic(err)
		}
	},
	"our own attributes": func(s ptrace.Span) {
		for _, key := range []string{
			carrier.ReadIDAttribute, "readtrail.execution.id", "readtrail.event.id", "readtrail.step.id", "readtrail.edge.type",
			"readtrail.source.kind", "readtrail.source.as_of", "readtrail.data_boundary", "readtrail.purpose", "readtrail.document.id",
			"readtrail.document.checksum_sha256", "readtrail.retrieval.index_id", "readtrail.unknown",
		} {
			s.Attributes().PutStr(key, canary+" \x00\n")
		}
	},
	"our own attributes of other types": func(s ptrace.Span) {
		deep(s.Attributes().PutEmpty(carrier.ReadIDAttribute), 3)
		deep(s.Attributes().PutEmpty("readtrail.record_refs"), 3)
		s.Attributes().PutInt("readtrail.execution.id", math.MinInt64)
	},
	"the read id of the first": func(s ptrace.Span) {
		s.Attributes().PutStr(carrier.ReadIDAttribute, record.ReadIDOfSpan(trace, [8]byte{7: 1}))
	},
	"100,000 links": func(s ptrace.Span) {
		for range 100000 {
			s.Links().AppendEmpty().SetTraceID(trace)
		}
	},
	"100,000 events": func(s ptrace.Span) {
		for range 100000 {
			s.Events().AppendEmpty().SetName(canary)
		}
	},
	"100,000 documents": func(s ptrace.Span) {
		s.Attributes().PutStr("gen_ai.operation.name", "retrieval")
		documents := s.Attributes().PutEmptySlice("gen_ai.retrieval.documents")
		for i := range 100000 {
			documents.AppendEmpty().SetEmptyMap().PutStr("id", fmt.Sprintf("document-%d", i))
		}
	},
}

func at(year int) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
}

func TestHostileSpanIsRecordedOrSaidToBeUnrecordableAndTheOthersAreRecorded(t *testing.T) {
	for name, spoil := range hostileSpans {
		t.Run(name, func(t *testing.T) {
			p, out := newTraces(t, settings(nil), defaults())
			td := ptrace.NewTraces()
			ss := newScope(td)
			toolSpan(ss, 1)
			spoil(toolSpan(ss, 2))
			toolSpan(ss, 3)
			require.NoError(t, p.ConsumeTraces(t.Context(), td))
			items := out.batch().Items
			require.Len(t, items, 3)
			for _, i := range []int{0, 2} {
				assert.Equal(t, record.KindRead, items[i].Draft.Kind())
			}
			if items[1].Draft.Kind() != record.KindRead {
				assert.Contains(t, body(items[1].Draft), `"event_type":"item.unrecordable"`)
			}
			for _, item := range items {
				line := body(item.Draft)
				assert.Less(t, len(line), record.MaxEntryBytes)
				assert.True(t, utf8.ValidString(line))
				assert.NotContains(t, line, canary)
			}
			assert.NotContains(t, out.json(t), canary)
			verifyJournaled(t, out.batch())
		})
	}
}

func TestHostileLogRecordDoesNotKeepTheOthersFromBeingRecorded(t *testing.T) {
	memory := func(a pcommon.Map) {
		a.PutStr("gen_ai.operation.name", "search_memory")
		a.PutStr("gen_ai.memory.store.id", "crm-memory")
	}
	for name, spoil := range map[string]func(plog.LogRecord){
		"no ids":             func(l plog.LogRecord) { l.SetTraceID(pcommon.TraceID{}); l.SetSpanID(pcommon.SpanID{}) },
		"no time":            func(l plog.LogRecord) { l.SetTimestamp(0) },
		"in 2100":            func(l plog.LogRecord) { l.SetTimestamp(at(2100)) },
		"depth 10,000":       func(l plog.LogRecord) { deep(l.Body(), 10000) },
		"10 MB of text":      func(l plog.LogRecord) { l.Body().SetStr(strings.Repeat(canary, 10<<20/len(canary))) },
		"invalid UTF-8":      func(l plog.LogRecord) { l.Body().SetStr("\xff" + canary); l.SetSeverityText("\xff") },
		"NaN":                func(l plog.LogRecord) { l.Body().SetDouble(math.NaN()) },
		"our own attributes": func(l plog.LogRecord) { l.Attributes().PutStr(carrier.ReadIDAttribute, canary+" \x00") },
	} {
		t.Run(name, func(t *testing.T) {
			p, out := newLogs(t, settings(nil), defaults())
			ld := plog.NewLogs()
			for i := range 3 {
				log := toolLog(ld, memory)
				log.SetEventName("gen_ai.memory.operation.details")
				log.SetTimestamp(at(2026) + pcommon.Timestamp(i))
				if i == 1 {
					spoil(log)
				}
			}
			require.NoError(t, p.ConsumeLogs(t.Context(), ld))
			require.Len(t, out.batch().Items, 3)
			for _, item := range out.batch().Items {
				assert.True(t, utf8.ValidString(body(item.Draft)))
				assert.NotContains(t, body(item.Draft), canary)
			}
			assert.NotContains(t, out.json(t), canary)
			verifyJournaled(t, out.batch())
		})
	}
}

func FuzzTracesOfAnyShapePass(f *testing.F) {
	marshal := func(change func(ptrace.Span)) {
		td := ptrace.NewTraces()
		change(toolSpan(newScope(td), 1))
		data, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, name := range []string{"no ids", "invalid UTF-8", "NaN", "our own attributes", "own parent"} {
		marshal(hostileSpans[name])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			return
		}
		p, out := newTraces(t, settings(nil), defaults())
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		for _, span := range out.spans() {
			id, found := span.Attributes().Get(carrier.ReadIDAttribute)
			if !found {
				continue
			}
			_, known := out.batch().ReadIDs[id.AsString()]
			assert.True(t, known, "a span names a record that did not come with it")
		}
	})
}
