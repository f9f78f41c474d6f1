// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The power goes in every operation of a pruning in turn, and of the opening
// after it. Afterwards nothing is missing that was not announced, everything that
// was is gone, and the journal is whole.
func TestAPowerLossInAPruningLosesNothingThatWasNotAnnounced(t *testing.T) {
	for _, seed := range []uint64{1, rand.Uint64()} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			for n, hit := 1, true; hit; n++ {
				hit = pruneWithPowerLoss(t, seed, n)
			}
		})
	}
}

// pruneWithPowerLoss reports whether the power went.
func pruneWithPowerLoss(t *testing.T, seed uint64, n int) bool {
	a := newAged(t, seed)
	segments, before, good := a.segments(), stored(t, a.fs), a.checkpoint()
	first := segments[3].First
	a.fs.CrashAfter(n)
	_, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: first, Checkpoint: good})
	crashed := errors.Is(err, crashfs.ErrPowerLost) || errors.Is(err, ledger.ErrUnavailable)
	if !crashed {
		require.NoError(t, err)
	}
	_ = a.ledger.Close(context.Background())

	// A second power loss may meet the opening that completes the removal.
	a.fs = a.fs.Reboot()
	a.requireWholeBehind(before, first)
	if len(intact(t, a.fs)) == linesIn(a.fs, a.segments()) {
		a.requireVerified(good) // also if the removal is not complete
	}
	a.options.FS = a.fs
	a.fs.CrashAfter(1 + int(seed+uint64(n))%40)
	if l, err := ledger.Open(t.Context(), a.options); err == nil {
		_ = l.Close(context.Background())
	}
	a.fs = a.fs.Reboot()
	a.requireWholeBehind(before, first)
	if n%3 == 0 {
		a.options.IndexDir = t.TempDir()
	}
	a.open()
	left := stored(t, a.fs)
	if pruned := prunedOf(t, left); pruned == nil {
		require.Equal(t, uint64(1), left[0].Header.Sequence, "nothing was announced")
	} else {
		requireAnchored(t, left)
		require.Equal(t, first, pruned.FirstSequence)
		require.Equal(t, good.Root, rootOf(t, pruned, left[:good.Size-first+1]))
	}
	repeats := 0
	for _, r := range appendAll(t, a.ledger, batch(t, 0, 20)...) {
		if r.Repeat {
			repeats++
		}
	}
	if left[0].Header.Sequence > 1 {
		require.Less(t, repeats, 20)
	} else {
		require.Equal(t, 20, repeats)
	}
	for name, n := range countIDs(t, stored(t, a.fs)) {
		require.Equal(t, 1, n, name)
	}
	closeLedger(t, a.ledger)
	a.requireVerified(good)
	return crashed
}

// requireWholeBehind demands that what is on the disk is a whole journal that
// begins at the beginning of a segment, and that nothing is gone without having
// been announced.
func (a *aged) requireWholeBehind(before []*journal.Entry, first uint64) {
	a.t.Helper()
	left := intact(a.t, a.fs)
	begins := left[0].Header.Sequence
	require.LessOrEqual(a.t, begins, first)
	if begins > 1 {
		require.NotNil(a.t, prunedOf(a.t, left), "entries before %d are gone", begins)
	}
	for _, e := range before[begins-1:] {
		require.Equal(a.t, e.Integrity.RecordHash, left[e.Header.Sequence-begins].Integrity.RecordHash)
	}
}

// requireVerified demands that the verifier accepts what is on the disk, together
// with a checkpoint from before.
func (a *aged) requireVerified(checkpoint *journal.SignedCheckpoint) {
	a.t.Helper()
	dir, outside := a.t.TempDir(), a.t.TempDir()
	for _, s := range a.segments() {
		name := segment.Name(s.First)
		require.NoError(a.t, os.WriteFile(filepath.Join(dir, name), a.fs.Bytes(a.options.Dir+"/"+name), 0o600))
	}
	require.NoError(a.t, os.WriteFile(filepath.Join(outside, fmt.Sprintf("%020d.checkpoint", checkpoint.Size)), checkpoint.Note, 0o600))
	registry := &journal.Registry{}
	require.NoError(a.t, registry.Add(journal.Key{
		ID: signer.KeyID(), PublicKey: signer.PublicKey(), ValidFrom: record.NewTime(newClock().Now().AddDate(-1, 0, 0)),
	}))
	checkpoints := journal.ReadCheckpoints([]string{outside}, registry, nil)
	require.Empty(a.t, checkpoints.Problems())
	sources, err := journal.Open(dir)
	require.NoError(a.t, err)
	report, err := journal.Verify(a.t.Context(), sources[0], journal.Options{Registry: registry, Checkpoints: checkpoints})
	require.NoError(a.t, err)
	require.Zero(a.t, report.ExitCode(), "%+v", report)
	require.Equal(a.t, journal.Valid, report.FirstLink)
	require.Equal(a.t, checkpoint.Size, report.Outside.TailTo)
}

