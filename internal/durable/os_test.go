// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/readtrail/readtrail/internal/durable"
)

func TestASecondLockOfADirectoryIsRefusedUntilTheFirstIsReleased(t *testing.T) {
	dir := t.TempDir()
	first, err := durable.OS{}.Lock(dir)
	require.NoError(t, err)
	_, err = durable.OS{}.Lock(dir)
	require.ErrorIs(t, err, durable.ErrLocked)
	require.NoError(t, first.Close())
	second, err := durable.OS{}.Lock(dir)
	require.NoError(t, err)
	require.NoError(t, second.Close())

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, "the lock leaves no file")
}

func TestCreateRefusesAFileThatExists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f, err := durable.OS{}.Create(path)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = durable.OS{}.Create(path)
	require.ErrorIs(t, err, fs.ErrExist)
}

func TestMkdirAllCreatesWhatIsMissingAndTakesWhatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	require.NoError(t, durable.OS{}.MkdirAll(dir))
	require.NoError(t, durable.OS{}.MkdirAll(dir))
	require.DirExists(t, dir)

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{file, filepath.Join(file, "below"), filepath.Join(file, "far", "below")} {
		require.ErrorContains(t, durable.OS{}.MkdirAll(path), file+": a file has that name; move it away")
	}
}

func TestALockTellsThatItsDirectoryIsNoLongerTheOneAtThePath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reads")
	require.NoError(t, os.Mkdir(dir, 0o700))
	lock, err := durable.OS{}.Lock(dir)
	require.NoError(t, err)
	require.NoError(t, lock.Check())
	require.NoError(t, os.Rename(dir, dir+".away"))
	require.ErrorIs(t, lock.Check(), fs.ErrNotExist)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.ErrorIs(t, lock.Check(), durable.ErrGone)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Rename(dir+".away", dir))
	require.NoError(t, lock.Check())
	require.NoError(t, lock.Close())
}

func TestAFileTellsThatItLostItsNameOrHasAnotherSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f, err := durable.OS{}.Create(path)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("hello"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Check(5))
	require.ErrorIs(t, f.Check(4), durable.ErrSize)
	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, f.Check(5), durable.ErrGone)
	require.NoError(t, f.Close())
}

func TestListGivesRegularFilesSortedByName(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("xyz"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "index"), 0o700))
	files, err := durable.OS{}.List(dir)
	require.NoError(t, err)
	require.Equal(t, []durable.Info{{Name: "a"}, {Name: "b", Size: 3}}, files)

	files, err = durable.OS{}.List(filepath.Join(dir, "absent"))
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestAFileIsWrittenCutAndReadAtOffsets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f, err := durable.OS{}.Create(path)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("hello world"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(5))
	require.NoError(t, f.Sync())
	require.NoError(t, durable.OS{}.SyncDir(filepath.Dir(path)))
	require.NoError(t, f.Close())

	r, err := durable.OS{}.Open(path)
	require.NoError(t, err)
	size, err := r.Size()
	require.NoError(t, err)
	got := make([]byte, size)
	_, err = r.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, "hello", string(got))
	require.NoError(t, r.Close())
}

func TestARenamedFileHasItsNewNameOnlyAndDirectoriesAreListed(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "sub", "b")
	require.NoError(t, os.WriteFile(from, []byte("new"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, os.WriteFile(to, []byte("old"), 0o600))
	require.NoError(t, durable.OS{}.Rename(from, to))
	require.NoFileExists(t, from)
	got, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	require.NoError(t, durable.OS{}.Unlink(to))
	require.NoFileExists(t, to)

	require.NoError(t, os.Symlink("sub", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for path, want := range map[string][]string{dir: {"link", "sub"}, to: nil, filepath.Join(dir, "none"): nil} {
		names, err := durable.OS{}.ListDirs(path)
		require.NoError(t, err)
		require.Equal(t, want, names)
	}
}

func TestAPipeIsNotOpened(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	_, err := durable.OS{}.Open(pipe)
	require.ErrorContains(t, err, "not a regular file")
	_, err = durable.OS{}.Open(pipe + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
