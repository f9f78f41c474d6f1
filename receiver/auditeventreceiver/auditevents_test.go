// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"encoding/json/v2"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// deniedEvent is the published example as its producer sends it.
func deniedEvent(t *testing.T) string {
	text, err := os.ReadFile("../../schema/audit-event/1.0.0/examples/denied-action.json")
	require.NoError(t, err)
	var envelope map[string]any
	require.NoError(t, json.Unmarshal(text, &envelope))
	delete(envelope, "integrity")
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(envelope["audit_event"].(map[string]any), own)
	}
	text, err = json.Marshal(envelope, json.Deterministic(true))
	require.NoError(t, err)
	return string(text)
}

const policyPart = `{"schema_version":"1.0.0","audit_event_part":{"action_id":"act_1","correlation":{"execution_id":"run_1"},"policy":{"decision":"allow"}}}`

func TestAnAuditEventIsTwoEntriesAndOneReceipt(t *testing.T) {
	r := newRig(t, nil)
	got := r.records("[" + plannedAction("act_1", nil) + "," + deniedEvent(t) + "," + policyPart + "]")
	require.Equal(t, http.StatusOK, got.status, got.body)
	receipts := unmarshal[map[string][]journal.Receipt](t, got.body)["receipts"]
	require.Len(t, receipts, 3)
	assert.Equal(t, []uint64{1, 2, 4}, []uint64{receipts[0].Sequence, receipts[1].Sequence, receipts[2].Sequence})
	appended := r.journal.appended()
	require.Len(t, appended, 4)
	assert.Equal(t, "bank/short audit_event evt_01JZ8V7C0T4E9H2J5K6M8N1P3Q", appended[1])
	assert.Equal(t, "bank/short audit_event.received evt_01JZ8V7C0T4E9H2J5K6M8N1P3Q", appended[2])
	assert.Contains(t, appended[3], "audit_event.part")
}

func TestWhatStandsBesideARecordIsRefusedAsTheRecordIs(t *testing.T) {
	r := newRig(t, nil)
	r.journal.answers(func(_ context.Context, _ record.Scope, drafts []*record.Draft) ([]journal.Receipt, error) {
		require.Len(t, drafts, 3)
		return nil, &ledger.Refusal{Index: 2, Code: ledger.CodeConflict, EventID: "evt_1"}
	})
	requireProblem(t, r.records("["+plannedAction("act_1", nil)+","+deniedEvent(t)+"]"), http.StatusConflict, ledger.CodeConflict, "#/1/audit_event")
}

// eventWithSources is the published example of 1.1.0 with other sources of its fields.
func eventWithSources(t *testing.T, sources string) string {
	text, err := os.ReadFile("../../schema/audit-event/1.1.0/examples/complete-execution.json")
	require.NoError(t, err)
	var envelope map[string]any
	require.NoError(t, json.Unmarshal(text, &envelope))
	delete(envelope, "integrity")
	event := envelope["audit_event"].(map[string]any)
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(event, own)
	}
	var provenance map[string]any
	require.NoError(t, json.Unmarshal([]byte(sources), &provenance))
	event["field_provenance"] = provenance
	text, err = json.Marshal(envelope, json.Deterministic(true))
	require.NoError(t, err)
	return string(text)
}

func TestTheSourcesOfAnAuditEventAreCheckedAsThoseOfADecision(t *testing.T) {
	r, j := judging(t, nil)
	j.read(t, "run_syn_0193", "s1", "read_1", "call_1", "")
	body := eventWithSources(t, `{"shown":`+byCall+`,"ghost":{"source":"tool","tool_call_id":"call_9","path":"$"},"value":`+unmarked+`}`)
	a := r.records(body)
	requireProblem(t, a, http.StatusUnprocessableEntity, "provenance_unmet", "#/audit_event")
	want := []string{"ghost missing_field_provenance", "value model_value_unmarked"}
	require.Equal(t, want, unmetOfAnswer(t, a))
	e, err := found(j.actions.Lookup(t.Context(), "audit_event.received evt_01JZ8V9F2V6G0J4K7M8P0R3S5T"))
	require.NoError(t, err)
	require.Contains(t, string(e.Body), `"unmet":[{"code":"missing_field_provenance","field":"ghost"},{"code":"model_value_unmarked","field":"value"}]`)

	// A retry gets the same answer, whatever is known by then.
	j.read(t, "run_syn_0193", "s1", "read_2", "call_9", "")
	again := r.records(body)
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.Equal(t, want, unmetOfAnswer(t, again))
}

func TestAnAuditEventWhoseSourcesAreConfirmedIsAccepted(t *testing.T) {
	r, j := judging(t, nil)
	j.read(t, "run_syn_0193", "s1", "read_1", "call_1", "")
	a := r.records(eventWithSources(t, `{"shown":`+byCall+`,"value":`+byModel+`}`))
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Empty(t, unmetOfAnswer(t, a))
}
