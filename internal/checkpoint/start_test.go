// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/internal/ledger"
)

func TestAJournalThatASinkContradictsIsNotOpened(t *testing.T) {
	r := newRig(t)
	path := r.directory("offsite")
	r.open()
	r.append(25)
	r.close()
	segments, err := filepath.Glob(filepath.Join(r.dir, "*.events"))
	require.NoError(t, err)
	require.Len(t, segments, 1)
	whole, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")

	// An old copy: the last entries are gone.
	require.NoError(t, os.WriteFile(segments[0], []byte(strings.Join(lines[:12], "")), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "index")))
	err = r.tryOpen()
	require.ErrorContains(t, err, "rolled back")
	got, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	assert.Equal(t, strings.Join(lines[:12], ""), string(got), "nothing was written behind it")

	// Another history that is longer.
	other := newRig(t)
	other.dir, other.options.Dir = r.dir, r.dir
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "tiles")))
	other.n = 1000
	other.open()
	other.append(60)
	other.close()
	err = r.tryOpen()
	require.ErrorContains(t, err, "other entries at size")
	require.ErrorContains(t, err, "offsite")

	// The sink is not asked, because it is not there.
	require.NoError(t, os.Rename(path, path+".away"))
	require.NoError(t, r.tryOpen())
	r.failing("offsite", checkpoint.ReasonUnreachable)
	// It comes back, and is not added to.
	before := len(kept(t, path+".away"))
	require.NoError(t, os.Rename(path+".away", path))
	r.append(20)
	require.ErrorContains(t, r.failing("offsite", checkpoint.ReasonConflict), "other entries")
	r.append(20)
	r.close()
	assert.Len(t, kept(t, path), before)
	assert.Contains(t, strings.Join(r.gaps(), ","), "offsite open")
}

func TestATailThatASinkCountsIsNotCut(t *testing.T) {
	r := newRig(t)
	r.directory("offsite")
	r.open()
	r.append(25)
	r.close()
	segments, err := filepath.Glob(filepath.Join(r.dir, "*.events"))
	require.NoError(t, err)
	require.Len(t, segments, 1)
	whole, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	for name, without := range map[string]string{"the cached tree": "index", "a tree from the segments": "tiles"} {
		require.NoError(t, os.RemoveAll(filepath.Join(r.dir, without)))
		for _, at := range []int{len(whole) / 2, len(whole) - 10} {
			damaged := slices.Clone(whole)
			damaged[at] ^= 1
			require.NoError(t, os.WriteFile(segments[0], damaged, 0o600))
			err = r.tryOpen()
			require.ErrorIs(t, err, ledger.ErrContradicted, name)
			require.ErrorContains(t, err, "nothing was changed", name)
			got, err := os.ReadFile(segments[0])
			require.NoError(t, err)
			require.Equal(t, damaged, got, name)
			torn, err := filepath.Glob(filepath.Join(r.dir, "*.torn"))
			require.NoError(t, err)
			require.Empty(t, torn, name)
		}
	}
	require.NoError(t, os.WriteFile(segments[0], whole, 0o600))
	require.NoError(t, r.tryOpen())
	r.close()
}

func TestAWitnessIsAskedBeforeAnythingIsWritten(t *testing.T) {
	r := newRig(t)
	w := r.witness("one")
	r.open()
	last := r.append(25)
	r.took("one", last-9)
	r.close()
	id := kept1(t, r)
	good := w.Latest(id)

	fork := good
	fork.Root[0] ^= 1
	w.Force(fork)
	require.ErrorContains(t, r.tryOpen(), "the witness cosigned other entries")
	fork.Size -= 3
	w.Force(fork)
	require.ErrorContains(t, r.tryOpen(), "the witness cosigned other entries")
	larger := good
	larger.Size += 100
	w.Force(larger)
	require.ErrorContains(t, r.tryOpen(), "one holds a checkpoint of "+id+" with")
	assert.Len(t, r.entries(), int(good.Size), "nothing was written")
	w.Force(good)
	r.open()
	r.took("one", good.Size+1)

	// It is forked while the journal runs.
	w.Force(fork)
	r.append(20)
	r.failing("one", checkpoint.ReasonConflict)
	r.append(20)
	r.close()
	assert.Contains(t, r.gaps(), "one open conflict")
	assert.Equal(t, fork, w.Latest(id), "it is left alone")
}

// kept1 returns the id of the rig's journal.
func kept1(t testing.TB, r *rig) string {
	entries := r.entries()
	require.NotEmpty(t, entries)
	return entries[0].Header.JournalID
}

func TestAJournalOpensWhenNobodyCanBeAsked(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(nil)
	server.Close()
	w := checkpointtest.NewWitness(t, "one.example", signer.PublicKey())
	r.options.Attesters = append(r.options.Attesters, checkpoint.NewWitness("one", server.URL, server.Client(), w.Key))
	stranger := checkpointtest.NewWitness(t, "two.example", second.PublicKey())
	server2 := httptest.NewServer(stranger)
	t.Cleanup(server2.Close)
	r.options.Attesters = append(r.options.Attesters, checkpoint.NewWitness("two", server2.URL, server2.Client(), stranger.Key))
	r.open()
	r.close()
	r.open()
	r.failing("one", checkpoint.ReasonUnreachable)
	require.ErrorContains(t, r.failing("two", checkpoint.ReasonRefused), "does not know the key")
	r.append(1)
}
