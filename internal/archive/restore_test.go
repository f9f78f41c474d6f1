// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

func restore(t *testing.T, b *archive.Bucket, dir string) (*archive.Restored, error) {
	t.Helper()
	copies, _, err := b.Copies(t.Context())
	require.NoError(t, err)
	require.Len(t, copies, 1)
	return b.Restore(t.Context(), durable.OS{}, dir, copies[0])
}

func TestAnArchiveIsRestoredToADirectory(t *testing.T) {
	server, w, b := pushed(t, 4)
	place := "readtrail/bank%2FEU/kyc/reads/" + w.JournalID
	server.Put(place+"/tiles/tile/0/x001/067", s3test.Version{Data: []byte("tile")})
	server.Put(place+"/checkpoints/00000000000000000003.checkpoint", s3test.Version{Data: []byte("note")})
	server.NoChecksums = true
	dir := t.TempDir()
	done, err := restore(t, b, dir)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "bank%2FEU", "kyc", "reads", w.JournalID), done.Dir)
	assert.Equal(t, []int{5, 0}, []int{done.Files, done.Present})
	for first := 1; first <= 3; first++ {
		assert.Equal(t, read(t, w.path(segmentName(first))), read(t, filepath.Join(done.Dir, segmentName(first))))
	}
	assert.Equal(t, "tile", string(read(t, filepath.Join(done.Dir, "tiles", "tile", "0", "x001", "067"))))
	assert.Equal(t, "note", string(read(t, filepath.Join(done.Dir, "checkpoints", "00000000000000000003.checkpoint"))))
	sources, err := journal.Open(dir)
	require.NoError(t, err)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: w.registry})
	require.NoError(t, err)
	require.Nil(t, report.FirstBad)
}

func TestARestoreGoesOnWhereItWasInterrupted(t *testing.T) {
	server, w, b := pushed(t, 4)
	dir := t.TempDir()
	gets := 0
	server.Fail(func(operation, _ string) s3test.Fault {
		if operation == "GetObject" {
			gets++
		}
		if gets > 1 {
			return s3test.Dropped
		}
		return s3test.Works
	})
	_, err := restore(t, b, dir)
	require.ErrorContains(t, err, "restore s3://evidence/"+key(w, segmentName(2)))
	server.Fail(nil)
	partial := filepath.Join(dir, "bank%2FEU", "kyc", "reads", w.JournalID, segmentName(2)+".partial")
	assert.NoFileExists(t, partial)
	require.NoError(t, os.WriteFile(partial, []byte("what a crash left"), 0o600))
	done, err := restore(t, b, dir)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 1}, []int{done.Files, done.Present})
	assert.NoFileExists(t, partial)
}

func TestARestoreOverwritesNothing(t *testing.T) {
	_, w, b := pushed(t, 4)
	dir := t.TempDir()
	path := filepath.Join(dir, "bank%2FEU", "kyc", "reads", w.JournalID, segmentName(2))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("another\n"), 0o600))
	_, err := restore(t, b, dir)
	require.ErrorIs(t, err, archive.ErrOther)
	assert.Equal(t, "another\n", string(read(t, path)))
}

func TestBytesThatAreNotThoseOfTheirDigestAreNotRestored(t *testing.T) {
	server, w, b := pushed(t, 4)
	server.Change(key(w, segmentName(2)), func(v *s3test.Version) { v.Data[9] ^= 1 })
	dir := t.TempDir()
	_, err := restore(t, b, dir)
	require.ErrorContains(t, err, "are not those whose digest it keeps")
	assert.NoFileExists(t, filepath.Join(dir, "bank%2FEU", "kyc", "reads", w.JournalID, segmentName(2)))
}
