// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func given(checkpoints ...*journal.SignedCheckpoint) ledger.Checkpoints {
	return func(_ string, size uint64) (best *journal.SignedCheckpoint, err error) {
		for _, c := range checkpoints {
			if best == nil || best.Size < size {
				best = c
			}
		}
		return best, nil
	}
}

func (a *aged) inventory(rules retention.Rules, checkpoints ledger.Checkpoints) (*ledger.Inventory, error) {
	a.t.Helper()
	return ledger.TakeInventory(a.t.Context(), a.fs, dir, rules, a.clock.Now(), checkpoints)
}

func TestAPlanIsMadeBesideARunningWriterAndChangesNothing(t *testing.T) {
	a := newAged(t, 1)
	segments, all := a.segments(), stored(t, a.fs)
	rules := retention.Rules{"kyc": 10}
	// The checkpoint ends in the middle of the fourth segment.
	checkpoint := checkpointOf(t, signer, all[:segments[3].First+1])
	i, err := a.inventory(rules, given(checkpoint))
	require.NoError(t, err)
	require.Equal(t, "bank", i.Organization)
	require.Equal(t, all[0].Header.JournalID, i.JournalID)
	require.Len(t, i.Segments, len(segments))
	plan := i.Plan(rules, a.clock.Now(), nil)
	require.Len(t, plan.Goes, 3)
	require.Equal(t, []retention.Reason{retention.NotCovered}, plan.Stays[0].Reasons)
	require.Equal(t, segments, a.segments())

	done, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: plan.FirstSequence(), KeepDays: 10, Checkpoint: i.Checkpoint})
	require.NoError(t, err, "what was planned can be applied")
	require.Equal(t, 3, done.Removed)
	i, err = a.inventory(rules, given(checkpoint))
	require.NoError(t, err)
	require.True(t, i.Anchored)
	require.Empty(t, i.Plan(rules, a.clock.Now(), nil).Goes)
	require.Empty(t, i.Announced)

	_, err = a.ledger.SetHold(t.Context(), record.Hold{HoldID: "case-7"})
	require.NoError(t, err)
	a.write(20, 24)
	a.clock.advance(20 * retention.Day)
	i, err = a.inventory(rules, given(checkpointOf(t, signer, append(all[:i.Segments[0].First-1:i.Segments[0].First-1], stored(t, a.fs)...))))
	require.NoError(t, err)
	require.NotNil(t, i.Checkpoint)
	plan = i.Plan(rules, a.clock.Now(), nil)
	require.Empty(t, plan.Goes)
	require.Equal(t, []retention.Reason{retention.Held}, plan.Stays[0].Reasons)
}

func TestAPlanRefusesACheckpointThatTheJournalDoesNotStandOn(t *testing.T) {
	a := newAged(t, 1)
	all := stored(t, a.fs)
	rules := retention.Rules{"kyc": 0}
	_, err := a.inventory(rules, given(checkpointOf(t, otherSigner, all)))
	require.ErrorContains(t, err, "signed by no key")
	i, err := a.inventory(rules, given())
	require.NoError(t, err)
	require.Equal(t, []retention.Reason{retention.NotCovered}, i.Plan(rules, a.clock.Now(), nil).Stays[0].Reasons)
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: i.JournalID, Size: uint64(len(all))}, signer)
	require.NoError(t, err)
	fork, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	_, err = a.inventory(rules, given(fork))
	require.ErrorContains(t, err, "another root")
}

func TestAPrefixThatNobodyAnnouncedIsNotPrunedFurther(t *testing.T) {
	a := newAged(t, 1)
	a.fs.Remove(dir + "/" + segment.Name(1))
	i, err := a.inventory(retention.Rules{"kyc": 0}, given())
	require.NoError(t, err)
	require.False(t, i.Anchored)
	require.Contains(t, i.Plan(retention.Rules{"kyc": 0}, a.clock.Now(), nil).Stays[0].Reasons, retention.Unanchored)
}
