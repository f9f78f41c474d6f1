// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

// TestARotationThatIsKilledAtAnySystemCallGoesOn has strace kill the command at each
// occurrence in turn of the calls by which it changes files. Afterwards the key that
// signs is trusted, and the same command goes on.
func TestARotationThatIsKilledAtAnySystemCallGoesOn(t *testing.T) {
	strace := requireStrace(t)
	h := newHouse(t, "e2e/testdata/audit.yaml")
	files := names(t, h.keyDir)
	killed := 0
	for _, call := range []string{"openat", "flock", "fchmod", "write", "fsync", "/^rename", "close"} {
		for when := 1; ; when++ {
			cmd := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, when),
				cliBin, "keys", "rotate", "--signing-key", h.key, "--keys", h.registry, "--forget-older")
			out, err := cmd.CombinedOutput()
			h.requireKeysFit()
			if err == nil {
				break
			}
			require.Empty(t, string(out), "only the kill ends it")
			killed++
			h.rotate("--forget-older")
			h.requireKeysFit()
		}
	}
	left := slices.DeleteFunc(names(t, h.keyDir), func(name string) bool { return strings.Contains(name, ".before-") && name[0] != '.' })
	require.Equal(t, files, left, "no secret is left behind but the former files that are said")
	t.Logf("killed %d times", killed)
	require.Greater(t, killed, 20)
}

// requireKeysFit demands that every key in the key file is trusted.
func (h *house) requireKeysFit() {
	h.t.Helper()
	signers, err := journal.NewFileSigners(h.key)
	require.NoError(h.t, err)
	registry, err := journal.ReadRegistry(h.registry)
	require.NoError(h.t, err)
	for _, s := range signers {
		_, found := registry.Key(s.KeyID())
		require.True(h.t, found)
	}
}

// names returns the names of the files in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