// linesIn counts the lines of segments, whole or not.
func linesIn(fs *crashfs.FS, segments []segment.Info) (n int) {
	for _, s := range segments {
		b := fs.Bytes(dir + "/" + segment.Name(s.First))
		n += bytes.Count(b, []byte{'\n'})
		if len(b) > 0 && b[len(b)-1] != '\n' {
			n++
		}
	}
	return n
}

// Every operation of a pruning fails once, before or after it took effect. The
// journal goes on without a restart, and asking again completes the pruning.
func TestAFaultInAPruningIsSurvivedAndAskingAgainCompletesIt(t *testing.T) {
	for _, fault := range []crashfs.Fault{
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseUnseen},
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseSeen},
		{Err: syscall.EIO, After: true},
	} {
		t.Run(fmt.Sprintf("%+v", fault), func(t *testing.T) {
			for n, hit := 1, true; hit; n++ {
				hit = pruneWithFault(t, n, fault)
			}
		})
	}
}

func pruneWithFault(t *testing.T, n int, fault crashfs.Fault) (hit bool) {
	a := newAged(t, uint64(n))
	before, good := stored(t, a.fs), a.checkpoint()
	first := a.segments()[3].First
	at := a.fs.Ops() + n
	a.fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.N == at {
			hit = true
			return fault
		}
		return crashfs.Fault{}
	})
	p := ledger.Pruning{FirstSequence: first, Checkpoint: good}
	_, err := a.ledger.Prune(t.Context(), p)
	appendUntilDurable(t, a.ledger, batch(t, 100, 101)...)
	a.fs.SetFaults(nil)
	a.requireWholeBehind(before, first)
	if err != nil {
		_, err = a.ledger.Prune(t.Context(), p)
	}
	require.NoError(t, err)
	left := stored(t, a.fs)
	requireAnchored(t, left)
	require.Equal(t, 1, countOf(left, record.EventJournalPruned), "it is announced once")
	appendUntilDurable(t, a.ledger, batch(t, 101, 102)...)
	closeLedger(t, a.ledger)
	return hit
}

func countOf(entries []*journal.Entry, eventType string) (n int) {
	for _, e := range entries {
		if e.Header.EventType == eventType {
			n++
		}
	}
	return n
}

// Many prunings, holds and crashes in one life after the other.
func TestPruningAndHoldsThroughManyCrashes(t *testing.T) {
	prunings := 0
	defer func() { require.Positive(t, prunings) }()
	for _, seed := range []uint64{1, 2, 3, rand.Uint64()} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			a := newAged(t, seed)
			all := stored(t, a.fs)
			held, unsure := false, false
			next := 20
			for range 12 {
				a.fs.CrashAfter(20 + rng.IntN(200))
				for ok := true; ok; {
					switch rng.IntN(4) {
					case 0:
						hold := record.Hold{HoldID: "case"}
						change := a.ledger.SetHold
						if held {
							change = a.ledger.LiftHold
						}
						_, err := change(t.Context(), hold)
						ok, unsure = err == nil, err != nil
						held = held != ok
					case 1:
						all = merged(all, intact(t, a.fs))
						segments, err := segment.List(a.fs, dir)
						if err != nil {
							ok = false
							continue
						}
						first := segments[rng.IntN(len(segments))].First
						if a.clock.advance(retention.Day); first < 2 {
							continue
						}
						_, err = a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: first, Checkpoint: checkpointOf(t, signer, all)})
						if held {
							require.Error(t, err)
						} else if err == nil {
							prunings++
						}
						ok = err == nil || errors.Is(err, ledger.ErrHeld)
					default:
						_, err := a.ledger.Append(t.Context(), batch(t, next, next+3))
						next += 3
						ok = err == nil
					}
				}
				_ = a.ledger.Close(context.Background())
				a.fs = a.fs.Reboot()
				if rng.IntN(3) == 0 {
					a.options.IndexDir = t.TempDir()
				}
				a.open()
				left := stored(t, a.fs)
				if begins := left[0].Header.Sequence; begins > 1 {
					pruned := prunedOf(t, left)
					require.NotNil(t, pruned)
					require.GreaterOrEqual(t, pruned.FirstSequence, begins)
				}
				all = merged(all, left)
				s, err := a.ledger.Standing(t.Context())
				require.NoError(t, err)
				if !unsure {
					require.Equal(t, held, len(s.Holds) > 0)
				}
				held, unsure = len(s.Holds) > 0, false
			}
			closeLedger(t, a.ledger)
		})
	}
}

// merged returns all entries that were ever seen, by what is left of them now. A
// crash takes back only what nobody was told of.
func merged(all, left []*journal.Entry) []*journal.Entry {
	if len(left) == 0 {
		return all // the power is gone
	}
	begins := left[0].Header.Sequence
	return append(all[:begins-1:begins-1], left...)
}
