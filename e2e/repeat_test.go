// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestASpanDeliveredTwiceLeavesOneRecord sends the same telemetry before and
// after restarts, over several segments, as an SDK does when the tracing
// backend beside us failed.
func TestASpanDeliveredTwiceLeavesOneRecord(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	var first int
	for round := range 3 {
		c := h.start()
		replayAll(t.Context(), t, c, corpusFiles(t))
		replayAll(t.Context(), t, c, corpusFiles(t)[:5])
		require.NoError(t, c.Stop())
		h.requireVerified()
		if round == 0 {
			first = len(h.reads())
			require.Greater(t, first, 100)
		}
		require.Len(t, h.reads(), first, "round %d", round)
	}
	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(t, err)
	require.Greater(t, len(segments), 1, "the journal rotated")
	seen := map[string]bool{}
	for _, r := range h.reads() {
		require.False(t, seen[r.ReadID] && r.ConflictsWith == "", "%s twice", r.ReadID)
		seen[r.ReadID] = true
	}
}
