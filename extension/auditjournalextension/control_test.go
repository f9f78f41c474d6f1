// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/record"
)

func TestAnOperatorSetsAHoldBesideTheRunningExtension(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	j := newExtension(t, cfg, nil)
	start(t, j, &host{})
	client, err := control.NewClient(cfg.Directory)
	require.NoError(t, err)
	for _, opened := range j.running() {
		_, err := client.SetHold(t.Context(), control.HoldRequest{JournalID: opened.JournalID(), Hold: record.Hold{HoldID: "case-7"}})
		require.NoError(t, err)
		_, err = client.Prune(t.Context(), control.PruneRequest{JournalID: opened.JournalID(), FirstSequence: 2})
		require.ErrorContains(t, err, "a legal hold is set")
		_, err = client.Prune(t.Context(), control.PruneRequest{JournalID: opened.JournalID(), FirstSequence: 2, RequireArchived: true})
		require.ErrorContains(t, err, "no archive is configured")
	}
	_, err = client.SetHold(t.Context(), control.HoldRequest{JournalID: "jrn_other", Hold: record.Hold{HoldID: "case-7"}})
	require.ErrorContains(t, err, "does not write that journal")
	require.NoError(t, j.Shutdown(t.Context()))
	_, err = control.NewClient(cfg.Directory)
	require.ErrorIs(t, err, control.ErrNoCollector)
}

func TestRecordingDoesNotDependOnTheControlSocket(t *testing.T) {
	cfg, _ := configFor(t, t.TempDir())
	require.NoError(t, os.WriteFile(filepath.Join(cfg.Directory, control.SocketName), []byte("in the way"), 0o600))
	j := newExtension(t, cfg, nil)
	start(t, j, &host{})
	receipts, err := j.Append(t.Context(), []carrier.Item{read(t, 1, nil)})
	require.NoError(t, err)
	require.Len(t, receipts, 1)
}
