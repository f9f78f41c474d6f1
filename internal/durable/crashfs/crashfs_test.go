// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package crashfs_test

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
)

func create(t *testing.T, fs durable.FS, path string) durable.File {
	t.Helper()
	require.NoError(t, fs.MkdirAll("/j"))
	f, err := fs.Create(path)
	require.NoError(t, err)
	return f
}

func write(t *testing.T, f durable.File, b []byte, at int64) {
	t.Helper()
	_, err := f.WriteAt(b, at)
	require.NoError(t, err)
}

func TestWhatWasSyncedSurvivesEveryCrash(t *testing.T) {
	for seed := range uint64(100) {
		fs := crashfs.New(seed)
		f := create(t, fs, "/j/a")
		durableBytes := bytes.Repeat([]byte("x"), 700)
		write(t, f, durableBytes, 0)
		require.NoError(t, f.Sync())
		require.NoError(t, fs.SyncDir("/j"))
		write(t, f, bytes.Repeat([]byte("y"), 3000), 700)

		found := fs.Reboot().Bytes("/j/a")
		require.GreaterOrEqual(t, len(found), 700)
		require.Equal(t, durableBytes, found[:700])
		require.LessOrEqual(t, len(found), 3700)
	}
}

func TestUnsyncedWritesAndNamesAreKeptLostAndTorn(t *testing.T) {
	var kept, lost, torn, unnamed int
	for seed := range uint64(200) {
		fs := crashfs.New(seed)
		f := create(t, fs, "/j/a")
		write(t, f, bytes.Repeat([]byte("y"), 3000), 0)
		found := fs.Reboot().Bytes("/j/a")
		switch {
		case found == nil:
			unnamed++
		case len(found) == 0:
			lost++
		case bytes.Equal(found, bytes.Repeat([]byte("y"), 3000)):
			kept++
		default:
			torn++
		}
	}
	for _, n := range []int{kept, lost, torn, unnamed} {
		require.Positive(t, n)
	}
}

func TestAFailedSyncThatMarksPagesCleanLosesThemInTheNextCrash(t *testing.T) {
	fs := crashfs.New(1)
	f := create(t, fs, "/j/a")
	require.NoError(t, fs.SyncDir("/j"))
	write(t, f, []byte("lost"), 0)
	fs.FailAt(fs.Ops()+1, crashfs.Fault{Err: syscall.EIO, Loss: crashfs.LoseUnseen})
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	require.Equal(t, "lost", string(fs.Bytes("/j/a")), "readers still see it")
	write(t, f, []byte("kept"), 4)
	require.NoError(t, f.Sync())
	require.Equal(t, "\x00\x00\x00\x00kept", string(fs.Reboot().Bytes("/j/a")))
}

func TestAFullDiskCutsAWriteShort(t *testing.T) {
	fs := crashfs.New(1)
	f := create(t, fs, "/j/a")
	fs.SetCapacity(6)
	n, err := f.WriteAt([]byte("12345678"), 0)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 6, n)
	fs.SetCapacity(0)
	write(t, f, []byte("12345678"), 0)
}

func TestAFileThatWasRemovedIsWrittenWithoutBeingThere(t *testing.T) {
	fs := crashfs.New(1)
	f := create(t, fs, "/j/a")
	require.NoError(t, fs.SyncDir("/j"))
	write(t, f, []byte("lost"), 0)
	require.NoError(t, f.Check(4))
	require.ErrorIs(t, f.Check(5), durable.ErrSize)
	fs.Move("/j", "/k")
	require.NoError(t, f.Check(4), "a directory that was moved has its files")
	fs.Remove("/k/a")
	require.NoError(t, f.Sync())
	require.ErrorIs(t, f.Check(4), durable.ErrGone)
	require.Nil(t, fs.Reboot().Bytes("/k/a"))
}

func TestALockIsThatOfADirectoryNotOfItsPath(t *testing.T) {
	fs := crashfs.New(1)
	require.NoError(t, fs.MkdirAll("/j"))
	lock, err := fs.Lock("/j")
	require.NoError(t, err)
	fs.Move("/j", "/k")
	require.Error(t, lock.Check())
	_, err = fs.Lock("/k")
	require.ErrorIs(t, err, durable.ErrLocked)
	require.NoError(t, fs.MkdirAll("/j"))
	require.ErrorIs(t, lock.Check(), durable.ErrGone)
	_, err = fs.Lock("/j")
	require.NoError(t, err)
}

func TestAfterTheCrashNothingWorks(t *testing.T) {
	fs := crashfs.New(1)
	f := create(t, fs, "/j/a")
	fs.CrashAfter(1)
	_, err := f.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, crashfs.ErrPowerLost)
	require.ErrorIs(t, f.Sync(), crashfs.ErrPowerLost)
	require.ErrorIs(t, fs.SyncDir("/j"), crashfs.ErrPowerLost)
	_, err = fs.Open("/j/a")
	require.True(t, errors.Is(err, crashfs.ErrPowerLost))
}

func TestARenameReplacesAndSurvivesOnlyWithItsDirectory(t *testing.T) {
	var both, old, moved, none int
	for seed := range uint64(200) {
		fs := crashfs.New(seed)
		f := create(t, fs, "/j/a")
		write(t, f, []byte("new"), 0)
		require.NoError(t, f.Sync())
		require.NoError(t, fs.SyncDir("/j"))
		require.NoError(t, fs.MkdirAll("/k/deep"))
		require.NoError(t, fs.Rename("/j/a", "/k/deep/b"))
		require.ErrorIs(t, fs.Rename("/j/a", "/k/deep/b"), iofs.ErrNotExist)
		require.Equal(t, "new", string(fs.Bytes("/k/deep/b")))
		require.Nil(t, fs.Bytes("/j/a"))
		after := fs.Reboot()
		switch a, b := after.Bytes("/j/a") != nil, after.Bytes("/k/deep/b") != nil; {
		case a && b:
			both++
		case a:
			old++
		case b:
			moved++
		default:
			none++
		}
	}
	for _, n := range []int{both, old, moved, none} {
		require.Positive(t, n)
	}
	fs := crashfs.New(1)
	f := create(t, fs, "/j/a")
	write(t, f, []byte("new"), 0)
	require.NoError(t, f.Sync())
	fs.Put("/k/deep/b", []byte("old"))
	require.NoError(t, fs.Rename("/j/a", "/k/deep/b"))
	require.NoError(t, fs.SyncDir("/k/deep"))
	fs = fs.Reboot()
	require.Equal(t, "new", string(fs.Bytes("/k/deep/b")))
	require.NoError(t, fs.Unlink("/k/deep/b"))
	require.ErrorIs(t, fs.Unlink("/k/deep/b"), iofs.ErrNotExist)
	require.NoError(t, fs.MkdirAll("/j/sub"))
	for dir, want := range map[string][]string{"/": {"j", "k"}, "/k": {"deep"}, "/j": {"sub"}, "/none": nil} {
		names, err := fs.ListDirs(dir)
		require.NoError(t, err)
		require.Equal(t, want, names, dir)
	}
}
