// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/evidence"
)

// The simulation: put from several callers, lose power anywhere, come back;
// afterwards every copy that was acknowledged is there and whole, and so is
// everything else that has the name of an object.
func TestWhatWasAcknowledgedSurvivesEveryCrash(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	identity := newIdentity(t)
	sets := kyc(t, identity)
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			fs := crashfs.New(seed)
			var mu sync.Mutex
			acknowledged, tried := map[string]carrier.Copy{}, map[string]carrier.Copy{}
			for range 12 {
				fs.CrashAfter(1 + rng.IntN(120))
				store := reopen(t, fs, sets, crashfs.ErrPowerLost)
				var wg sync.WaitGroup
				for range 3 {
					rng := rand.New(rand.NewPCG(rng.Uint64(), 1))
					wg.Go(func() {
						for store != nil {
							copies := someCopies(rng)
							mu.Lock()
							note(tried, copies)
							mu.Unlock()
							if _, err := store.Put(context.Background(), "bank", "kyc", copies); err != nil {
								return
							}
							mu.Lock()
							note(acknowledged, copies)
							mu.Unlock()
						}
					})
				}
				wg.Wait()
				fs = fs.Reboot()
			}
			require.NotEmpty(t, acknowledged)
			r := readerOf(fs, identity)
			for _, c := range acknowledged {
				got, err := get(t, r, c)
				require.NoError(t, err)
				require.Equal(t, string(c.Content), got)
			}
			requireNoneTorn(t, r, tried)
		})
	}
}

// reopen returns nil if the store could not be opened for the reason given.
func reopen(t *testing.T, fs *crashfs.FS, sets []evidence.Set, reason error) *evidence.Store {
	t.Helper()
	place, err := evidence.OpenLocal(fs, root)
	if err != nil {
		require.ErrorIs(t, err, reason)
		return nil
	}
	store, err := evidence.NewStore(t.Context(), place, sets)
	if err != nil {
		require.ErrorIs(t, err, reason)
		return nil
	}
	return store
}

func someCopies(rng *rand.Rand) (copies []carrier.Copy) {
	for range 1 + rng.IntN(4) {
		copies = append(copies, copyOf(strings.Repeat(fmt.Sprintf("content %d ", rng.IntN(200)), 1+rng.IntN(200))))
	}
	return copies
}

func note(all map[string]carrier.Copy, copies []carrier.Copy) {
	for _, c := range copies {
		all[c.Digest] = c
	}
}

// requireNoneTorn demands that what has the name of an object is one.
func requireNoneTorn(t *testing.T, r *evidence.Reader, tried map[string]carrier.Copy) {
	t.Helper()
	for _, c := range tried {
		if err := r.Check(t.Context(), "bank", "kyc", digestOf(t, c)); err != nil {
			require.ErrorIs(t, err, evidence.ErrMissing)
		}
	}
}

// Every operation of a short life fails once, before or after it took effect.
// The caller is told or the copies are there; it puts again, and they are.
func TestAFaultInAnyOperationLosesNothing(t *testing.T) {
	identity := newIdentity(t)
	sets := kyc(t, identity)
	for _, fault := range []crashfs.Fault{
		{Err: syscall.EIO},
		{Err: syscall.EIO, After: true},
		{Err: syscall.ENOSPC, Short: true, Loss: crashfs.LoseUnseen},
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseSeen},
	} {
		t.Run(fmt.Sprintf("%+v", fault), func(t *testing.T) {
			for n, hit := 1, true; hit; n++ {
				hit = lifeWithFault(t, sets, identity, n, fault)
			}
		})
	}
}

// lifeWithFault reports whether the life had an n-th operation.
func lifeWithFault(t *testing.T, sets []evidence.Set, identity *age.X25519Identity, n int, fault crashfs.Fault) bool {
	fs := crashfs.New(uint64(n))
	fs.FailAt(n, fault)
	var store *evidence.Store
	for store == nil {
		place, err := evidence.OpenLocal(fs, root)
		if err != nil {
			require.ErrorIs(t, err, fault.Err)
			continue
		}
		if store, err = evidence.NewStore(t.Context(), place, sets); err != nil {
			require.ErrorIs(t, err, fault.Err)
			require.NoError(t, place.Close())
		}
	}
	batches := [][]carrier.Copy{{copyOf("a"), copyOf("b")}, {copyOf("b"), copyOf("c")}, {copyOf("d")}}
	for _, copies := range batches {
		for {
			_, err := store.Put(t.Context(), "bank", "kyc", copies)
			if err == nil {
				break
			}
			require.ErrorIs(t, err, fault.Err)
		}
	}
	operations := fs.Ops()
	r := readerOf(fs.Reboot(), identity)
	for _, copies := range batches {
		for _, c := range copies {
			require.NoError(t, r.Check(t.Context(), "bank", "kyc", digestOf(t, c)))
		}
	}
	return n <= operations
}

func TestAFullDiskIsAnErrorAndLeavesNothingBehindUntilThereIsRoom(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	store := openStore(t, fs, kyc(t, identity))
	put(t, store, copyOf("first"))
	before := fs.Used()
	fs.SetCapacity(before + 100)
	c := copyOf(strings.Repeat("x", 1000))
	for range 3 {
		_, err := store.Put(t.Context(), "bank", "kyc", []carrier.Copy{c})
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.Equal(t, before, fs.Used())
	}
	require.ErrorIs(t, readerOf(fs, identity).Check(t.Context(), "bank", "kyc", digestOf(t, c)), evidence.ErrMissing)
	fs.SetCapacity(0)
	put(t, store, c)
	require.NoError(t, readerOf(fs, identity).Check(t.Context(), "bank", "kyc", digestOf(t, c)))
}

func TestADirectoryThatWentAwayIsNotWrittenBeside(t *testing.T) {
	fs, identity := crashfs.New(1), newIdentity(t)
	store := openStore(t, fs, kyc(t, identity))
	put(t, store, copyOf("a"))
	fs.Move(root, "/away")
	_, err := store.Put(t.Context(), "bank", "kyc", []carrier.Copy{copyOf("b")})
	require.Error(t, err)
	require.Nil(t, fs.Bytes(nameOf(copyOf("b"))))
	fs.Move("/away", root)
	put(t, store, copyOf("b"))
}
