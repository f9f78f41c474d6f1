// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/segment"
)

func TestLinesAreReadBackAcrossRotationsAndReopening(t *testing.T) {
	for name, fs := range map[string]durable.FS{"crashfs": crashfs.New(1), "os": rooted{t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			limits := segment.Limits{MaxBytes: 200, MaxAge: time.Hour}
			w, _ := open(t, fs, limits)
			first := appendGroup(t, w, group(1, 2, 50))
			require.Equal(t, segment.Position{Segment: 1}, first)
			require.Equal(t, segment.Position{Segment: 3}, appendGroup(t, w, group(3, 2, 50)), "a full segment is rotated")
			require.NoError(t, w.Close())

			w, torn := open(t, fs, limits)
			require.Empty(t, torn)
			at := appendGroup(t, w, group(5, 1, 10))
			require.Equal(t, uint64(3), at.Segment)
			require.NoError(t, w.Close())
			require.Len(t, sequences(t, fs), 5)

			got, err := segment.ReadLine(fs, dir, at)
			require.NoError(t, err)
			require.Equal(t, string(line(5, 10)), string(got)+"\n")
			long := group(6, 1, 600_000)
			w, _ = open(t, fs, limits)
			at = appendGroup(t, w, long)
			got, err = segment.ReadLine(fs, dir, at)
			require.NoError(t, err)
			require.Len(t, got, len(long.Lines[0])-1)
			require.NoError(t, w.Close())
		})
	}
}

func TestASegmentIsRotatedByTheAgeOfItsFirstLine(t *testing.T) {
	fs := crashfs.New(1)
	w, _ := open(t, fs, segment.Limits{MaxBytes: 1 << 20, MaxAge: time.Minute})
	appendGroup(t, w, group(1, 1, 5))
	young := group(2, 1, 5)
	young.At = start.Add(59 * time.Second)
	require.Equal(t, uint64(1), appendGroup(t, w, young).Segment)
	held := group(3, 1, 5)
	held.At, held.Hold = start.Add(time.Hour), true
	require.Equal(t, uint64(1), appendGroup(t, w, held).Segment, "a held group stays")
	old := group(4, 1, 5)
	old.At = start.Add(time.Minute)
	require.Equal(t, segment.Position{Segment: 4}, appendGroup(t, w, old))
}

func TestAGroupBeyondTheLimitIsRefused(t *testing.T) {
	w, _ := open(t, crashfs.New(1), wide)
	_, err := w.Append(group(1, 5, 1<<20))
	require.ErrorContains(t, err, "group has")
	_, err = w.Append(group(1, 1, 1))
	require.Error(t, err, "a writer stays broken")
}

func TestNothingIsAcknowledgedBeforeItsSyncs(t *testing.T) {
	fs := crashfs.New(1)
	w, _ := open(t, fs, segment.Limits{MaxBytes: 1, MaxAge: time.Hour})
	var ops []crashfs.Kind
	fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		ops = append(ops, op.Kind)
		return crashfs.Fault{}
	})
	appendGroup(t, w, group(1, 3, 5))
	appendGroup(t, w, group(4, 1, 5))
	require.Equal(t, []crashfs.Kind{
		crashfs.OpCreate, crashfs.OpSyncDir, crashfs.OpWrite, crashfs.OpSync, crashfs.OpCheck,
		crashfs.OpOpen, crashfs.OpCreate, crashfs.OpSyncDir, crashfs.OpWrite, crashfs.OpSync, crashfs.OpCheck,
	}, ops)
}

func TestNothingIsAcknowledgedIntoAFileThatIsGoneOrNotOursAlone(t *testing.T) {
	for name, test := range map[string]struct {
		meddle func(*crashfs.FS, string)
		want   error
	}{
		"deleted":             {func(fs *crashfs.FS, path string) { fs.Remove(path) }, durable.ErrGone},
		"replaced":            {func(fs *crashfs.FS, path string) { fs.Put(path, fs.Bytes(path)) }, durable.ErrGone},
		"written by somebody": {func(fs *crashfs.FS, path string) { somebodyAppends(t, fs, path) }, durable.ErrSize},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			w, _ := open(t, fs, wide)
			appendGroup(t, w, group(1, 3, 5))
			test.meddle(fs, dir+"/"+segment.Name(1))
			_, err := w.Append(group(4, 1, 5))
			require.ErrorIs(t, err, test.want)
			_, err = w.Append(group(4, 1, 5))
			require.ErrorIs(t, err, test.want, "a writer stays broken")
		})
	}
}

// somebodyAppends writes more behind the end than one group has.
func somebodyAppends(t *testing.T, fs *crashfs.FS, path string) {
	t.Helper()
	f, err := fs.OpenFile(path)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, 1000), size)
	require.NoError(t, err)
}

func TestANewSegmentIsNotCreatedInADirectoryThatTookThePlaceOfTheJournals(t *testing.T) {
	fs := crashfs.New(1)
	w, _ := open(t, fs, segment.Limits{MaxBytes: 1, MaxAge: time.Hour})
	appendGroup(t, w, group(1, 3, 5))
	fs.Move(dir, "/elsewhere")
	other, _ := open(t, fs, wide)
	appendGroup(t, other, group(1, 1, 5))
	_, err := w.Append(group(4, 1, 5))
	require.ErrorIs(t, err, durable.ErrSize)
	appendGroup(t, other, group(2, 1, 5))
	require.Len(t, sequences(t, fs), 2)
}

// rooted puts the paths of a test under a directory of the real disk.
type rooted struct{ root string }

func (r rooted) MkdirAll(d string) error { return durable.OS{}.MkdirAll(r.root + d) }

func (r rooted) Create(p string) (durable.File, error) { return durable.OS{}.Create(r.root + p) }

func (r rooted) OpenFile(p string) (durable.File, error) { return durable.OS{}.OpenFile(r.root + p) }
func (r rooted) Open(p string) (durable.Reader, error)   { return durable.OS{}.Open(r.root + p) }
func (r rooted) List(d string) ([]durable.Info, error)   { return durable.OS{}.List(r.root + d) }
func (r rooted) ListDirs(d string) ([]string, error)     { return durable.OS{}.ListDirs(r.root + d) }

func (r rooted) Rename(from, to string) error        { return durable.OS{}.Rename(r.root+from, r.root+to) }
func (r rooted) Unlink(p string) error               { return durable.OS{}.Unlink(r.root + p) }
func (r rooted) SyncDir(d string) error              { return durable.OS{}.SyncDir(r.root + d) }
func (r rooted) Lock(d string) (durable.Lock, error) { return durable.OS{}.Lock(r.root + d) }
