// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func TestABodyIsARepeatByItsOwnIDs(t *testing.T) {
	for name, test := range map[string]struct {
		kind record.Kind
		body string
		id   string
	}{
		"a planned action":   {record.KindAction, `{"action_id":"act_1","state":"planned"}`, "action_record act_1 planned"},
		"an attempt":         {record.KindAction, `{"action_id":"act_1","attempt_id":"att_1","state":"sent"}`, "action_record act_1 att_1 sent"},
		"a step of approval": {record.KindApproval, `{"approval_id":"apr_1","kind":"decided"}`, "approval_record apr_1 decided"},
		"a decision":         {record.KindDecision, `{"decision_id":"dec_1"}`, "decision_record dec_1"},
		"a context":          {record.KindContext, `{"context_id":"ctx_1"}`, "context_record ctx_1"},
		"a context with its id": {
			record.KindContext, `{"basis":{"context_id":"attribute"},"context_id":"ctx_1"}`, "context_record ctx_1",
		},
		"an audit event":      {record.KindAuditEvent, `{"event_id":"evt_1"}`, "audit_event evt_1"},
		"an action without":   {record.KindAction, `{"state":"planned"}`, ""},
		"an approval without": {record.KindApproval, `{"approval_id":"apr_1"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := record.NewBodyDraft(test.kind, record.SchemaVersion, true, jsontext.Value(`{"occurred_at":"2026-11-30T00:00:00.000000000Z",`+test.body[1:]))
			if test.id == "" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.id, d.ID())
			complete := completion()
			if test.kind == record.KindAuditEvent {
				complete.EventID = "evt_1"
			}
			stored, err := record.RepeatOf(test.kind, d.Complete(complete))
			require.NoError(t, err)
			assert.Equal(t, test.id, stored.ID)
			assert.Equal(t, d.Digest(), stored.Digest)
			assert.Equal(t, test.kind != record.KindContext || strings.Contains(test.body, "attribute"), stored.Given)
		})
	}
}

func TestARetryOverAnotherConnectionIsARepeat(t *testing.T) {
	first, err := record.NewBodyDraft(record.KindDecision, record.SchemaVersion, true,
		jsontext.Value(`{"decision_id":"d","observed_by":{"signal":"api","upstream_context_source":"unverified_input"},"unmet":[{"field":"a"}]}`))
	require.NoError(t, err)
	again, err := record.NewBodyDraft(record.KindDecision, record.SchemaVersion, true,
		jsontext.Value(`{"observed_by":{"signal":"api","upstream_context_source":"authenticated:a"},"decision_id":"d"}`))
	require.NoError(t, err)
	assert.Equal(t, first.Digest(), again.Digest())
}

func TestAContextWhoseClaimsAreJudgedAnewIsARepeat(t *testing.T) {
	draftOf := func(source string, supported bool) *record.Draft {
		c := &record.Context{ContextID: "ctx_1", Claims: []record.Claim{{ClaimID: "c", EntryIDs: []string{"e"}, Supported: supported}}}
		c.ObservedBy.UpstreamContextSource, c.OccurredAt = source, record.TimeFromUnixNano(1)
		d, err := record.NewBodyDraft(record.KindContext, record.SchemaVersion, true, c)
		require.NoError(t, err)
		return d
	}
	first := draftOf("authenticated:a", false)
	assert.Equal(t, first.Digest(), draftOf(record.UnverifiedInput, true).Digest())
	stored, err := record.RepeatOf(record.KindContext, draftOf("authenticated:a", true).Complete(completion()))
	require.NoError(t, err)
	assert.Equal(t, first.Digest(), stored.Digest)
}

func TestAnAuditEventGetsWhatItsDictionaryHas(t *testing.T) {
	d, err := record.NewBodyDraft(record.KindAuditEvent, "1.1.0", true, jsontext.Value(`{"event_id":"e","event_type":"completed_action"}`))
	require.NoError(t, err)
	assert.True(t, d.OfActions())
	assert.Equal(t, "1.1.0", d.Version())
	var names map[string]jsontext.Value
	require.NoError(t, json.Unmarshal(d.Complete(completion()), &names))
	assert.NotContains(t, names, "journal_id")
	assert.NotContains(t, names, "observed_by")
	for _, name := range []string{"event_id", "recorded_at", "scope", "sequence"} {
		assert.Contains(t, names, name)
	}
}

func TestJournalRecordsAboutAuditEventsBelongToTheActions(t *testing.T) {
	for eventType, want := range map[string]bool{"audit_event.received": true, record.EventJournalHeartbeat: false} {
		d, err := record.NewJournalDraft(&record.Journal{Header: record.Header{EventType: eventType}})
		require.NoError(t, err)
		assert.Equal(t, want, d.OfActions())
	}
}

func completion() record.Completion {
	return record.Completion{
		EventID: "evt_given", JournalID: "j", Sequence: 2, CollectorID: "c",
		Scope: record.Scope{OrganizationRef: "o", Environment: "e", RetentionClass: "r"},
	}
}

// Whether claims are supported is what intake found when the context came; a retry
// finds more.
func TestWhatIntakeFindsOutDoesNotTellRepeatsApart(t *testing.T) {
	context := func(claims string) *record.Draft {
		d, err := record.NewBodyDraft(record.KindContext, "1.0.0", true,
			jsontext.Value(`{"context_id":"ctx_1","occurred_at":"2026-11-30T00:00:00.000000000Z","claims":`+claims+`}`))
		require.NoError(t, err)
		return d
	}
	first := context(`[{"claim_id":"c1","entry_ids":["e1"],"supported":false},{"claim_id":"c2","entry_ids":[],"supported":false}]`)
	require.Equal(t, first.Digest(), context(`[{"claim_id":"c1","entry_ids":["e1"],"supported":true},{"claim_id":"c2","entry_ids":[]}]`).Digest())
	require.NotEqual(t, first.Digest(), context(`[{"claim_id":"c1","entry_ids":["e2"],"supported":false},{"claim_id":"c2","entry_ids":[]}]`).Digest())
	stored, err := record.RepeatOf(record.KindContext, first.Complete(record.Completion{EventID: "evt_1"}))
	require.NoError(t, err)
	require.Equal(t, first.Digest(), stored.Digest)
}
