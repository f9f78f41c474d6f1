// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"
)

// bundleOfAll hands over everything that the collector wrote and returns the bundle,
// which verifies as far as it can without checkpoints.
func (h *house) bundleOfAll() []byte {
	h.t.Helper()
	dir := h.t.TempDir()
	checkpoints, file := filepath.Join(dir, "checkpoints"), filepath.Join(dir, "bundle.tar")
	require.NoError(h.t, os.Mkdir(checkpoints, 0o700))
	for _, args := range [][]string{
		{"keys", "new", "--out", dir},
		{
			"bundle", h.journal, "--checkpoints", checkpoints, "--keys", h.registry, "--manifest-key", filepath.Join(dir, "signing-key.pem"), "--out", file,
		},
	} {
		code, stdout, stderr := h.cli(args...)
		require.Zero(h.t, code, stdout+stderr)
	}
	code, stdout, stderr := h.cli("bundle", "verify", file, "--keys", h.registry, "--manifest-keys", filepath.Join(dir, "keys.json"))
	require.Equal(h.t, 2, code, "no checkpoint covers anything: %s%s", stdout, stderr)
	for _, check := range []string{"membership", "digests", "entries", "signature", "schema", "completeness"} {
		require.Contains(h.t, stdout, check+": valid\n")
	}
	bundle, err := os.ReadFile(file)
	require.NoError(h.t, err)
	return bundle
}
