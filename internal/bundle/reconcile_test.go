// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// audited appends an audit event of run_0 that names entries and artifacts.
func (h *house) audited(id string, events []string, artifacts ...string) {
	text, err := os.ReadFile("../../schema/audit-event/1.0.0/examples/complete-execution.json")
	require.NoError(h.t, err)
	var envelope struct {
		Event map[string]any `json:"audit_event"`
	}
	require.NoError(h.t, json.Unmarshal(text, &envelope))
	e := envelope.Event
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(e, own)
	}
	e["event_id"], e["correlation"] = id, map[string]any{"execution_id": "run_0", "correlation_id": "case_1"}
	e["tool_calls"], e["execution"] = []any{}, map[string]any{"status": "not_started", "business_outcome": "unknown"}
	e["lineage"] = map[string]any{"lineage_ref": "lineage_1", "event_ids": events}
	var listed []any
	for _, digest := range artifacts {
		listed = append(listed, map[string]any{"artifact_ref": "a", "digest": digest})
	}
	e["evidence"] = map[string]any{"manifest_ref": "manifest_1", "artifacts": listed}
	body, err := json.Marshal(e)
	require.NoError(h.t, err)
	d, err := record.NewBodyDraft(record.KindAuditEvent, record.SchemaVersion, true, jsontext.Value(body))
	require.NoError(h.t, err)
	last, err := journal.ParseLine([]byte(strings.TrimSuffix(h.lines[len(h.lines)-1], "\n")))
	require.NoError(h.t, err)
	h.append(last.Header.Sequence+1, d, last.Integrity.RecordHash)
}

func (h *house) eventID(line int) string {
	e, err := journal.ParseLine([]byte(strings.TrimSuffix(h.lines[line-1], "\n")))
	require.NoError(h.t, err)
	return e.Header.EventID
}

func TestABundleHoldsAuditEventsAgainstWhatIsInIt(t *testing.T) {
	h := newHouse(t, 9)
	// Entry 2 is of run_0, and entry 3 is not.
	h.audited("evt_audit_1", []string{h.eventID(2), h.eventID(4)}, spell(sha256.Sum256([]byte(h.lines[1]))))
	h.checkpoint(true, true)
	run := func(o *Options) {
		o.Selection.ExecutionID = "run_0"
		o.Matches = func(e *journal.Entry) bool { return e.Header.Correlation.ExecutionID == "run_0" }
	}
	r := h.verify(h.make(run))
	require.Nil(t, r.FirstBad, "%+v", r.FirstBad)
	require.Equal(t, &journal.Reconciled{
		AuditEvents: 1, Lineage: journal.Valid, IDs: 2, Found: 2, Artifacts: journal.Valid, ArtifactsNamed: 1, ArtifactsCompared: 1,
	}, r.Reconciled)
	require.Equal(t, "of 1 audit event; manifests and effects at the source are not compared", reconciliation(t, r).Detail)

	h.audited("evt_audit_2", []string{h.eventID(2), h.eventID(3)}, "sha256:"+strings.Repeat("0", 64))
	h.checkpoint(true, true)
	b := h.make(run)
	r = h.verify(b)
	require.Nil(t, r.FirstBad, "%+v", r.FirstBad)
	require.Equal(t, &journal.Reconciled{
		AuditEvents: 2, Lineage: journal.NotPerformed, IDs: 4, Found: 3, Artifacts: journal.NotPerformed, ArtifactsNamed: 2, ArtifactsCompared: 1,
	}, r.Reconciled)
	f := reconciliation(t, r)
	assert.Equal(t, journal.ClassNote, f.Class)
	assert.Equal(t, "of 2 audit events; 3 of 4 ids are in the bundle: verify the journals for the others; 1 of 2 artifacts are in the bundle; manifests and effects at the source are not compared", f.Detail)
	assert.NotContains(t, r.Counts, journal.CodeLineageUnresolved, "what is not in a bundle may be in the journals")

	h.policy = &journal.Policy{Demand: []journal.Demand{journal.DemandArtifacts}}
	r = h.verify(b)
	assert.Equal(t, journal.ClassUnchecked, reconciliation(t, r).Class)
	assert.Equal(t, 2, r.ExitCode())
}

func TestInABundleThatIsNotValidNothingIsFound(t *testing.T) {
	h := newHouse(t, 9)
	h.audited("evt_audit_1", []string{h.eventID(2)})
	h.checkpoint(true, true)
	b := h.make(nil)
	h.keys = &journal.Registry{} // trusts nobody
	r := h.verify(b)
	require.Equal(t, 1, r.ExitCode())
	require.Equal(t, journal.NotPerformed, r.Reconciled.Lineage)
	require.Zero(t, r.Reconciled.Found)
	require.Contains(t, reconciliation(t, r).Detail, "nothing was looked up, since not every artifact and entry is valid")
}

func TestABundleWithoutAuditEventsSaysNothingOfThem(t *testing.T) {
	h := newHouse(t, 9)
	r := h.verify(h.make(nil))
	require.Nil(t, r.Reconciled)
	require.NotContains(t, r.Counts, journal.CodeReconcileNotPerformed)
}

func reconciliation(t *testing.T, r *Report) Finding {
	require.Equal(t, uint64(1), r.Counts[journal.CodeReconcileNotPerformed])
	for _, f := range r.Findings {
		if f.Code == journal.CodeReconcileNotPerformed {
			return f
		}
	}
	return Finding{}
}
