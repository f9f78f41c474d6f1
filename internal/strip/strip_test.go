// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
)

func stripper(t testing.TB, o Options) *Stripper {
	t.Helper()
	s, err := New(o)
	require.NoError(t, err)
	return s
}

func d(s string) string { return content.Plain.OfString(s).Value }

// Total returns how many values an action was done to.
func (c *Counts) Total(a Action) (n int64) {
	for p := range places {
		n += c[p][a]
	}
	return n
}

// attrs strips attributes in a mode under a gate and returns what is left.
func attrs(t *testing.T, mode Mode, gate content.Gate, in map[string]any) (map[string]any, *Counts) {
	t.Helper()
	m := pcommon.NewMap()
	require.NoError(t, m.FromRaw(in))
	var counts Counts
	stripper(t, Options{Mode: mode}).attributes(m, gate, &telemetry.Cache{}, PlaceAttribute, &counts)
	return m.AsRaw(), &counts
}

func TestAttributesLeaveAsTheModeSays(t *testing.T) {
	const text = "Marta Exempel"
	for name, c := range map[string]struct {
		gate          content.Gate
		in            map[string]any
		strict, known map[string]any
	}{
		"content is digested": {
			in:     map[string]any{"gen_ai.tool.call.arguments": "{\"a\": 1}", "gen_ai.tool.call.result": map[string]any{"a": int64(1)}, "ai.prompt.tools": []any{"x"}},
			strict: map[string]any{"gen_ai.tool.call.arguments": d(`{"a":1}`), "gen_ai.tool.call.result": d(`{"a":1}`), "ai.prompt.tools": d(`["x"]`)},
			known:  map[string]any{"gen_ai.tool.call.arguments": d(`{"a":1}`), "gen_ai.tool.call.result": d(`{"a":1}`), "ai.prompt.tools": d(`["x"]`)},
		},
		"scalars under a key of content are digested": {
			in:     map[string]any{"gen_ai.tool.call.result": int64(4711), "output.value": true, "gen_ai.prompt": []byte("x")},
			strict: map[string]any{"gen_ai.tool.call.result": d("4711"), "output.value": d("true"), "gen_ai.prompt": d("x")},
			known:  map[string]any{"gen_ai.tool.call.result": d("4711"), "output.value": d("true"), "gen_ai.prompt": d("x")},
		},
		"placeholders and empty values stay": {
			in:     map[string]any{"gen_ai.tool.call.result": "[REDACTED]", "input.value": "", "output.value": nil},
			strict: map[string]any{"gen_ai.tool.call.result": "[REDACTED]", "input.value": "", "output.value": nil},
			known:  map[string]any{"gen_ai.tool.call.result": "[REDACTED]", "input.value": "", "output.value": nil},
		},
		"a placeholder in JSON goes with the names around it": {
			in:     map[string]any{"gen_ai.tool.call.arguments": `{"` + text + `":"<replaced>"}`, "gen_ai.tool.call.result": map[string]any{text: []any{"__REDACTED__", nil}}, "output.value": `"__REDACTED__"`},
			strict: map[string]any{"gen_ai.tool.call.arguments": "[REDACTED]", "gen_ai.tool.call.result": "[REDACTED]", "output.value": "[REDACTED]"},
			known:  map[string]any{"gen_ai.tool.call.arguments": "[REDACTED]", "gen_ai.tool.call.result": "[REDACTED]", "output.value": "[REDACTED]"},
		},
		"a structure with a placeholder is content": {
			in:     map[string]any{"gen_ai.tool.call.result": map[string]any{"a": "<replaced>", "b": true}, "output.value": []any{"__REDACTED__", int64(1)}},
			strict: map[string]any{"gen_ai.tool.call.result": d(`{"a":"<replaced>","b":true}`), "output.value": d(`["__REDACTED__",1]`)},
			known:  map[string]any{"gen_ai.tool.call.result": d(`{"a":"<replaced>","b":true}`), "output.value": d(`["__REDACTED__",1]`)},
		},
		"harmless values stay": {
			in:     map[string]any{"gen_ai.tool.name": "lookup customer", "gen_ai.usage.input_tokens": int64(3), "gen_ai.response.finish_reasons": []any{"stop"}, "service.name": "N/A"},
			strict: map[string]any{"gen_ai.tool.name": "lookup customer", "gen_ai.usage.input_tokens": int64(3), "gen_ai.response.finish_reasons": []any{"stop"}, "service.name": "N/A"},
			known:  map[string]any{"gen_ai.tool.name": "lookup customer", "gen_ai.usage.input_tokens": int64(3), "gen_ai.response.finish_reasons": []any{"stop"}, "service.name": "N/A"},
		},
		"harmless keys do not carry anything": {
			in:     map[string]any{"gen_ai.tool.name": "Marta, born 1970", "gen_ai.usage.input_tokens": text, "http.request.method": text, "session.id": map[string]any{"a": text}},
			strict: map[string]any{},
			known:  map[string]any{"gen_ai.tool.name": "Marta, born 1970", "gen_ai.usage.input_tokens": text, "http.request.method": text, "session.id": map[string]any{"a": text}},
		},
		"unknown keys go": {
			in:     map[string]any{"note": text, "customer.id": int64(1), "user.id": "analyst-7", "user.email": "a@b", text: true, "": "x", "x": []byte("y")},
			strict: map[string]any{},
			known:  map[string]any{"note": text, "customer.id": int64(1), "user.id": "analyst-7", "user.email": "a@b", text: true, "": "x", "x": []byte("y")},
		},
		"keys that hold text go": {
			in:     map[string]any{"mcp.request.argument.iban": text, "llm.input_messages.0.message.content": text, "llm.input_messages.0." + text: text, "gen_ai.prompt.variable.x": text},
			strict: map[string]any{"llm.input_messages.0.message.content": d(text)},
			known:  map[string]any{"mcp.request.argument.iban": d(text), "llm.input_messages.0.message.content": d(text), "llm.input_messages.0." + text: d(text), "gen_ai.prompt.variable.x": d(text)},
		},
		"references to content stay": {
			in:     map[string]any{"gen_ai.input.messages_ref": "s3://b/k.json", "gen_ai.output.messages_ref": "https://b/k?X-Amz-Signature=1", "body_ref": "/x"},
			strict: map[string]any{"gen_ai.input.messages_ref": "s3://b/k.json", "body_ref": "/x"},
			known:  map[string]any{"gen_ai.input.messages_ref": "s3://b/k.json", "body_ref": "/x"},
		},
		"credentials go without a digest": {
			in: map[string]any{
				"http.request.header.authorization": []any{"Bearer x"}, "http.response.header.set-cookie": []any{"a=b"}, "llm.headers": "{}", "x.api_key": "abc",
				"url.full": "https://u:p@h/x", "url.query": "?api_key=1", "process.command_args": []any{"tool", "--password", "x"}, "process.command_line": "tool --token x",
				"gen_ai.tool.call.result": "ghp_0123456789abcdefABCDEF0123", "session.id": "sk-0123456789abcdefABCDEF", "note": []any{"AKIAIOSFODNN7EXAMPLE"},
				"db.connection_string": "postgres://x", "mcp.request.argument.password": "x",
			},
			strict: map[string]any{}, known: map[string]any{},
		},
		"credentials go however they are carried": {
			in: map[string]any{
				"url.query": map[string]any{"access_token": "S"}, "process.command_args": []any{"env", "PGPASSWORD=S", "psql"}, "process.command_line": "sshpass -p S ssh h",
				"mcp.resource.uri": "https://h/?accessToken=S", "url.full": "https://h/p%3Faccess_token%3DS", "gen_ai.tool.call.result": []byte("Bearer 0123456789abcdef"),
				"gen_ai.prompt": "Bearer abc~def/ghi", "input.value": "Authorization: Bearer 0123456789", "my.accessToken": "S",
				"output.value": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/2015/us/iam/aws4_request, SignedHeaders=host", "process.command": "[\"psql\",\"--password\",\"S\"]",
				"http.url": "//u:p@h/x", "note": map[string]any{"a": []any{map[string]any{"b": "sk-0123456789abcdefABCDEF"}}}, "db": map[string]any{"clientSecret": "S"}, "my.url": "https://u:p@h/",
			},
			strict: map[string]any{}, known: map[string]any{},
		},
		"URLs with a password go from places of ids": {
			in: map[string]any{
				"gen_ai.data_source.id": "postgres://u:PW@h/db", "gen_ai.memory.store.id": "redis://:PW@host:6379/0", "retrieval.documents.0.document.id": "https://u:PW@h/1",
				"readtrail.document.id": "https://u:PW@h/1", "readtrail.record_refs": []any{"https://user:PW@h/x", "https://h/#access_token=T"}, "gen_ai.response.finish_reasons": "[\"sk-0123456789abcdefABCD\"]",
				"gen_ai.input.messages_ref": "https://hooks.slack.com/services/T0/B0/x", "gen_ai.output.messages_ref": "s3://b/token=S", "body_ref": "/x/ghp_0123456789abcdefABCDEF0123",
			},
			strict: map[string]any{}, known: map[string]any{},
		},
		"references to content that are content go": {
			in:     map[string]any{"gen_ai.input.messages_ref": "data:text/plain,Marta", "gen_ai.output.messages_ref": "TWFydGEgRXhlbXBlbA", "body_ref": "mailto:jane"},
			strict: map[string]any{},
			known:  map[string]any{"gen_ai.input.messages_ref": "data:text/plain,Marta", "gen_ai.output.messages_ref": "TWFydGEgRXhlbXBlbA", "body_ref": "mailto:jane"},
		},
		"people, sentences and encoded text go from places of names and ids": {
			in: map[string]any{
				"session.id": "jane@example.com", "gen_ai.conversation.id": "Marta%20Exempel", "gen_ai.tool.name": "Marta Exempel of Bonn has cancer", "gen_ai.agent.id": "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy",
				"error.type": "/marta-exempel", "process.executable.name": "review of Marta", "db.query.summary": "Marta Exempel", "event.name": "codex.marta_exempel", "gen_ai.prompt.0.11111.22222": "x",
			},
			strict: map[string]any{},
			known: map[string]any{
				"session.id": "jane@example.com", "gen_ai.conversation.id": "Marta%20Exempel", "gen_ai.tool.name": "Marta Exempel of Bonn has cancer", "gen_ai.agent.id": "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy",
				"error.type": "/marta-exempel", "process.executable.name": "review of Marta", "db.query.summary": "Marta Exempel", "event.name": "codex.marta_exempel", "gen_ai.prompt.0.11111.22222": d("x"),
			},
		},
		"URLs and command lines without a credential are digested": {
			in:     map[string]any{"url.full": "https://h/x?name=Marta", "process.command_args": []any{"tool", "Marta"}},
			strict: map[string]any{"url.full": d("https://h/x?name=Marta"), "process.command_args": d(`["tool","Marta"]`)},
			known:  map[string]any{"url.full": d("https://h/x?name=Marta"), "process.command_args": d(`["tool","Marta"]`)},
		},
		"ids of records and documents are those of persons and cases": {
			in:     map[string]any{"readtrail.record_refs": []any{"cust_1"}, "readtrail.document.id": "doc_1"},
			strict: map[string]any{"readtrail.record_refs": d(`["cust_1"]`), "readtrail.document.id": d("doc_1")},
			known:  map[string]any{"readtrail.record_refs": d(`["cust_1"]`), "readtrail.document.id": d("doc_1")},
		},
		"a flag that says whether there is a credential is none": {
			in:     map[string]any{"auth.token": true, "x.password": nil},
			strict: map[string]any{}, known: map[string]any{"auth.token": true, "x.password": nil},
		},
		"generic names without a gate are unknown": {
			in:     map[string]any{"input": text, "message": text},
			strict: map[string]any{}, known: map[string]any{"input": text, "message": text},
		},
		"generic names under a gate are content": {
			gate:   content.GateGeneric,
			in:     map[string]any{"input": text, "message": text},
			strict: map[string]any{"input": d(text), "message": d(text)}, known: map[string]any{"input": d(text), "message": d(text)},
		},
		"an event of content keeps what is harmless": {
			gate:   content.GateWhole | content.GateGeneric,
			in:     map[string]any{"owner": text, "text": text, "db.query.result.id": "doc-1"},
			strict: map[string]any{"text": d(text), "db.query.result.id": "doc-1"}, known: map[string]any{"owner": d(text), "text": d(text), "db.query.result.id": "doc-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			strict, counts := attrs(t, Strict, c.gate, c.in)
			assert.Equal(t, c.strict, strict)
			assert.EqualValues(t, len(c.in)-len(c.strict), counts.Total(Removed)+counts.Total(Credential))
			known, counts := attrs(t, Known, c.gate, c.in)
			assert.Equal(t, c.known, known)
			assert.Zero(t, counts.Total(Removed))
		})
	}
}

func TestEveryPlaceOfASpanIsStripped(t *testing.T) {
	const text = "Marta Exempel"
	build := func() ptrace.Traces {
		traces := ptrace.NewTraces()
		r := traces.ResourceSpans().AppendEmpty()
		r.SetSchemaUrl("https://example.com/Marta")
		r.Resource().Attributes().PutStr("service.name", "agent")
		r.Resource().Attributes().PutStr("note", text)
		r.Resource().SetDroppedAttributesCount(3)
		ss := r.ScopeSpans().AppendEmpty()
		ss.SetSchemaUrl("https://opentelemetry.io/schemas/1.37.0")
		ss.Scope().SetName("scope, " + text)
		ss.Scope().SetVersion("v1 of " + text)
		ss.Scope().Attributes().PutStr("input.value", text)
		span := ss.Spans().AppendEmpty()
		span.SetName("review " + text)
		span.Attributes().PutStr("gen_ai.prompt", text)
		span.Status().SetCode(ptrace.StatusCodeError)
		span.Status().SetMessage(text)
		span.TraceState().FromRaw("ot=th:8,vendor=" + text)
		e := span.Events().AppendEmpty()
		e.SetName("exception")
		e.Attributes().PutStr("exception.type", "ValueError")
		e.Attributes().PutStr("exception.message", text)
		span.Events().AppendEmpty().SetName("approved " + text)
		l := span.Links().AppendEmpty()
		l.Attributes().PutStr("note", text)
		l.TraceState().FromRaw("vendor=" + text)
		return traces
	}
	strict := build()
	counts := stripper(t, Options{}).traces(strict)
	asJSON, err := (&ptrace.JSONMarshaler{}).MarshalTraces(strict)
	require.NoError(t, err)
	require.NotContains(t, string(asJSON), "Marta")
	r := strict.ResourceSpans().At(0)
	assert.Equal(t, map[string]any{"service.name": "agent"}, r.Resource().Attributes().AsRaw())
	assert.EqualValues(t, 3, r.Resource().DroppedAttributesCount())
	ss := r.ScopeSpans().At(0)
	assert.Equal(t, "https://opentelemetry.io/schemas/1.37.0", ss.SchemaUrl())
	assert.Equal(t, map[string]any{"input.value": d(text)}, ss.Scope().Attributes().AsRaw())
	span := ss.Spans().At(0)
	assert.Equal(t, content.RedactedName, span.Name())
	assert.Equal(t, d(text), span.Status().Message())
	assert.Equal(t, "ot=th:8", span.TraceState().AsRaw())
	assert.Equal(t, "exception", span.Events().At(0).Name())
	assert.Equal(t, map[string]any{"exception.type": "ValueError", "exception.message": d(text)}, span.Events().At(0).Attributes().AsRaw())
	assert.Equal(t, content.RedactedName, span.Events().At(1).Name())
	got := map[string]int64{}
	counts.Each(func(p Place, a Action, n int64) { got[p.String()+" "+a.String()] = n })
	assert.Equal(t, map[string]int64{
		"resource removed": 1, "scope removed": 2, "scope digested": 1, "attribute digested": 1, "name removed": 1, "event removed": 1, "event digested": 1,
		"link removed": 1, "status digested": 1, "trace_state removed": 2, "schema_url removed": 1,
	}, got)

	known := build()
	counts = stripper(t, Options{Mode: Known}).traces(known)
	span = known.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, "review "+text, span.Name())
	assert.Equal(t, d(text), span.Status().Message())
	assert.Equal(t, "approved "+text, span.Events().At(1).Name())
	assert.Equal(t, "ot=th:8,vendor="+text, span.TraceState().AsRaw())
	assert.Zero(t, counts.Total(Removed))
	assert.EqualValues(t, 4, counts.Total(Digested))
}

