// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

type object = map[string]any

const planned = `{"schema_version":"1.0.0","action_record":{"action_id":"act_5f17","state":"planned","edge_type":"external_action",
"occurred_at":"2026-10-09T10:12:03.418+02:00","correlation":{"execution_id":"run_1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"},
"actor":{"kind":"agent_process","identity":"executor-eu"},"requested":{"tool_id":"publish_release"},
"action":{"channel":"http","host":"deploy.internal.example","port":443,"protocol":"https","method":"POST","credential_ref":"ops-deploy","redaction":"none"},
"idempotency_token":"TOKEN"}}`

const approvalText = `{"schema_version":"1.0.0","approval_record":{"approval_id":"apr_1","request_id":"req_1","kind":"requested",
"occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":"run_1"},"expires_at":"2026-10-09T09:12:03Z",
"binds":{"action_id":"act_5f17","target":{"channel":"http","host":"h","port":443,"protocol":"https","method":"POST"},"credential_ref":"none","actor_identity":"executor-eu"}}}`

const decisionText = `{"schema_version":"1.0.0","decision_record":{"decision_id":"dec_1","occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":"run_1"},
"outcome":{"name":"refer"},"fields":{"a":{}},"field_provenance":{"a":{"source":"model","marked_for_reviewer":true}},"boundary":{"data_boundary_ref":"b","purpose":"p"}}}`

const contextText = `{"schema_version":"1.0.0","context_record":{"context_id":"ctx_1","occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":"run_1"},
"model":{"request":"m"},"entries":[{"entry_id":"e1","object_id":"o","object_type":"t","property":"p","side":"data","origin":{"source":"s"}}],
"context_digest":"sha256:3b9e00000000000000000000000000000000000000000000000000000000041d","context_canonicalization":"jcs","context_form":"entries",
"tool_calls_requested":[],"claims":[{"claim_id":"c1","entry_ids":["e1"]}]}}`

func plannedText() string {
	return strings.Replace(planned, "TOKEN", record.IdempotencyToken("act_5f17"), 1)
}

// texts are one item of each kind.
func texts() []string { return []string{plannedText(), approvalText, decisionText, contextText} }

var authenticated = Observed{UpstreamContextSource: "authenticated:executor-eu"}

func decodeJSON(text string) ([]Record, *Problem) {
	return Decode(strings.NewReader(text), JSON, DefaultLimits(), authenticated)
}

func TestEachKindIsTaken(t *testing.T) {
	for _, text := range texts() {
		records, p := decodeJSON(text)
		require.Nil(t, p, "%v", p)
		require.Len(t, records, 1)
		d, err := records[0].Draft()
		require.NoError(t, err)
		require.Equal(t, records[0].Kind, d.Kind())
		require.True(t, d.Given())
	}
}

func TestTheHeaderIsWhatIntakeKnows(t *testing.T) {
	records, p := decodeJSON(plannedText())
	require.Nil(t, p)
	a := records[0].Body.(*record.Action)
	assert.Equal(t, "action.planned", a.EventType)
	assert.Equal(t, "2026-10-09T08:12:03.418000000Z", a.OccurredAt.String())
	assert.Equal(t, record.ObservedBy{UpstreamContextSource: "authenticated:executor-eu", Signal: record.SignalAPI}, a.ObservedBy)
	d, err := records[0].Draft()
	require.NoError(t, err)
	assert.Equal(t, "action_record act_5f17 planned", d.ID())
	assert.Equal(t, "/action_record/action/host", records[0].Pointer("/action/host"))
}

func TestABatchIsCountedFromNought(t *testing.T) {
	oneLine := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	array := "[" + strings.Join(texts(), ",") + "]"
	stream := oneLine(texts()[0]) + "\n" + oneLine(texts()[1]) + "\r\n" + oneLine(texts()[2])
	records, p := decodeJSON(array)
	require.Nil(t, p)
	require.Len(t, records, 4)
	assert.Equal(t, "/3/context_record/claims", records[3].Pointer("/claims"))
	for _, end := range []string{"", "\n"} {
		records, p = Decode(strings.NewReader(stream+end), NDJSON, DefaultLimits(), authenticated)
		require.Nil(t, p)
		require.Len(t, records, 3)
		assert.Equal(t, 2, records[2].Index)
	}
}

// change returns an item with something else in it.
func change(t *testing.T, text string, do func(item, body object)) string {
	t.Helper()
	var item object
	require.NoError(t, json.Unmarshal([]byte(text), &item))
	for name, value := range item {
		if body, ok := value.(object); ok && strings.HasSuffix(name, "_record") {
			do(item, body)
		}
	}
	changed, err := json.Marshal(item)
	require.NoError(t, err)
	return string(changed)
}

