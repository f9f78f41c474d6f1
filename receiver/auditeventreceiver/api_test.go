// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestAnAnswerHasAReceiptForEachRecordInTheirOrder(t *testing.T) {
	r := newRig(t, nil)
	got := r.decide("a b")
	require.Equal(t, http.StatusOK, got.status, got.body)
	assert.Equal(t, "application/json", got.header.Get("Content-Type"))
	assert.Equal(t, "no-store", got.header.Get("Cache-Control"))
	assert.Equal(t, `{"receipts":[`+
		`{"event_id":"evt_1","journal_id":"jrn_1","sequence":1,"record_hash":"","key_id":"","repeat":false},`+
		`{"event_id":"evt_2","journal_id":"jrn_1","sequence":2,"record_hash":"","key_id":"","repeat":false}]}`+"\n", got.body)
	assert.Equal(t, []string{"bank/short decision_record a", "bank/short decision_record b"}, r.journal.appended())
}

func TestWhatIsNoRequestOfTheAPIIsAProblem(t *testing.T) {
	r := newRig(t, func(_ *rig, c *Config) { c.HTTP.MaxRequestBodySize = 10 })
	for name, test := range map[string]struct {
		answer answer
		status int
		code   string
	}{
		"a path that there is not":    {r.send("GET", "/CANARY", ""), 404, "not_found"},
		"a path to be cleaned":        {r.send("POST", "//test/../test", ""), 404, "not_found"},
		"another method":              {r.send("GET", "/test", ""), 405, "method_not_allowed"},
		"no content type":             {r.send("POST", "/test", "a"), 415, "media_type_unsupported"},
		"another content type":        {r.send("POST", "/test", "a", "Content-Type", "text/CANARY"), 415, "media_type_unsupported"},
		"another charset":             {r.send("POST", "/test", "a", "Content-Type", "application/x-ndjson; charset=latin1"), 415, "media_type_unsupported"},
		"two content types":           {r.send("POST", "/test", "a", "Content-Type", mediaNDJSON, "Content-Type", mediaNDJSON), 415, "media_type_unsupported"},
		"an encoding that we do not":  {r.decide("a", "Content-Encoding", "CANARY"), 415, "encoding_unsupported"},
		"a body that is not its gzip": {r.decide("CANARY", "Content-Encoding", "gzip"), 415, "encoding_unsupported"},
		"a body that is too large":    {r.decide(strings.Repeat("CANARY", 2)), 413, "too_large"},
		"two organizations":           {r.decide("a", organizationHeader, "bank", organizationHeader, "bank"), 400, "malformed"},
		"another organization":        {r.decide("a", organizationHeader, "CANARY"), 403, "scope_forbidden"},
		"an organization not ours":    {r.decide("a", organizationHeader, "insurer"), 403, "scope_forbidden"},
		"a class that is not ours":    {r.decide("a", retentionClassHeader, "long"), 403, "scope_forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			requireProblem(t, test.answer, test.status, test.code, "")
			assert.NotContains(t, test.answer.body, "CANARY")
		})
	}
	assert.Equal(t, "POST", r.send("GET", "/test", "").header.Get("Allow"))
	assert.Empty(t, r.journal.appended())
	assert.Equal(t, http.StatusOK, r.send("POST", "/test", "a", "Content-Type", "application/x-ndjson; charset=UTF-8").status)
	for _, entry := range r.logs.All() {
		assert.NotContains(t, entry.Message, "CANARY")
		assert.NotContains(t, entry.ContextMap(), "CANARY")
	}
}

func TestARefusalOfTheJournalNamesTheRecordAndTheEntryInTheWay(t *testing.T) {
	r := newRig(t, nil)
	r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
		return nil, errors.Join(errors.New("journal bank/short/actions"), &ledger.Refusal{Index: 1, Code: ledger.CodeConflict, Pointer: "/outcome", EventID: "evt_9"})
	})
	got := r.decide("a b")
	requireProblem(t, got, http.StatusConflict, "conflict", "#/1/decision_record/outcome")
	assert.Equal(t, "evt_9", unmarshal[map[string]any](t, got.body)["event_id"])
	assert.Empty(t, r.host.statuses())
}

func TestARefusalWhoseCodeHasSeveralReasonsSaysWhich(t *testing.T) {
	for reason, said := range map[string]string{
		"":                     "there is no decided and approved approval that binds exactly this",
		ledger.ReasonExpired:   "has expired by the journal's clock",
		ledger.ReasonElsewhere: "stands in another retention class",
	} {
		r := newRig(t, nil)
		r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
			return nil, &ledger.Refusal{Code: ledger.CodeNotBound, EventID: "evt_9", Reason: reason}
		})
		got := r.decide("a")
		require.Equal(t, http.StatusConflict, got.status)
		assert.Contains(t, unmarshal[map[string]any](t, got.body)["detail"], said)
	}
}

func TestAJournalThatCannotBeWrittenIsToldAndPasses(t *testing.T) {
	r := newRig(t, nil)
	r.journal.answers(func(context.Context, record.Scope, []*record.Draft) ([]journal.Receipt, error) {
		return nil, errors.Join(ledger.ErrUnavailable, errors.New("/var/lib/journal: no space left on device"))
	})
	for range 2 {
		got := r.decide("a")
		requireProblem(t, got, http.StatusServiceUnavailable, "journal_unavailable", "")
		assert.Equal(t, "1", got.header.Get("Retry-After"))
		assert.NotContains(t, got.body, "/var/lib", "answers never say where the journal is")
	}
	r.journal.answers(nil)
	require.Equal(t, http.StatusOK, r.decide("a").status)
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, r.host.statuses())
}
