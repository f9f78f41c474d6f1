// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

func TestAnActionStandsInOneRetentionClassOnly(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	kyc, _ := j.Scope("bank", "kyc_10y")
	treasury, _ := j.Scope("bank", "treasury_7y")
	other, _ := j.Scope("other", "")

	planned, err := j.AppendStrict(t.Context(), kyc, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err)
	for _, state := range []record.ActionState{record.ActionPlanned, record.ActionRevoked} {
		_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{action(t, "act_2"), actionIn(t, "act_1", state)})
		var refusal *ledger.Refusal
		require.ErrorAs(t, err, &refusal, state)
		require.Equal(t, &ledger.Refusal{Index: 1, Code: ledger.CodeElsewhere, EventID: planned[0].EventID}, refusal, state)
	}
	_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{action(t, "act_2")})
	require.NoError(t, err, "nothing of what was refused was written")
	_, err = j.AppendStrict(t.Context(), other, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err, "another organization has ids of its own")
	again, err := j.AppendStrict(t.Context(), kyc, []*record.Draft{action(t, "act_1")})
	require.NoError(t, err)
	assert.True(t, again[0].Repeat)
	require.NoError(t, j.Shutdown(t.Context()))

	j = newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{action(t, "act_1")})
	require.ErrorAs(t, err, new(*ledger.Refusal), "also after a restart")
	require.NoError(t, j.Shutdown(t.Context()))
}

func TestOfTwoClassesAtTheSameTimeOneGetsTheAction(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	for n := range 20 {
		var taken atomic.Int32
		var wg sync.WaitGroup
		for _, class := range []string{"kyc_10y", "treasury_7y"} {
			scope, _ := j.Scope("bank", class)
			drafts := []*record.Draft{action(t, fmt.Sprintf("act_%d", n)), action(t, fmt.Sprintf("also_%d", n))}
			if class == "kyc_10y" {
				drafts[0], drafts[1] = drafts[1], drafts[0]
			}
			wg.Go(func() {
				if _, err := j.AppendStrict(t.Context(), scope, drafts); err == nil {
					taken.Add(1)
				} else {
					assert.ErrorAs(t, err, new(*ledger.Refusal))
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, taken.Load())
	}
	require.NoError(t, j.Shutdown(t.Context()))
}

// given makes the draft of a body with an event id.
func given(t *testing.T, kind record.Kind, members map[string]any) *record.Draft {
	t.Helper()
	body := map[string]any{
		"event_type": "decision.made", "occurred_at": "2026-11-30T00:00:00.000000000Z", "correlation": map[string]any{"execution_id": "run_1"},
		"observed_by": map[string]any{"signal": "api", "upstream_context_source": "unverified_input"},
	}
	maps.Copy(body, members)
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	d, err := record.NewBodyDraft(kind, record.SchemaVersion, true, jsontext.Value(raw))
	require.NoError(t, err)
	return d
}

func auditLog(t *testing.T, id string) *record.Draft {
	t.Helper()
	h := record.Header{
		OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
		ObservedBy: record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalAPI},
	}
	d, err := record.NewAuditLogDraft(h, &record.AuditLog{RecordID: record.Text{Value: id}, PayloadDigest: "sha256:00"})
	require.NoError(t, err)
	return d
}

func TestAnIDNamesOneRecordOfAnOrganizationWhateverItsClass(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	kyc, _ := j.Scope("bank", "kyc_10y")
	treasury, _ := j.Scope("bank", "treasury_7y")
	other, _ := j.Scope("other", "")
	decision := given(t, record.KindDecision, map[string]any{"decision_id": "dec_1", "event_id": "evt-1"})
	approval := given(t, record.KindApproval, map[string]any{"approval_id": "apr_1", "kind": "requested", "binds": map[string]any{"action_id": "act_1"}})
	event := given(t, record.KindAuditEvent, map[string]any{"event_id": "evt-2"})
	first, err := j.AppendStrict(t.Context(), kyc, []*record.Draft{decision, approval, event, auditLog(t, "log-1")})
	require.NoError(t, err)

	refusals := map[string]struct {
		draft *record.Draft
		want  ledger.Refusal
	}{
		"the same decision": {decision, ledger.Refusal{EventID: first[0].EventID}},
		"another decision with its id": {
			given(t, record.KindDecision, map[string]any{"decision_id": "dec_1", "outcome": "another"}), ledger.Refusal{EventID: first[0].EventID},
		},
		"another decision with its event id": {
			given(t, record.KindDecision, map[string]any{"decision_id": "dec_2", "event_id": "evt-1"}), ledger.Refusal{EventID: "evt-1", Pointer: "/event_id"},
		},
		"an approval of another action": {
			given(t, record.KindApproval, map[string]any{"approval_id": "apr_1", "kind": "requested", "binds": map[string]any{"action_id": "act_2"}}),
			ledger.Refusal{EventID: first[1].EventID},
		},
		"the same audit event": {event, ledger.Refusal{EventID: "evt-2"}},
		"the same audit log":   {auditLog(t, "log-1"), ledger.Refusal{EventID: first[3].EventID}},
	}
	for range 2 {
		for name, test := range refusals {
			test.want.Index, test.want.Code, test.want.Reason = 1, ledger.CodeConflict, ledger.ReasonElsewhere
			_, err := j.AppendStrict(t.Context(), treasury, []*record.Draft{auditLog(t, "log-2"), test.draft})
			var refusal *ledger.Refusal
			require.ErrorAs(t, err, &refusal, name)
			require.Equal(t, test.want, *refusal, name)
		}
		again, err := j.AppendStrict(t.Context(), kyc, []*record.Draft{decision, approval, event, auditLog(t, "log-1")})
		require.NoError(t, err)
		for _, r := range again {
			require.True(t, r.Repeat)
		}
		require.NoError(t, j.Shutdown(t.Context()))
		j = newExtension(t, cfg, nil)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	}
	_, err = j.AppendStrict(t.Context(), treasury, []*record.Draft{auditLog(t, "log-2")})
	require.NoError(t, err, "nothing of what was refused was written")
	_, err = j.AppendStrict(t.Context(), other, []*record.Draft{decision, event})
	require.NoError(t, err, "another organization has ids of its own")
	require.NoError(t, j.Shutdown(t.Context()))
}