func set(value any, path ...string) func(item, body object) {
	return func(_, body object) {
		for _, name := range path[:len(path)-1] {
			body = body[name].(object)
		}
		body[path[len(path)-1]] = value
	}
}

func TestARequestIsRefusedWhereItIsWrong(t *testing.T) {
	action, decision, context := plannedText(), decisionText, contextText
	for name, c := range map[string]struct {
		text, code, pointer string
		status              int
	}{
		"nothing":                        {"", CodeMalformed, "", 400},
		"an empty array":                 {"[]", CodeNoRecords, "", 400},
		"no object":                      {"7", CodeNotAnObject, "", 400},
		"no object in an array":          {`["x"]`, CodeNotAnObject, "/0", 400},
		"a half":                         {action[:200], CodeMalformed, "/action_record/correlation", 400},
		"two":                            {action + action, CodeMalformed, "", 400},
		"more behind an array":           {"[" + action + "]x", CodeMalformed, "", 400},
		"invalid UTF-8":                  {strings.Replace(action, "executor-eu", "\xff", 1), CodeMalformed, "/action_record/actor/identity", 400},
		"half a surrogate pair":          {strings.Replace(action, "executor-eu", `\ud800`, 1), CodeMalformed, "/action_record/actor/identity", 400},
		"a name twice":                   {strings.Replace(action, `"channel"`, `"port":22,"channel"`, 1), CodeDuplicateMember, "/action_record/action/port", 400},
		"no version":                     {change(t, action, func(i, _ object) { delete(i, "schema_version") }), CodeVersion, "/schema_version", 400},
		"another version":                {change(t, action, func(i, _ object) { i["schema_version"] = "9.9.9" }), CodeVersion, "/schema_version", 400},
		"a version that is none":         {change(t, action, func(i, _ object) { i["schema_version"] = 1 }), CodeVersion, "/schema_version", 400},
		"no body":                        {`{"schema_version":"1.0.0"}`, CodeKindMissing, "", 400},
		"a body that is no object":       {`{"schema_version":"1.0.0","action_record":[]}`, CodeNotAnObject, "/action_record", 400},
		"two bodies":                     {`{"schema_version":"1.0.0","action_record":{},"context_record":{}}`, CodeSeveralKinds, "/context_record", 400},
		"a read":                         {`{"schema_version":"1.0.0","read_record":{}}`, CodeKindNotAccepted, "/read_record", 404},
		"an unknown kind":                {`{"schema_version":"1.0.0","plan_record":{}}`, CodeUnknownMember, "/?", 400},
		"a signature":                    {change(t, action, func(i, _ object) { i["integrity"] = object{} }), CodeOurs, "/integrity", 400},
		"an unknown member":              {change(t, action, set(1, "action", "weight")), CodeUnknownMember, "/action_record/action/?", 400},
		"an unknown member like content": {change(t, action, set(1, "action", "CANARY-1")), CodeUnknownMember, "/action_record/action/?", 400},
		"one like a member's name":       {change(t, action, set(1, "action", "iban_de89370400440532013000")), CodeUnknownMember, "/action_record/action/?", 400},
		"one like an index":              {change(t, action, set(1, "action", "4111111111111111")), CodeUnknownMember, "/action_record/action/?", 400},
		"content beside the body":        {change(t, action, func(i, _ object) { i["CANARY-2"] = "x" }), CodeUnknownMember, "/?", 400},
		"another case of a name":         {strings.Replace(action, `"state"`, `"State"`, 1), CodeUnknownMember, "/action_record/?", 400},
		"null":                           {change(t, action, set(nil, "requested", "tool_id")), CodeNull, "/action_record/requested/tool_id", 400},
		"an empty text":                  {change(t, action, set("", "requested", "tool_id")), CodeEmpty, "/action_record/requested/tool_id", 400},
		"an empty object":                {change(t, action, set(object{}, "requested")), CodeEmpty, "/action_record/requested", 400},
		"a number of attempts that is 0": {change(t, action, set(0, "attempt")), CodeEmpty, "/action_record/attempt", 400},
		"a fraction":                     {strings.Replace(action, "443", "443.0", 1), CodeNumber, "/action_record/action/port", 400},
		"an exponent":                    {strings.Replace(action, "443", "4e2", 1), CodeNumber, "/action_record/action/port", 400},
		"a number that doubles lose":     {strings.Replace(action, "443", "9007199254740993", 1), CodeNumber, "/action_record/action/port", 400},
		"minus nought":                   {strings.Replace(action, "443", "-0", 1), CodeNumber, "/action_record/action/port", 400},
		"a text for a number":            {strings.Replace(action, "443", `"443"`, 1), CodeInvalid, "/action_record/action/port", 400},
		"a port beyond":                  {strings.Replace(action, "443", "65536", 1), CodeInvalid, "/action_record/action/port", 400},
		"ten digits of a second":         {strings.Replace(action, ".418", ".4180000001", 1), CodeTime, "/action_record/occurred_at", 400},
		"a time without offset":          {strings.Replace(action, ".418+02:00", ".418", 1), CodeTime, "/action_record/occurred_at", 400},
		"a day that is none":             {strings.Replace(action, "2026-10-09T10", "2026-02-30T10", 1), CodeTime, "/action_record/occurred_at", 400},
		"a time before year 0":           {strings.Replace(action, "2026-10-09T10:12:03.418+02:00", "0000-01-01T00:00:00+23:00", 1), CodeTime, "/action_record/occurred_at", 400},
		"the time that is absent":        {strings.Replace(action, "2026-10-09T10:12:03.418+02:00", "0001-01-01T00:00:00Z", 1), CodeTime, "/action_record/occurred_at", 400},
		"a number for a time":            {change(t, action, set(1, "occurred_at")), CodeTime, "/action_record/occurred_at", 400},
		"no time":                        {change(t, action, func(_, b object) { delete(b, "occurred_at") }), CodeInvalid, "/action_record/occurred_at", 400},
		"no execution":                   {change(t, decision, func(_, b object) { delete(b, "correlation") }), CodeInvalid, "/decision_record/correlation", 400},
		"no execution id":                {change(t, action, func(_, b object) { delete(b["correlation"].(object), "execution_id") }), CodeInvalid, "/action_record/correlation/execution_id", 400},
		"no id":                          {change(t, action, func(_, b object) { delete(b, "action_id") }), CodeInvalid, "/action_record/action_id", 400},
		"an id like a digest":            {change(t, decision, set("sha256:x", "decision_id")), CodeInvalid, "/decision_record/decision_id", 400},
		"a state that is none":           {change(t, action, set("failed", "state")), CodeInvalid, "/action_record/state", 400},
		"another event type":             {change(t, action, set("action.sent", "event_type")), CodeEventType, "/action_record/event_type", 400},
		"a journal":                      {change(t, action, set("jrn", "journal_id")), CodeOurs, "/action_record/journal_id", 400},
		"a sequence":                     {change(t, action, set(7, "sequence")), CodeOurs, "/action_record/sequence", 400},
		"a clock":                        {change(t, action, set("2026-10-09T08:12:03Z", "recorded_at")), CodeOurs, "/action_record/recorded_at", 400},
		"a scope":                        {change(t, action, set(object{"organization_ref": "x"}, "scope")), CodeOurs, "/action_record/scope", 400},
		"a conflict":                     {change(t, action, set("evt_1", "conflicts_with")), CodeOurs, "/action_record/conflicts_with", 400},
		"a collector":                    {change(t, action, set(object{"collector_id": "x"}, "observed_by")), CodeOurs, "/action_record/observed_by/collector_id", 400},
		"an authentication":              {change(t, action, set(object{"upstream_context_source": "authenticated:root"}, "observed_by")), CodeOurs, "/action_record/observed_by/upstream_context_source", 400},
		"unmet of its own":               {change(t, decision, set([]any{}, "unmet")), CodeOurs, "/decision_record/unmet", 400},
		"a claim that supports itself":   {change(t, context, func(_, b object) { b["claims"].([]any)[0].(object)["supported"] = false }), CodeOurs, "/context_record/claims/0/supported", 400},
		"a token as the name of a model": {change(t, context, set("Bearer CANARY", "model", "request")), CodeInvalid, "/context_record/model/request", 400},
		"a context without its digest":   {change(t, context, func(_, b object) { delete(b, "context_digest") }), CodeInvalid, "/context_record/context_digest", 400},
		"what only telemetry has":        {change(t, context, set(object{"input": "not_captured", "output": "captured"}, "capture")), CodeOurs, "/context_record/capture", 400},
		"a token of its own":             {change(t, action, set("idem_00000000000000000000000000000000", "idempotency_token")), "idempotency_token_not_derived", "/action_record/idempotency_token", 400},
		"a source without its field":     {change(t, decision, set(object{"source": "model", "marked_for_reviewer": true}, "field_provenance", "b")), "source_without_field", "/decision_record/field_provenance/?", 400},
		"a mark that is none":            {change(t, decision, set("perhaps", "field_provenance", "a", "marked_for_reviewer")), CodeInvalid, "/decision_record/field_provenance/?/marked_for_reviewer", 400},
		"a credential":                   {change(t, action, set("Bearer CANARY-3", "action", "credential_ref")), CodeInvalid, "/action_record/action/credential_ref", 400},
		"the value of a header":          {change(t, action, set([]any{"cookie: CANARY-4"}, "action", "header_names")), CodeInvalid, "/action_record/action/header_names/0", 400},
		"a query":                        {change(t, action, set("/a?token=CANARY-5", "action", "path_template")), CodeInvalid, "/action_record/action/path_template", 400},
		"the second of two":              {"[" + action + "," + change(t, action, set("", "actor", "kind")) + "]", CodeEmpty, "/1/action_record/actor/kind", 400},
		"a name twice in the second":     {"[" + action + `,{"a":1,"a":2}]`, CodeDuplicateMember, "/1/?", 400},
		"too deep":                       {change(t, action, func(_, b object) { b["x"] = nested(63) }), CodeTooDeep, "/action_record/?" + strings.Repeat("/0", 62), 400},
		"far too deep":                   {strings.Repeat("[", 20000), CodeMalformed, strings.Repeat("/0", 86) + "/0", 400},
	} {
		t.Run(name, func(t *testing.T) {
			records, p := decodeJSON(c.text)
			require.Nil(t, records)
			require.NotNil(t, p)
			if name == "far too deep" {
				require.Equal(t, c.code, p.Code)
				require.Less(t, len(p.Pointer), 300)
				return
			}
			require.Equal(t, []any{c.code, c.pointer, c.status}, []any{p.Code, p.Pointer, p.Status}, "%v", p)
			require.NotContains(t, p.Error(), "CANARY")
			require.NotEmpty(t, p.Detail)
		})
	}
}

