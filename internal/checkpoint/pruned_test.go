// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
)

// whole is the tree over all entries that a journal ever had, also those that it
// has no more.
type whole struct {
	*rig
	tree *tiles.Tree
}

// catchUp adds the entries that came since.
func (w *whole) catchUp() {
	for _, e := range w.entries() {
		if e.Header.Sequence == w.tree.Size()+1 {
			require.NoError(w.t, w.tree.Append(e.PayloadDigest()))
		}
	}
}

// requireAll demands that every checkpoint in a directory is one of the whole
// journal.
func (w *whole) requireAll(path string) {
	w.t.Helper()
	w.catchUp()
	for _, c := range kept(w.t, path) {
		root, err := w.tree.Root(c.Size)
		require.NoError(w.t, err)
		require.Equal(w.t, root, c.Root, "size %d", c.Size)
	}
}

func TestCheckpointsGoOnOverWhatWasPruned(t *testing.T) {
	r := newRig(t)
	w := &whole{r, tiles.New(durable.OS{}, t.TempDir())}
	path := r.directory("offsite")
	r.witness("one")
	r.open()
	mark := r.append(300)
	r.took("offsite", mark-9)
	w.catchUp()
	segments, err := segment.List(durable.OS{}, r.dir)
	require.NoError(t, err)
	require.Greater(t, len(segments), 4)
	all := kept(t, path)
	pruned, err := r.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[3].First, Checkpoint: all[len(all)-1]})
	require.NoError(t, err)
	require.Equal(t, segments[3].First, pruned.FirstSequence)
	mark = r.append(20)
	r.took("one", mark-9)
	r.close()
	w.requireAll(path)

	for range 2 { // with the tiles that stayed, and without
		r.open()
		mark = r.append(300)
		r.took("offsite", mark-9)
		r.took("one", mark-9)
		r.close()
		w.requireAll(path)
		require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "tiles")))
	}
	r.open()
	r.close()
	w.requireAll(path)
	assert.Empty(t, r.gaps())
	assert.Empty(t, r.failed)

	// A journal that lost its beginning without saying so has no tree.
	segments, err = segment.List(durable.OS{}, r.dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(r.dir, segment.Name(segments[0].First))))
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "tiles")))
	entries := r.entries()
	_, _, err = checkpoint.OpenTree(t.Context(), checkpoint.Journal{
		FS: durable.OS{}, Dir: r.dir, ID: entries[0].Header.JournalID, Trusted: func(*journal.SignedCheckpoint) bool { return true }, Scratch: t.TempDir(),
	})
	require.ErrorContains(t, err, "no journal.pruned says what was before")
}

// A disk that is full keeps the tree from being saved while checkpoints go out: what
// they cover can be pruned past the tree that was saved last.
func TestATreeThatEndsBeforeWhatWasPrunedIsBuiltAgain(t *testing.T) {
	r := newRig(t)
	w := &whole{r, tiles.New(durable.OS{}, t.TempDir())}
	path := r.directory("offsite")
	r.open()
	mark := r.append(20)
	r.took("offsite", mark-9)
	r.close()
	head := filepath.Join(r.dir, "tiles", "head")
	old, err := os.ReadFile(head)
	require.NoError(t, err)
	r.open()
	mark = r.append(300)
	r.took("offsite", mark-9)
	w.catchUp()
	segments, err := segment.List(durable.OS{}, r.dir)
	require.NoError(t, err)
	require.Greater(t, len(segments), 4)
	all := kept(t, path)
	_, err = r.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[3].First, Checkpoint: all[len(all)-1]})
	require.NoError(t, err)
	r.close()
	w.catchUp()
	require.NoError(t, os.WriteFile(head, old, 0o600))

	r.open()
	mark = r.append(30)
	r.took("offsite", mark-9)
	r.close()
	w.requireAll(path)
	assert.Empty(t, r.failed)
}

func TestAnObserverIsToldWhileCheckpointsCannotBeMade(t *testing.T) {
	r := newRig(t)
	r.options.Interval = 50 * time.Millisecond
	r.directory("offsite")
	var states []error
	r.options.Observer.State = func(err error) { r.note(func() { states = append(states, err) }) }
	r.open()
	mark := r.append(300)
	r.took("offsite", mark-9)
	r.close()
	assert.Equal(t, []error{nil}, slices.Compact(states))
	segments, err := segment.List(durable.OS{}, r.dir)
	require.NoError(t, err)
	require.Greater(t, len(segments), 2)
	path := filepath.Join(r.dir, segment.Name(segments[1].First))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	flipped := bytes.Clone(text)
	flipped[len(flipped)/2] ^= 1
	require.NoError(t, os.WriteFile(path, flipped, 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "tiles")))

	r.open()
	r.until("checkpoints cannot be made", func() bool { return states[len(states)-1] != nil })
	require.ErrorContains(t, states[len(states)-1], "run readtrail verify")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	r.until("checkpoints are made again", func() bool { return states[len(states)-1] == nil })
	r.close()
}
