// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

// plannedAction is an action as an executor plans it, in one line. changes are members
// of the body, as JSON.
func plannedAction(id string, changes map[string]string) string {
	members := map[string]string{
		"action_id": quoted(id), "state": `"planned"`, "edge_type": `"external_action"`, "occurred_at": `"2026-10-09T10:12:03.418+02:00"`,
		"correlation": `{"execution_id":"run_1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"}`,
		"actor":       `{"kind":"agent_process","identity":"executor-eu"}`, "requested": `{"tool_id":"publish_release"}`,
		"action":            `{"channel":"http","host":"deploy.internal.example","port":443,"protocol":"https","method":"POST","credential_ref":"ops-deploy","redaction":"none"}`,
		"idempotency_token": quoted(record.IdempotencyToken(id)),
	}
	maps.Copy(members, changes)
	var body []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if members[name] != "" {
			body = append(body, quoted(name)+":"+members[name])
		}
	}
	return `{"schema_version":"1.0.0","action_record":{` + strings.Join(body, ",") + `}}`
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

const madeDecision = `{"schema_version":"1.0.0","decision_record":{"decision_id":"dec_1","occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":"run_1"},` +
	`"outcome":{"name":"refer"},"fields":{"a":{}},"field_provenance":{"a":{"source":"model","marked_for_reviewer":true}},"boundary":{"data_boundary_ref":"b","purpose":"p"}}}`

const usedContext = `{"schema_version":"1.0.0","context_record":{"context_id":"ctx_1","occurred_at":"2026-10-09T08:12:03Z","correlation":{"execution_id":"run_1"},` +
	`"model":{"request":"m"},"entries":[{"entry_id":"e1","object_id":"o","object_type":"t","property":"p","side":"data","origin":{"source":"s"}}],` +
	`"context_digest":"sha256:3b9e00000000000000000000000000000000000000000000000000000000041d","context_canonicalization":"jcs","context_form":"entries",` +
	`"tool_calls_requested":[],"claims":[{"claim_id":"c1","entry_ids":["e1"]}]}}`

func (r *rig) records(body string, headers ...string) answer {
	r.t.Helper()
	return r.send(http.MethodPost, "/v1/records", body, append([]string{"Content-Type", mediaJSON}, headers...)...)
}

// observedBy is observed_by of the last record that the journal was given.
func (r *rig) observedBy() record.ObservedBy {
	r.t.Helper()
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	body := r.journal.drafts[len(r.journal.drafts)-1].Body()
	return unmarshal[struct {
		ObservedBy record.ObservedBy `json:"observed_by"`
	}](r.t, string(body)).ObservedBy
}

func TestRecordsAreTakenOneManyAndOnePerLine(t *testing.T) {
	r := newRig(t, nil)
	a, b := plannedAction("act_1", nil), plannedAction("act_2", nil)
	require.Equal(t, http.StatusOK, r.records(a).status)
	require.Equal(t, http.StatusOK, r.records("["+b+","+plannedAction("act_3", nil)+"]").status)
	require.Equal(t, http.StatusOK, r.records(madeDecision).status)
	got := r.send("POST", "/v1/records", a+"\n"+b+"\n", "Content-Type", mediaNDJSON)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Len(t, unmarshal[map[string][]any](t, got.body)["receipts"], 2)
	require.Equal(t, http.StatusOK, r.records(usedContext).status)
	assert.Equal(t, []string{
		"bank/short action_record act_1 planned", "bank/short action_record act_2 planned", "bank/short action_record act_3 planned", "bank/short decision_record dec_1",
		"bank/short action_record act_1 planned", "bank/short action_record act_2 planned", "bank/short context_record ctx_1",
	}, r.journal.appended())
}

func TestARecordThatCannotStandIsRefusedWithItsPointer(t *testing.T) {
	r := newRig(t, func(_ *rig, c *Config) { c.Limits.RecordsPerRequest = 3 })
	good := plannedAction("act_1", nil)
	for name, test := range map[string]struct {
		body    string
		status  int
		code    string
		pointer string
	}{
		"no JSON":                       {`{"CANARY`, 400, "malformed", ""},
		"an unknown member":             {`{"schema_version":"1.0.0","CANARY-member":{}}`, 400, "unknown_member", "#/?"},
		"a record of telemetry":         {`{"schema_version":"1.0.0","read_record":{}}`, 404, "kind_not_accepted", "#/read_record"},
		"an unknown member of a body":   {plannedAction("act_1", map[string]string{"arguments": `"CANARY"`}), 400, "unknown_member", "#/action_record/?"},
		"a member of the writer":        {plannedAction("act_1", map[string]string{"sequence": `7`}), 400, "member_of_the_writer", "#/action_record/sequence"},
		"a forged source of context":    {plannedAction("act_1", map[string]string{"observed_by": `{"upstream_context_source":"authenticated:CANARY"}`}), 400, "member_of_the_writer", "#/action_record/observed_by/upstream_context_source"},
		"a member that is missing":      {"[" + good + "," + plannedAction("act_2", map[string]string{"edge_type": ""}) + "]", 400, "invalid", "#/1/action_record/edge_type"},
		"a value that is too long":      {plannedAction(strings.Repeat("CANARY", 100), nil), 400, "invalid", "#/action_record/action_id"},
		"more records than are taken":   {"[" + strings.Repeat(good+",", 3) + good + "]", 413, "too_many_records", ""},
		"no record":                     {`[]`, 400, "no_records", ""},
		"records of different journals": {"[" + good + "," + usedContext + "]", 400, "malformed", "#/1/context_record"},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.records(test.body)
			requireProblem(t, got, test.status, test.code, test.pointer)
			assert.NotContains(t, got.body, "CANARY")
		})
	}
	assert.Empty(t, r.journal.appended(), "a batch is written whole or not at all")
}

