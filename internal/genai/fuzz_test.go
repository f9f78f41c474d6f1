// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

// checkDraft is what must hold of every observation of whatever arrives.
func checkDraft(t *testing.T, o Observation) {
	t.Helper()
	if o.Unrecordable != nil {
		d, err := record.NewUnrecordableDraft(*o.Header, *o.Unrecordable)
		require.NoError(t, err)
		complete(t, d)
		require.Nil(t, o.Read)
		require.Nil(t, o.Context)
	}
	if o.Context != nil {
		require.True(t, record.ValidGivenID(o.Context.ContextID))
		if d, err := o.ContextDraft(); err == nil {
			require.True(t, utf8.Valid(complete(t, d)))
		}
	}
	if o.Read == nil {
		return
	}
	require.True(t, record.ValidGivenID(o.Read.ReadID))
	d, err := record.NewReadDraft(o.Read, o.Given)
	if errors.Is(err, record.ErrTooLarge) {
		return
	}
	require.NoError(t, err)
	require.True(t, utf8.Valid(complete(t, d)))
}

func FuzzSpan(f *testing.F) {
	for _, file := range []string{
		"otel-js-db-http-0.76.0", "transcribed-otel-py-openai-agents", "transcribed-otel-py-google-genai", "langsmith-js-0.12.0",
		"transcribed-openllmetry-py-legacy",
	} {
		lines(f, filepath.Join(corpus, file+".traces.jsonl"), func(line []byte) {
			f.Add(bytes.Clone(line))
			traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			require.NoError(f, err)
			proto, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
			require.NoError(f, err)
			f.Add(proto)
		})
	}
	l := newTestLifter(f, crmRule)
	f.Fuzz(func(t *testing.T, data []byte) {
		traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(data)
		if err != nil {
			traces, err = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(data)
		}
		if err != nil {
			return
		}
		eachSpan(traces, func(in SpanInput) {
			o := l.Span(in)
			checkDraft(t, o)
			if o.Header.Correlation.TraceID != "" && o.Skeleton.SpanID != "" {
				lineage(t, o)
			}
		})
	})
}

func FuzzLog(f *testing.F) {
	lines(f, filepath.Join(corpus, "otel-js-openai-0.21.0.logs.jsonl"), func(line []byte) {
		f.Add(bytes.Clone(line))
		batch, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
		require.NoError(f, err)
		proto, err := (&plog.ProtoMarshaler{}).MarshalLogs(batch)
		require.NoError(f, err)
		f.Add(proto)
	})
	l := newTestLifter(f, crmRule)
	f.Fuzz(func(t *testing.T, data []byte) {
		batch, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(data)
		if err != nil {
			batch, err = (&plog.JSONUnmarshaler{}).UnmarshalLogs(data)
		}
		if err != nil {
			return
		}
		eachLog(batch, func(in LogInput) { checkDraft(t, l.Log(in)) })
	})
}

// FuzzDialect gives one text to every place of content of one span or log
// record of the dialects.
func FuzzDialect(f *testing.F) {
	var spanInputs []SpanInput
	for _, file := range tracesFiles(f) {
		spans(f, file, func(in SpanInput) { spanInputs = append(spanInputs, in) })
	}
	var logInputs []LogInput
	for _, file := range logsFiles(f) {
		logs(f, file, func(_ int, in LogInput) { logInputs = append(logInputs, in) })
	}
	for i, s := range []string{
		"", "text", `[{"role":"tool","parts":[{"type":"tool_call","arguments":{"a":1}}]}]`, `{"params":{"name":"f","arguments":[1],"uri":"file:///a"},"id":7}`,
		`{"documents":[{"content":[{"text":"a"}]}]}`, `{"messages":[{"id":"m","createdAt":"2026-01-01T00:00:00Z"}]}`, `{"content":"a","id":"c"}`, "[[[[", "\xff",
	} {
		f.Add(s, uint(i*7))
	}
	l := newTestLifter(f, crmRule)
	f.Fuzz(func(t *testing.T, s string, n uint) {
		in := spanInputs[n%uint(len(spanInputs))]
		span := ptrace.NewSpan()
		in.Span.CopyTo(span)
		in.Span, in.Cache = span, nil
		plant(span.Attributes(), s)
		for _, e := range span.Events().All() {
			plant(e.Attributes(), s)
		}
		checkDraft(t, l.Span(in))

		log := logInputs[n%uint(len(logInputs))]
		copied := plog.NewLogRecord()
		log.Log.CopyTo(copied)
		log.Log, log.Cache = copied, nil
		plant(copied.Attributes(), s)
		copied.Body().SetStr(s)
		checkDraft(t, l.Log(log))
	})
}

// plant puts a text where there is content.
func plant(m pcommon.Map, s string) {
	for _, v := range m.All() {
		if strings.Contains(v.AsString(), "CANARY") {
			v.SetStr(s)
		}
	}
}

// FuzzValue gives one text to every place of a read that can hold one.
func FuzzValue(f *testing.F) {
	for _, s := range []string{
		"", "text", `{"a":1}`, `[{"id":"a","score":1e400,"content":{"x":[1]}}]`, `"[\"a\"]"`, `["{\"id\":1}"]`, `{"documents":[{"document":{"id":"x"}}]}`,
		"[[[[", "\xff", "hmac-sha256:k:x", `{"a":1,"a":2}`, "2026-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59",
	} {
		f.Add(s)
	}
	l := newTestLifter(f, SourceRule{
		Match: SourceMatch{Tool: "*"}, RecordRefs: []Value{{Arguments: "$..*"}}, AsOf: Value{Result: "$..as_of"}, ToolVersion: Value{Result: "$"},
		Documents: &DocumentsRule{From: Value{Result: "$[*]"}, DocumentID: Value{Result: "$..id"}, ReceivedAt: Value{Arguments: "$[0]"}},
		Retrieval: &RetrievalRule{Query: Value{Arguments: "$"}, Chunks: &ChunkRule{From: Value{Result: "$"}, ID: Value{Result: "$"}, Content: Value{Result: "$.*"}}},
		Memory:    &MemoryRule{Entries: &EntryRule{From: Value{Arguments: "$.*"}, Content: Value{Arguments: "$"}}},
	})
	f.Fuzz(func(t *testing.T, s string) {
		for _, op := range []string{"execute_tool", "retrieval", "search_memory"} {
			checkDraft(t, l.Span(testSpan{name: s, scope: s, attrs: map[string]any{
				"gen_ai.operation.name": op, "gen_ai.tool.name": s, "gen_ai.tool.call.id": s, "gen_ai.tool.call.arguments": s,
				"gen_ai.tool.call.result": s, "gen_ai.retrieval.documents": s, "gen_ai.retrieval.query.text": s, "gen_ai.memory.records": s,
				"gen_ai.retrieval.top_k": s, "gen_ai.conversation.id": s, "gen_ai.data_source.id": s, "readtrail.read_id": s,
				"readtrail.source.as_of": s, "readtrail.purpose": s, "readtrail.data_boundary": s, "readtrail.document.id": s,
				"readtrail.document.received_at": s, "readtrail.record_refs": []any{s, s}, "readtrail.documents": s,
			}}.input(t)))
		}
	})
}
