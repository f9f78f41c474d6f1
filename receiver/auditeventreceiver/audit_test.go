// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
	"github.com/readtrail/readtrail/record"
)

const auditLogs = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},"scopeLogs":[{"logRecords":[` +
	`{"timeUnixNano":"1714041600000000000","observedTimeUnixNano":"1714041600001000000","eventName":"user.login","attributes":[` +
	`{"key":"audit.record.id","value":{"stringValue":"r-1"}},{"key":"audit.actor.id","value":{"stringValue":"u1"}},{"key":"audit.actor.type","value":{"stringValue":"user"}},` +
	`{"key":"audit.action","value":{"stringValue":"LOGIN"}},{"key":"audit.outcome","value":{"stringValue":"success"}}]}]}]}]}`

func TestAnAuditRecordGoesToTheActionsOfItsClient(t *testing.T) {
	r := newRig(t, nil)
	got := r.send(http.MethodPost, "/v1/audit", auditLogs, "Content-Type", mediaJSON)
	require.Equal(t, http.StatusOK, got.status, got.body)
	assert.Contains(t, got.body, `"status":"delivered_all_sinks"`)
	assert.Equal(t, []string{"bank/short audit_log r-1"}, r.journal.appended())
	assert.True(t, r.journal.drafts[0].OfActions())
}

func TestWhatTheAuditEndpointRefusesHasTheDraftsShape(t *testing.T) {
	r := newRig(t, nil)
	answer := func(err error) {
		r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) { return nil, err })
	}
	for name, c := range map[string]struct {
		prepare     func()
		media, body string
		status      int
		want        string
	}{
		"no JSON":      {nil, "application/json", "{", 400, `"status":"rejected_schema_invalid"`},
		"no protobuf":  {nil, "application/x-protobuf", "\x07", 400, `"code":"malformed"`},
		"another type": {nil, "text/plain", "x", 415, `"code":"media_type_unsupported"`},
		"a conflict":   {func() { answer(&ledger.Refusal{Code: ledger.CodeConflict, EventID: "evt_1"}) }, "application/json", auditLogs, 409, `"event_id":"evt_1"`},
		"no journal":   {func() { answer(errors.New("CANARY")) }, "application/json", auditLogs, 503, `"retry_after":1`},
		"too large":    {nil, "application/json", string(make([]byte, 5<<20)), 413, `"code":"too_large"`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.prepare != nil {
				c.prepare()
			}
			got := r.send(http.MethodPost, "/v1/audit", c.body, "Content-Type", c.media)
			assert.Equal(t, c.status, got.status, got.body)
			assert.Contains(t, got.body, c.want)
			assert.NotContains(t, got.body, "CANARY")
			assert.Equal(t, "application/json", got.header.Get("Content-Type"))
			assert.Equal(t, c.status == 503, got.header.Get("Retry-After") != "")
		})
	}
}

func TestATrustFileThatCannotBeReadKeepsTheReceiverFromStarting(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint = "localhost:0"
	cfg.Audit.KeysFile = "absent.json"
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	r, err := NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.ErrorContains(t, r.Start(t.Context(), hostWith(&memoryJournal{})), "receivers::audit_event::audit::keys_file: open absent.json")
}
