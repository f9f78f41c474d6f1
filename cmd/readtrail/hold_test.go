// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/ledger"
)

func TestAHoldThatOnlyASocketSaysIsSetIsNotBelieved(t *testing.T) {
	a := newAged(t)
	// Whoever listens writes to another copy of the journal.
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(a.path)))
	a.options.Dir = copied
	other := a.open()
	server, err := control.Start(a.root, control.Journals{Ledger: func(string) *ledger.Ledger { return other }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Shutdown(context.Background())) })
	out := a.readtrail(2, "hold", "set", a.path, "--id", "case-7")
	require.Contains(t, out, "the journal does not have the entry: none has sequence")
	require.Contains(t, out, "find out who listens on control.sock")
	require.NotContains(t, out, "hold_id: case-7")
	require.Contains(t, a.readtrail(0, "hold", "list", a.path), "no legal hold is set")
}
