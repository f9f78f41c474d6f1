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
