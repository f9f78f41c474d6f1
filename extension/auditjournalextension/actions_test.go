// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/record"
)

func TestActionsStandInAJournalOfTheirOwn(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	scope, found := j.Scope("", "treasury_7y")
	require.True(t, found)
	planned := action(t, "act_1")
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 0, nil), {Draft: planned, Scope: &scope}})
	require.NoError(t, err)
	receipts, err := j.AppendStrict(t.Context(), scope, []*record.Draft{planned, action(t, "act_2")})
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false}, []bool{receipts[0].Repeat, receipts[1].Repeat})
	require.NoError(t, j.Shutdown(t.Context()))

	for path, entries := range map[string]int{"bank/kyc_10y/reads": 3, "bank/kyc_10y/actions": 2, "bank/treasury_7y/reads": 2, "bank/treasury_7y/actions": 4} {
		report := verify(t, filepath.Join(cfg.Directory, filepath.FromSlash(path)), registry)
		assert.EqualValues(t, entries, report.RecordsChecked, path)
	}
}

func TestWithoutAJournalOfActionsNoActionIsTaken(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err := j.Append(t.Context(), []carrier.Item{read(t, 0, nil), {Draft: action(t, "act_1")}})
	require.ErrorIs(t, err, errNoJournal)
	scope, _ := j.Scope("", "")
	_, err = j.AppendStrict(t.Context(), scope, []*record.Draft{action(t, "act_1")})
	require.ErrorIs(t, err, errNoJournal)
	require.NoError(t, j.Shutdown(t.Context()))
}

func TestOnlyScopesOfTheConfigurationHaveNames(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	for name, found := range map[[2]string]bool{
		{"", ""}: true, {"bank", ""}: true, {"other", ""}: true, {"other", "treasury_7y"}: false, {"evil", ""}: false, {"", "evil"}: false,
	} {
		_, is := j.Scope(name[0], name[1])
		assert.Equal(t, found, is, name)
	}
	require.NoError(t, j.Shutdown(t.Context()))
}

func action(t *testing.T, id string) *record.Draft {
	return actionIn(t, id, record.ActionPlanned)
}

// actionIn makes the record of an action, or of its first attempt, in a state.
func actionIn(t *testing.T, id string, state record.ActionState) *record.Draft {
	t.Helper()
	a := record.Action{
		Header: record.Header{
			EventType: state.EventType(), OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: "run_1"},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalAPI},
		},
		ActionID: id, EdgeType: record.EdgeExternalAction, State: state, IdempotencyToken: record.IdempotencyToken(id),
		Actor: record.Actor{Kind: "worker", Identity: "spiffe://bank.example/agent"},
		Target: record.ActionTarget{
			Channel: record.ChannelHTTP, Host: "crm.bank.example", Port: 443, Protocol: "https", Method: "POST",
			CredentialRef: record.NoCredential, Redaction: record.RedactionNone,
		},
	}
	if state != record.ActionPlanned {
		a.AttemptID, a.Attempt = "att_"+id, 1
	}
	d, err := record.NewBodyDraft(record.KindAction, record.SchemaVersion, true, &a)
	require.NoError(t, err)
	return d
}

// Whatever is done with a journal is done with both of a scope.
func TestAJournalOfActionsIsArchivedHeldAndRotatedAsOneOfReads(t *testing.T) {
	server := s3test.Start(t)
	cfg := archivedConfig(t, server)
	cfg.Actions = true
	path, registry := newKey(t)
	cfg.SigningKey.File = path
	j := newExtension(t, cfg, nil)
	j.keyPoll = time.Millisecond
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	scope, _ := j.Scope("", "")
	for n := range 3 {
		_, err := j.Append(t.Context(), []carrier.Item{read(t, n, nil)})
		require.NoError(t, err)
		_, err = j.AppendStrict(t.Context(), scope, []*record.Draft{action(t, fmt.Sprint("act_", n))})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return len(server.Keys()) == 6 }, archiveTime, time.Millisecond)
	kinds := map[string]int{}
	for _, key := range server.Keys() {
		kinds[strings.Split(key, "/")[3]]++
	}
	assert.Equal(t, map[string]int{reads: 3, actions: 3}, kinds)

	client, err := control.NewClient(cfg.Directory)
	require.NoError(t, err)
	require.Len(t, j.running(), 2)
	for _, opened := range j.running() {
		_, err := client.SetHold(t.Context(), control.HoldRequest{JournalID: opened.JournalID(), Hold: record.Hold{HoldID: "case-7"}})
		require.NoError(t, err)
		_, err = client.Prune(t.Context(), control.PruneRequest{JournalID: opened.JournalID(), FirstSequence: 2})
		require.ErrorContains(t, err, "a legal hold is set")
	}
	id := rotateFile(t, path, registry)
	for _, kind := range []string{reads, actions} {
		directory := nameOf(scope, kind).directory(cfg.Directory)
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			last, _ := signedBy(t, directory)
			assert.Equal(c, id, last)
		}, archiveTime, time.Millisecond)
	}
	require.NoError(t, j.Shutdown(t.Context()))
	for _, kind := range []string{reads, actions} {
		verify(t, nameOf(scope, kind).directory(cfg.Directory), registry)
	}
}
