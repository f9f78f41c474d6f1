// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

func TestACheckpointBeyondACopyWithoutItsEndSaysHowFarTheCopyGoes(t *testing.T) {
	w := journalOf(t, 9)
	registry := registryOf(t, trustedKey(trusted))
	s := newOutsideStore(t).put(w.signed(4)).put(w.signed(7)).put(w.signed(9))
	sources, err := journal.Open(store(t, 1, w.lines[:4]...))
	require.NoError(t, err)
	for demand, want := range map[string]int{`{}`: 0, `{"demand":["tail"]}`: 2} {
		policy := policyOf(t, demand)
		checkpoints := journal.ReadCheckpoints([]string{s.directory}, registry, policy)
		report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Policy: policy, Checkpoints: checkpoints, OpenEnd: true})
		require.NoError(t, err)
		assert.Equal(t, want, report.ExitCode(), demand)
		assert.Equal(t, journal.NotPerformed, report.Tail, "the last entry has a checkpoint, and there are more")
		assert.Equal(t, uint64(4), report.Outside.TailTo)
		require.Equal(t, journal.CodeTailUnattested, report.Findings[0].Code)
		assert.Equal(t, uint64(5), report.Findings[0].Sequence)
		assert.Contains(t, report.Findings[0].Detail, "the copy ends with 4, and a checkpoint covers 9: ")

		report, err = journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Policy: policy, Checkpoints: checkpoints})
		require.NoError(t, err)
		assert.Equal(t, []journal.Code{journal.CodeTruncated}, brokenCodes(report))
	}
}
