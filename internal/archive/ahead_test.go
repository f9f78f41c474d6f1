// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
)

// rollBack takes the segments of a journal away from one on, and puts them back at the
// end of the test.
func rollBack(t *testing.T, w *written, from, to int) (back func()) {
	t.Helper()
	kept := map[string][]byte{}
	for i := from; i <= to; i++ {
		path := w.path(segmentName(i))
		kept[path] = read(t, path)
		require.NoError(t, os.Remove(path))
	}
	return func() {
		for path, data := range kept {
			require.NoError(t, os.WriteFile(path, data, 0o600))
		}
	}
}

func TestNothingIsStoredWhileTheArchiveIsAheadOfTheJournal(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 6)
	_, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	server.Forget(key(w, segmentName(2)))
	back := rollBack(t, w, 4, 6)
	a := open(t, settings(server), policy)
	for range 2 { // it is not forgotten
		status, err := a.Push(t.Context(), w.Journal)
		require.NoError(t, err)
		require.ErrorIs(t, status.Ahead, archive.ErrAhead)
		require.ErrorContains(t, status.Err(), key(w, segmentName(3)), "the lowest: here it is not sealed")
		assert.True(t, status.Contradicted())
		assert.Zero(t, status.Stored)
		assert.Empty(t, server.Versions(key(w, segmentName(2))))
	}
	back()
	status, err := a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.Equal(t, 1, status.Stored)
}

func TestAJournalThatSealedNothingIsHeldAgainstItsArchiveOnce(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 4)
	_, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	rollBack(t, w, 2, 4)
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.ErrorIs(t, status.Err(), archive.ErrAhead)

	empty := startServer(t)
	a := open(t, settings(empty), policy)
	status, err = a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
	assert.Equal(t, []string{"GetObjectLockConfiguration", "ListObjectVersions"}, empty.Calls())
	_, err = a.Push(t.Context(), w.Journal)
	require.NoError(t, err)
	assert.Empty(t, empty.Calls())
}

func TestAWrongBucketIsFoundOutBeforeASegmentIsSealed(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 3)
	rollBack(t, w, 2, 3)
	server.NoObjectLock = true
	_, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.ErrorIs(t, err, archive.ErrNoObjectLock)
}

// What was pruned here stays in the archive: that is no contradiction.
func TestAnArchiveMayHoldWhatWasPruned(t *testing.T) {
	server, w := startServer(t), writeJournal(t, 6)
	_, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	rollBack(t, w, 1, 3)
	status, err := open(t, settings(server), policy).Push(t.Context(), w.Journal)
	require.NoError(t, err)
	require.NoError(t, status.Err())
}
