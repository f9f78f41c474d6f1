// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAProgramInAnotherLanguageVerifiesTheJournal runs verify.mjs, which shares
// no code with us, over a journal of several segments.
func TestAProgramInAnotherLanguageVerifiesTheJournal(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; the check by another language was not performed")
	}
	h := newHouse(t, "e2e/testdata/audit.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, corpusFiles(t))
	require.NoError(t, c.Stop())

	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(t, err)
	require.Greater(t, len(segments), 1, "the journal rotated")
	slices.Sort(segments)
	out, err := exec.Command(node, append([]string{"verify.mjs", h.registry}, segments...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, fmt.Sprintf("%d entries valid\n", len(h.lines())), string(out))

	// It does find a change, so that its silence means something.
	data, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(segments[0], data, 0o600))
	out, err = exec.Command(node, append([]string{"verify.mjs", h.registry}, segments...)...).CombinedOutput()
	require.Error(t, err, string(out))
}
