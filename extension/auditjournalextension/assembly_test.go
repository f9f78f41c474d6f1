// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/assembly"
	"github.com/readtrail/readtrail/record"
)

var _ assembly.Journal = (*journals)(nil)

// wholePart is a part that has all that an audit event needs: the published example.
func wholePart(t *testing.T, actionID string, without ...string) *record.Draft {
	text, err := os.ReadFile("../../schema/audit-event/1.0.0/examples/complete-execution.json")
	require.NoError(t, err)
	var envelope struct {
		Event map[string]any `json:"audit_event"`
	}
	require.NoError(t, json.Unmarshal(text, &envelope))
	members := envelope.Event
	for _, own := range append(without, "event_id", "event_type", "recorded_at", "sequence", "scope") {
		delete(members, own)
	}
	text, err = json.Marshal(members)
	require.NoError(t, err)
	d, err := record.NewAuditPartDraft(record.Header{Correlation: record.Correlation{ExecutionID: "run_syn_0193"}}, record.AuditPart{ActionID: actionID, Members: jsontext.Value(text)})
	require.NoError(t, err)
	return d
}

// What was composed or named stands in journals that verify, once, whoever restarts.
func TestAuditEventsAreComposedInTheJournalsOfActionsOverRestarts(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Actions = true
	drafts := []*record.Draft{wholePart(t, "act_whole"), wholePart(t, "act_half", "policy")}
	told := make(chan string, 10)
	for life := range 3 {
		j := newExtension(t, cfg, nil)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
		scope, found := j.Scope("", "treasury_7y")
		require.True(t, found)
		if life == 0 {
			_, err := j.AppendStrict(t.Context(), scope, drafts)
			require.NoError(t, err)
		} else {
			a := assembly.New(assembly.Options{
				Journal: j, Deadline: time.Second, Lookback: time.Hour, MaxPending: 10, Now: func() time.Time { return time.Now().Add(time.Minute) },
				Composed: func() { told <- "composed" }, Incomplete: func() { told <- "incomplete" }, Failed: func(err error) { told <- err.Error() },
			})
			a.Start()
			if life == 1 {
				require.ElementsMatch(t, []string{"composed", "incomplete"}, []string{<-told, <-told})
			}
			a.Close()
		}
		require.NoError(t, j.Shutdown(t.Context()))
	}
	require.Empty(t, told)
	report := verify(t, filepath.Join(cfg.Directory, "bank", "treasury_7y", "actions"), registry)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.EqualValues(t, 11, report.RecordsChecked)
}
