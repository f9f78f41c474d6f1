// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/record"
)

// Whatever is done to the index file while the journal runs, the journal builds
// it anew and goes on by itself, whether a look-up or a write comes upon it.
func TestAnIndexFileThatIsDamagedWhileTheJournalRunsIsBuiltAnew(t *testing.T) {
	overwrite := func(t *testing.T, path string, size int64) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteAt(bytes.Repeat([]byte("garbage."), int(size/8)), 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	for name, damage := range map[string]func(t *testing.T, path string){
		"truncated to nothing":    func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
		"truncated behind a page": func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, int64(os.Getpagesize()))) },
		"with destroyed metadata": func(t *testing.T, path string) { overwrite(t, path, int64(2*os.Getpagesize())) },
		"replaced by garbage": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte{7}, 40_000), 0o600))
		},
		"overwritten with garbage": func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			overwrite(t, path, info.Size())
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			o := optionsFor(t, fs)
			l := open(t, o)
			first := appendAll(t, l, batch(t, 0, 200)...)
			closeLedger(t, l) // the file has them now
			var s states
			o.Observer.State = s.add
			l = open(t, o)
			appendAll(t, l, batch(t, 200, 201)...)
			damage(t, filepath.Join(o.IndexDir, "repeats.db"))

			again := appendUntilDurable(t, l, batch(t, 0, 300)...)
			for i, r := range first {
				require.Equal(t, asRepeat(r), again[i])
			}
			require.NoError(t, s.last())
			damage(t, filepath.Join(o.IndexDir, "repeats.db"))
			closeLedger(t, l) // which writes what is in memory
			l = open(t, o)
			require.Equal(t, asRepeat(first[0]), appendAll(t, l, batch(t, 0, 1)...)[0])
			closeLedger(t, l)
			entries := audit(t, fs, dir)
			require.Len(t, countIDs(t, entries), 300)
			for id, n := range countIDs(t, entries) {
				require.Equal(t, 1, n, id)
			}
			require.NotContains(t, eventTypes(entries), record.EventJournalRecovered)
		})
	}
}

func TestABadCacheIsBegunAnewWhereItIsAFileAndNamedWhereItIsNot(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(t *testing.T, dir, file string)
		want  string
	}{
		"garbage": {func(t *testing.T, _, file string) {
			require.NoError(t, os.WriteFile(file, []byte("garbage"), 0o600))
		}, ""},
		"a file where the directory should be": {func(t *testing.T, dir, _ string) {
			require.NoError(t, os.RemoveAll(dir))
			require.NoError(t, os.WriteFile(dir, []byte("x"), 0o600))
		}, ""},
		"a directory where the file should be": {func(t *testing.T, _, file string) {
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.MkdirAll(filepath.Join(file, "x"), 0o700))
		}, "repeats.db is not a file but a directory: delete it, it is only a cache"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			o := optionsFor(t, fs)
			o.IndexDir = filepath.Join(o.IndexDir, "index")
			l := open(t, o)
			first := appendAll(t, l, batch(t, 0, 1)...)
			closeLedger(t, l)
			file := filepath.Join(o.IndexDir, "repeats.db")
			test.spoil(t, o.IndexDir, file)
			if test.want != "" {
				_, err := ledger.Open(t.Context(), o)
				require.ErrorContains(t, err, test.want)
				require.NoError(t, os.RemoveAll(file))
			}
			require.Equal(t, asRepeat(first[0]), appendAll(t, open(t, o), batch(t, 0, 1)...)[0])
		})
	}
}
