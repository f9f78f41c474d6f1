// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

// entriesOf returns how many entries an execution has in an organization.
func entriesOf(t *testing.T, j *journals, organization, execution string) (n int) {
	t.Helper()
	for _, err := range j.EntriesOf(t.Context(), organization, execution) {
		require.NoError(t, err)
		n++
	}
	return n
}

func TestTheEntriesOfAnExecutionAreThoseOfAllRetentionClassesOfItsOrganization(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	wake := make(chan struct{}, 1)
	trails, err := j.Follow("bank", "run-1", wake)
	require.NoError(t, err)
	kyc, _ := j.Scope("bank", "kyc_10y")
	treasury, _ := j.Scope("bank", "treasury_7y")
	other, _ := j.Scope("other", "")
	var items []carrier.Item
	for n, scope := range []*record.Scope{&kyc, &treasury, &kyc, &other} {
		item := read(t, n, nil)
		item.Scope = scope
		items = append(items, item)
	}
	_, err = j.Append(t.Context(), items)
	require.NoError(t, err)
	require.Len(t, wake, 1, "told before Append returned")
	for _, err := range trails.Entries(t.Context()) {
		require.NoError(t, err)
	}
	trails.Close()
	require.NoError(t, j.Shutdown(t.Context()))

	j = newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	assert.Equal(t, 3, entriesOf(t, j, "bank", "run-1"))
	assert.Equal(t, 1, entriesOf(t, j, "other", "run-1"))
	assert.Equal(t, 0, entriesOf(t, j, "bank", "run_2"))
	_, err = j.Follow("nobody", "run-1", nil)
	require.ErrorContains(t, err, "no journal of that organization")
	require.NoError(t, j.Shutdown(t.Context()))
	_, err = j.Follow("bank", "run-1", nil)
	require.ErrorIs(t, err, errNotRunning)
}

func TestWithoutAJournalOfActionsNoExecutionIsIndexed(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	_, err := j.Follow("bank", "run-1", nil)
	require.ErrorIs(t, err, ledger.ErrNoExecutions)
	require.NoError(t, j.Shutdown(t.Context()))
}

func TestARecordIsFoundByItsIDInTheJournalOfItsKind(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	cfg.Actions = true
	j := newExtension(t, cfg, nil)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	scope, _ := j.Scope("bank", "treasury_7y")
	item := read(t, 1, nil)
	item.Scope = &scope
	_, err := j.Append(t.Context(), []carrier.Item{item, {Draft: action(t, "act_1"), Scope: &scope}})
	require.NoError(t, err)
	e, err := j.FindRead(t.Context(), "bank", item.Draft.ID())
	require.NoError(t, err)
	assert.Equal(t, record.KindRead, e.Kind)
	_, err = j.FindRead(t.Context(), "other", item.Draft.ID())
	require.ErrorIs(t, err, ledger.ErrNotFound)
	e, err = j.FindRecord(t.Context(), scope, record.KindAction, "action_record act_1 planned")
	require.NoError(t, err)
	assert.Equal(t, record.KindAction, e.Kind)
	_, err = j.FindRecord(t.Context(), scope, record.KindRead, "action_record act_1 planned")
	require.ErrorIs(t, err, ledger.ErrNotFound)
	require.NoError(t, j.Shutdown(t.Context()))
}