func TestTextsThatAreACredentialGoWithoutADigestInBothModes(t *testing.T) {
	for _, secret := range []string{
		"sk-0123456789abcdefABCDEF", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "-----BEGIN PRIVATE KEY-----\nMII", "Bearer 0123456789abcdef", "Authorization: Bearer 0123456789abcdef",
	} {
		for _, mode := range []Mode{Strict, Known} {
			traces := ptrace.NewTraces()
			ss := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
			ss.Scope().SetName(secret)
			ss.Scope().SetVersion(secret)
			span := ss.Spans().AppendEmpty()
			span.SetName(secret)
			span.Status().SetMessage(secret)
			span.Events().AppendEmpty().SetName(secret)
			counts := stripper(t, Options{Mode: mode}).traces(traces)
			assert.Empty(t, ss.Scope().Name()+ss.Scope().Version()+span.Status().Message(), secret)
			assert.Equal(t, content.RedactedName, span.Name())
			assert.Equal(t, content.RedactedName, span.Events().At(0).Name())
			assert.EqualValues(t, 3, counts.Total(Credential))

			for _, put := range []func(pcommon.Value){
				func(v pcommon.Value) { v.SetStr(secret) },
				func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte(secret)) },
			} {
				log := plog.NewLogRecord()
				log.SetSeverityText(secret)
				log.SetEventName(secret)
				put(log.Body())
				stripper(t, Options{Mode: mode}).Log(log, 0, nil, &Counts{})
				assert.Empty(t, log.SeverityText()+log.Body().AsString())
				assert.Equal(t, content.RedactedName, log.EventName())
			}
		}
	}
}