func TestTheTraceContextOfARequestIsLabeledAndBelievedByNobody(t *testing.T) {
	const forged = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
	for name, test := range map[string]struct {
		headers  []string
		received *record.ReceivedContext
	}{
		"none":                 {nil, nil},
		"forged":               {[]string{"Traceparent", forged}, &record.ReceivedContext{TraceID: strings.Repeat("a", 32), ParentSpanID: strings.Repeat("b", 16)}},
		"that of the record":   {[]string{"Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, nil},
		"two":                  {[]string{"Traceparent", forged, "Traceparent", forged}, nil},
		"none in its spelling": {[]string{"Traceparent", "00-CANARY"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			require.Equal(t, http.StatusOK, r.records(plannedAction("act_1", nil), test.headers...).status)
			assert.Equal(t, record.ObservedBy{UpstreamContextSource: "unverified_input", Signal: record.SignalAPI, ReceivedContext: test.received}, r.observedBy())
		})
	}
}

func TestARecordSaysWhoSentIt(t *testing.T) {
	for name, test := range map[string]struct {
		silent bool
		want   string
	}{
		"the subject":                            {false, "authenticated:executor-7"},
		"the authenticator that names no client": {true, "authenticated:names"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(r *rig, c *Config) { withAuthenticator(r, c, test.silent) })
			require.Equal(t, http.StatusOK, r.records(plannedAction("act_1", nil), "Authorization", "executor-7").status)
			assert.Equal(t, test.want, r.observedBy().UpstreamContextSource)
			downgraded := plannedAction("act_1", map[string]string{"observed_by": `{"upstream_context_source":"unverified_input"}`})
			require.Equal(t, http.StatusOK, r.records(downgraded, "Authorization", "executor-7").status)
			assert.Equal(t, "unverified_input", r.observedBy().UpstreamContextSource, "what the client itself was not sure of")
		})
	}
}

// FuzzTheHandler sends anything to every endpoint: it never panics, what it answers is
// whole, and no value of the request comes back.
func FuzzTheHandler(f *testing.F) {
	f.Add("POST", "/v1/records", mediaJSON, "", "", plannedAction("act_1", nil))
	f.Add("POST", "/v1/records", mediaNDJSON, "gzip", "bank", "\x1f\x8b")
	f.Add("POST", "/v1/records", mediaJSON+";charset=utf-8", "", "insurer", `[{"schema_version":"1.0.0"}]`)
	f.Add("GET", "/v1/receipts/evt_1?proof=1", "", "", "", "")
	f.Add("PUT", "/", "a/b;c", "deflate", "", "{")
	r := newRig(f, nil)
	handler := r.receiver.server.Handler
	f.Fuzz(func(t *testing.T, method, path, media, encoding, organization, body string) {
		got := serve(t, handler, method, path, body, map[string]string{
			"Content-Type": media, "Content-Encoding": encoding, organizationHeader: organization,
		})
		if got == nil {
			return // no request that a client can send
		}
		require.NotContains(t, []int{0, 500}, got.status)
		if got.status == http.StatusOK {
			return
		}
		p := unmarshal[map[string]any](t, got.body)
		require.EqualValues(t, got.status, p["status"])
		require.Equal(t, fmt.Sprint("urn:readtrail:problem:", p["code"]), p["type"])
		require.NotEmpty(t, p["title"])
		require.NotEmpty(t, p["detail"])
		require.Zero(t, r.receiver.api.admission.bytesTaken.Load())
		require.Zero(t, r.receiver.api.admission.placesTaken.Load())
	})
}

// A 422 says not to act; it must not be the answer to a permission to send as well.
func TestADecisionStandsWithDecisionsOnly(t *testing.T) {
	r, j := judging(t, nil)
	j.read(t, "run_1", "s1", "read_1", "call_1", "")
	a := r.records("[" + decision("dec_1", "run_1", byDocument) + "," + plannedAction("act_1", nil) + "]")
	requireProblem(t, a, http.StatusBadRequest, "decision_not_alone", "#/1/action_record")
	event := eventWithSources(t, `{"shown":`+byModel+`}`)
	requireProblem(t, r.records("["+plannedAction("act_1", nil)+","+event+"]"), http.StatusBadRequest, "decision_not_alone", "#/0/action_record")
	for _, id := range []string{"decision_record dec_1", "action_record act_1 planned"} {
		_, err := found(j.actions.Lookup(t.Context(), id))
		require.ErrorIs(t, err, ledger.ErrNotFound, "nothing was written")
	}
	require.Equal(t, http.StatusOK, r.records("["+decision("dec_1", "run_1", byModel)+","+decision("dec_2", "run_1", byCall)+"]").status)
	require.Equal(t, http.StatusOK, r.records(event).status)
}
