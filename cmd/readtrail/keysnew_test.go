// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

// A registry never holds a key whose private half was taken away again.
func TestAKeyIsTakenBackWholeOrNotAtAll(t *testing.T) {
	t.Cleanup(func() { syncDirectory = syncDir })
	broken := errors.New("input/output error")
	for name, c := range map[string]struct {
		// fails is the sync that does: the first is that of the private key, the
		// second that of the registry.
		fails int
		kept  bool
	}{
		"the private key could not be synced": {1, false},
		"the registry could not be synced":    {2, true},
	} {
		t.Run(name, func(t *testing.T) {
			var syncs int
			syncDirectory = func(dir string) error {
				if syncs++; syncs == c.fails {
					return broken
				}
				return syncDir(dir)
			}
			dir := t.TempDir()
			err := newKey(&console{out: bufio.NewWriter(io.Discard)}, dir, time.Now())
			require.ErrorIs(t, err, broken)
			require.NotContains(t, err.Error(), "\n")
			require.Equal(t, c.fails, syncs)
			if !c.kept {
				require.NoFileExists(t, filepath.Join(dir, keyFile))
				require.NoFileExists(t, filepath.Join(dir, registryFile))
				return
			}
			signer, err2 := journal.NewFileSigner(filepath.Join(dir, keyFile))
			require.NoError(t, err2)
			registry, err2 := journal.ReadRegistry(filepath.Join(dir, registryFile))
			require.NoError(t, err2)
			_, found := registry.Key(signer.KeyID())
			require.True(t, found)
			require.ErrorContains(t, err, signer.KeyID(), "what is left is said")
		})
	}
}
