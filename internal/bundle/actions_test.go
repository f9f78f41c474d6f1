// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// acted are an action, its approval, the decision and the context of one run.
func acted(t *testing.T) (drafts []*record.Draft) {
	header := func(eventType string) record.Header {
		return record.Header{
			EventType: eventType, OccurredAt: record.NewTime(start), Correlation: record.Correlation{ExecutionID: "run_0"},
			ObservedBy: record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalAPI},
		}
	}
	action := &record.Action{
		Header: header(record.ActionPlanned.EventType()), ActionID: "act_1", State: record.ActionPlanned, EdgeType: record.EdgeExternalAction,
		Actor: record.Actor{Kind: "agent_process", Identity: "executor"}, IdempotencyToken: record.IdempotencyToken("act_1"),
		Target: record.ActionTarget{
			Channel: record.ChannelHTTP, Host: "h", Port: 443, Protocol: "https", Method: "POST", CredentialRef: record.NoCredential, Redaction: record.RedactionNone,
		},
	}
	for kind, body := range map[record.Kind]any{
		record.KindAction: action,
		record.KindApproval: &record.Approval{
			Header: header(record.ApprovalRequested.EventType()), ApprovalID: "apr_1", RequestID: "req_1", Kind: record.ApprovalRequested,
			Binds: record.BindsOf(action), ExpiresAt: record.NewTime(start.AddDate(0, 0, 1)),
		},
		record.KindDecision: &record.Decision{
			Header: header(record.EventDecisionMade), DecisionID: "dec_1", Outcome: record.DecisionOutcome{Name: "refer"},
			Fields: map[string]record.DecisionField{"a": {}}, FieldProvenance: map[string]record.FieldSource{},
			Boundary: record.Boundary{DataBoundaryRef: "b", Purpose: "p"},
		},
		record.KindContext: &record.Context{
			Header: header(record.EventContextUsed), ContextID: "ctx_1", Model: record.Model{Request: "m"}, Entries: []record.ContextEntry{},
			ContextDigest: "sha256:" + strings.Repeat("0", 64), ContextCanonicalization: "jcs", ContextForm: record.FormMessages,
			ToolCallsRequested: []record.RequestedCall{},
		},
	} {
		d, err := record.NewBodyDraft(kind, record.SchemaVersion, true, body)
		require.NoError(t, err)
		drafts = append(drafts, d)
	}
	return drafts
}

func TestABundleHasTheSchemasOfWhatWasDone(t *testing.T) {
	h := newHouse(t, 9)
	previous, err := journal.ParseLine([]byte(strings.TrimSuffix(h.lines[8], "\n")))
	require.NoError(t, err)
	hash := previous.Integrity.RecordHash
	for i, d := range acted(t) {
		hash = h.append(uint64(10+i), d, hash)
	}
	h.checkpoint(true, true)
	b := h.make(func(o *Options) { o.Selection.DecisionID = "dec_1" })
	r := h.verify(b)
	require.Nil(t, r.FirstBad, "%+v", r.FirstBad)
	assert.Equal(t, journal.Valid, r.Schema)
	kinds := r.Manifest.Journals[0].Kinds
	names := map[string]bool{}
	for _, f := range unpack(t, b) {
		names[f.name] = true
	}
	for _, kind := range []record.Kind{record.KindAction, record.KindApproval, record.KindDecision, record.KindContext} {
		assert.EqualValues(t, 1, kinds[string(kind)], kind)
		assert.True(t, names[schemaName(kind, record.SchemaVersion)], kind)
	}
}