func nested(levels int) any {
	var v any = []any{}
	for range levels - 1 {
		v = []any{v}
	}
	return v
}

func TestLinesAreCountedToo(t *testing.T) {
	line := strings.ReplaceAll(plannedText(), "\n", "")
	for name, c := range map[string]struct{ text, code, pointer string }{
		"nothing":            {"", CodeNoRecords, ""},
		"an empty line":      {line + "\n\n" + line, CodeMalformed, "/1"},
		"two in a line":      {line + line, CodeMalformed, "/0"},
		"a record over two":  {plannedText(), CodeMalformed, "/0/action_record"},
		"the second is half": {line + "\n" + line[:20], CodeMalformed, "/1/schema_version"},
		"an array":           {"[" + line + "]", CodeNotAnObject, "/0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := Decode(strings.NewReader(c.text), NDJSON, DefaultLimits(), authenticated)
			require.NotNil(t, p)
			require.Equal(t, []string{c.code, c.pointer}, []string{p.Code, p.Pointer})
		})
	}
}

func TestWhatIsTooMuchIsRefused(t *testing.T) {
	text := plannedText()
	_, p := Decode(strings.NewReader(text), JSON, Limits{Bytes: int64(len(text)) - 1, Records: 1}, authenticated)
	require.Equal(t, problem(CodeTooLarge, ""), p)
	require.Equal(t, http.StatusRequestEntityTooLarge, p.Status)
	_, p = Decode(strings.NewReader(text), JSON, Limits{Bytes: int64(len(text)), Records: 1}, authenticated)
	require.Nil(t, p)
	many := "[" + strings.Repeat(text+",", 2) + text + "]"
	for _, format := range []Format{JSON, NDJSON} {
		if format == NDJSON {
			many = strings.Repeat(strings.ReplaceAll(text, "\n", "")+"\n", 3)
		}
		_, p = Decode(strings.NewReader(many), format, Limits{Bytes: 1 << 20, Records: 2}, authenticated)
		require.Equal(t, problem(CodeTooManyRecords, ""), p)
	}
	fields := object{}
	for i := range 1000 {
		fields[fmt.Sprintf("%0128d", i)] = object{"value_digest": "hmac-sha256:" + strings.Repeat("k", 128) + ":" + strings.Repeat("0", 64), "value_canonicalization": "bytes"}
	}
	provenance := object{}
	for name := range fields {
		provenance[name] = object{"source": "tool", "tool_call_id": strings.Repeat("c", 256), "path": strings.Repeat("p", 512)}
	}
	large := change(t, decisionText, func(_, b object) { b["fields"], b["field_provenance"] = fields, provenance })
	_, p = Decode(strings.NewReader(large), JSON, DefaultLimits(), authenticated)
	require.Equal(t, problem(CodeTooLarge, "/decision_record"), p)
	_, p = Decode(http.MaxBytesReader(nil, readCloser{strings.NewReader(text)}, 10), JSON, DefaultLimits(), authenticated)
	require.Equal(t, problem(CodeTooLarge, ""), p)
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// A pointer is the address of the first of several wrong places, always the same.
func TestOneRequestHasOneProblem(t *testing.T) {
	text := change(t, plannedText(), func(_, b object) {
		for _, name := range []string{"host", "port", "protocol", "channel"} {
			delete(b["action"].(object), name)
		}
		b["edge_type"] = "x"
	})
	_, first := decodeJSON(text)
	for range 20 {
		_, again := decodeJSON(text)
		require.Equal(t, first, again)
	}
}