func TestNamesStayIfTheyAreKnownOrKept(t *testing.T) {
	s := stripper(t, Options{KeepNames: []string{"nightly review"}})
	for _, c := range []struct{ name, safe, want string }{
		{"GET", "", "GET"},
		{"execute_tool lookup", "execute_tool lookup", "execute_tool lookup"},
		{"execute_tool lookup", "", "redacted"},
		{"nightly review", "", "nightly review"},
		{"Nightly review", "", "redacted"},
		{"", "", ""},
	} {
		span := ptrace.NewSpan()
		span.SetName(c.name)
		s.Span(span, 0, nil, c.safe, &Counts{})
		assert.Equal(t, c.want, span.Name())
	}
}

func TestEveryPlaceOfALogRecordIsStripped(t *testing.T) {
	const text = "Marta Exempel"
	for name, c := range map[string]struct {
		build         func(plog.LogRecord)
		strict, known any // body
	}{
		"the body of an event of content": {func(l plog.LogRecord) {
			l.SetEventName("gen_ai.user.message")
			l.Body().SetEmptyMap().PutStr("content", text)
		}, d(`{"content":"Marta Exempel"}`), d(`{"content":"Marta Exempel"}`)},
		"whose name stands in an attribute": {func(l plog.LogRecord) {
			l.SetEventName("event otel/src/x.rs:1")
			l.Attributes().PutStr("event.name", "codex.tool_result")
			l.Attributes().PutStr("output", text)
			l.Body().SetStr(text)
		}, d(text), d(text)},
		"whose other name is that of another event": {func(l plog.LogRecord) {
			l.SetEventName("session.start")
			l.Attributes().PutStr("event.name", "gen_ai.choice")
			l.Body().SetStr(text)
		}, d(text), d(text)},
		"messages that AWS moved into the body": {func(l plog.LogRecord) {
			l.Body().SetEmptyMap().PutEmptyMap("output").PutEmptySlice("messages").AppendEmpty().SetStr(text)
		}, d(`{"output":{"messages":["Marta Exempel"]}}`), d(`{"output":{"messages":["Marta Exempel"]}}`)},
		"the body of an application's log": {func(l plog.LogRecord) { l.Body().SetStr(text) }, d(text), text},
		"a body with a credential in it": {func(l plog.LogRecord) {
			l.Body().SetEmptyMap().PutEmptySlice("a").AppendEmpty().SetStr("Bearer 0123456789abcdef")
		}, d(`{"a":["Bearer 0123456789abcdef"]}`), ""},
		"a body that is a credential": {func(l plog.LogRecord) { l.Body().SetStr("Bearer 0123456789abcdef") }, "", ""},
		"a number as body":            {func(l plog.LogRecord) { l.Body().SetInt(7) }, d("7"), int64(7)},
		"no body":                     {func(plog.LogRecord) {}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, want := range map[Mode]any{Strict: c.strict, Known: c.known} {
				log := plog.NewLogRecord()
				log.SetSeverityText("INFO")
				c.build(log)
				stripper(t, Options{Mode: mode}).Log(log, 0, &telemetry.Cache{}, &Counts{})
				assert.Equal(t, want, log.Body().AsRaw())
				assert.Equal(t, "INFO", log.SeverityText())
				if v, ok := log.Attributes().Get("output"); ok {
					assert.Equal(t, d(text), v.Str())
				}
				if mode == Strict {
					assert.NotContains(t, log.EventName(), "otel/src")
				}
			}
		})
	}
	log := plog.NewLogRecord()
	log.SetSeverityText(text)
	stripper(t, Options{}).Log(log, 0, nil, &Counts{})
	assert.Empty(t, log.SeverityText())
}

func TestOptionsAtFaultAreNamed(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Mode: "loose"}, `mode: "loose" is neither strict nor known`},
		{Options{KeepNames: []string{""}}, "keep_names[0]: a name must not be empty"},
		{Options{Keep: []content.Keep{{Key: "gen_ai.prompt", Shape: content.ShapeName}}}, `keep[0]: key "gen_ai.prompt" is known to hold content and can't be kept`},
	} {
		_, err := New(c.o)
		require.EqualError(t, err, c.want)
	}
	require.Equal(t, "strict/2", stripper(t, Options{}).Profile())
	require.Equal(t, "known/2", stripper(t, Options{Mode: Known}).Profile())
}
