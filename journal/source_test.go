// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// tree writes files below a new directory.
func tree(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func TestARootHoldsSeveralJournals(t *testing.T) {
	root := tree(t, map[string]string{
		"bank/kyc/reads/" + segmentName(1):               "a\n",
		"bank/kyc/reads/" + segmentName(12):              "b\n",
		"bank/kyc/reads/" + segmentName(3):               "c\n",
		"bank/kyc/reads/" + segmentName(3) + ".812.torn": "x",
		"bank/kyc/reads/tiles/" + segmentName(1):         "x",
		"bank/kyc/reads/index/" + segmentName(1):         "x",
		"bank/kyc/reads/.lock":                           "",
		"bank/kyc/reads/1.events":                        "x",
		"bank/kyc/reads/0000000000000000000x.events":     "x",
		"bank/kyc/reads/" + segmentName(0):               "x",
		"other%2Fbank/default/reads/" + segmentName(1):   "d\n",
		"notes/readme.txt":                               "x",
	})
	sources, err := journal.Open(root)
	require.NoError(t, err)
	require.Len(t, sources, 2)
	require.Equal(t, filepath.Join(root, "bank", "kyc", "reads"), sources[0].Path)
	require.Equal(t, filepath.Join(root, "other%2Fbank", "default", "reads"), sources[1].Path)
	var names []string
	for _, s := range sources[0].Segments {
		names = append(names, filepath.Base(s.Path))
	}
	require.Equal(t, []string{segmentName(1), segmentName(3), segmentName(12)}, names)
	require.Equal(t, uint64(3), sources[0].Segments[1].FirstSequence)
	require.Equal(t, int64(6), sources[0].Size())

	sources, err = journal.Open(filepath.Join(root, "bank", "kyc", "reads", segmentName(3)))
	require.NoError(t, err)
	require.Equal(t, uint64(3), sources[0].Segments[0].FirstSequence)
}

func TestALinkToARootIsARoot(t *testing.T) {
	root := tree(t, map[string]string{"reads/" + segmentName(1): "a\n"})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	sources, err := journal.Open(link)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(link, "reads"), sources[0].Path)
}

func TestWhatCannotBeTakenOfARootDoesNotKeepTheRestFromBeing(t *testing.T) {
	root := tree(t, map[string]string{
		"a/reads/" + segmentName(1):          "a\n",
		"b/reads/" + segmentName(1) + ".zst": "x",
		"b/reads/" + segmentName(4):          "b\n",
		"z/reads/" + segmentName(1):          "z\n",
	})
	elsewhere := tree(t, map[string]string{"reads/" + segmentName(1): "a\n"})
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(root, "m")))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "gone"), filepath.Join(root, "n")))
	require.NoError(t, os.Mkdir(filepath.Join(root, "o"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(root, "o", segmentName(1)), 0o700))
	sources, err := journal.Open(root)
	var paths []string
	for _, s := range sources {
		paths = append(paths, s.Path)
	}
	require.Equal(t, []string{filepath.Join(root, "a", "reads"), filepath.Join(root, "z", "reads")}, paths)
	leftOut, ok := errors.AsType[*journal.LeftOutError](err)
	require.True(t, ok, "%v", err)
	require.Len(t, leftOut.Problems, 4, "never left out without a word")
	for i, message := range []string{"zstd -d", "is a link to a directory", "leads nowhere", "is not a file"} {
		require.ErrorContains(t, leftOut.Problems[i], message)
	}
	require.NotContains(t, err.Error(), "\n")
}

func TestAnOrganizationMayBeCalledAsACacheIs(t *testing.T) {
	root := tree(t, map[string]string{
		"index/default/reads/" + segmentName(1):          "a\n",
		"bank/tiles/reads/" + segmentName(1):             "b\n",
		"bank/tiles/reads/index/repeats.db":              "x",
		"bank/tiles/reads/tiles/" + segmentName(1):       "x",
		"bank/tiles/reads/tiles/index/" + segmentName(1): "x",
		"tiles/" + segmentName(1):                        "c\n",
		"tiles/index/tiles/" + segmentName(1):            "x",
	})
	sources, err := journal.Open(root)
	require.NoError(t, err)
	var paths []string
	for _, s := range sources {
		paths = append(paths, filepath.ToSlash(strings.TrimPrefix(s.Path, root+string(filepath.Separator))))
	}
	require.Equal(t, []string{"bank/tiles/reads", "index/default/reads", "tiles"}, paths)
}

func TestATargetWithoutAJournalIsAnError(t *testing.T) {
	_, err := journal.Open(t.TempDir())
	require.ErrorIs(t, err, journal.ErrNoJournal)
	_, err = journal.Open(filepath.Join(t.TempDir(), "no"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = journal.Open(os.DevNull)
	require.ErrorContains(t, err, "neither a file nor a directory")
}

func TestACompressedSegmentIsNotLeftOutSilently(t *testing.T) {
	root := tree(t, map[string]string{segmentName(1) + ".zst": "x", segmentName(4): "a\n"})
	_, err := journal.Open(root)
	require.ErrorContains(t, err, "zstd -d")
	_, err = journal.Open(filepath.Join(root, segmentName(1)+".zst"))
	require.ErrorContains(t, err, "zstd -d")
	sources, err := journal.Open(tree(t, map[string]string{segmentName(1) + ".zst": "x", segmentName(1): "a\n"}))
	require.NoError(t, err)
	require.Len(t, sources[0].Segments, 1)
}

func TestLinesComeWithTheirPlaces(t *testing.T) {
	long := strings.Repeat("y", record.MaxEntryBytes)
	root := tree(t, map[string]string{segmentName(1): "a\n\n" + long + "\n" + long + "y\nb\n", segmentName(9): "c\nd"})
	sources, err := journal.Open(root)
	require.NoError(t, err)
	var lines []journal.Line
	for line, err := range sources[0].Lines() {
		require.NoError(t, err)
		line.Bytes = bytes.Clone(line.Bytes)
		lines = append(lines, line)
	}
	const m = record.MaxEntryBytes
	require.Equal(t, []journal.Line{
		{Offset: 0, Bytes: []byte("a"), Size: 2},
		{Offset: 2, Bytes: []byte{}, Size: 1},
		{Offset: 3, Bytes: []byte(long), Size: m + 1},
		{Offset: m + 4, Size: m + 2, TooLong: true},
		{Offset: 2*m + 6, Bytes: []byte("b"), Size: 2},
		{Segment: 1, Offset: 0, Bytes: []byte("c"), Size: 2},
		{Segment: 1, Offset: 2, Bytes: []byte("d"), Size: 1, Torn: true},
	}, lines)
}

func TestASegmentNeedNotBeAFile(t *testing.T) {
	refused := errors.New("refused")
	source := &journal.Source{Path: "bucket", Segments: []journal.Segment{
		{Path: "bucket/1", Size: 4, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("a\nb\nmore")), nil }},
		{Path: "bucket/3", Size: 4, Open: func() (io.ReadCloser, error) { return nil, refused }},
	}}
	var lines []string
	for line, err := range source.Lines() {
		if err != nil {
			require.ErrorIs(t, err, refused)
			break
		}
		lines = append(lines, string(line.Bytes))
	}
	require.Equal(t, []string{"a", "b"}, lines)
}

func TestASegmentThatVanishesIsAnError(t *testing.T) {
	directory := store(t, 1, journalOf(t, 2).lines...)
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	require.NoError(t, os.Remove(sources[0].Segments[0].Path))
	_, err = journal.Verify(t.Context(), sources[0], journal.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A hundred megabytes of the largest entries are verified in bounded memory.
func TestMemoryDoesNotGrowWithTheJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a large journal")
	}
	w := newWriter(t)
	w.begin()
	w.seal("future_record", "9.0.0", []byte(`{"journal_id":"j","recorded_at":"2026-10-09T08:12:03.418000000Z","sequence":1,"x":[`+
		strings.Repeat(`"xxxxxxxx",`, 90_000)+`""]}`))
	path := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(path, bytes.Repeat(w.lines[0], 100), 0o600))
	sources, err := journal.Open(path)
	require.NoError(t, err)
	registry := registryOf(t, trustedKey(trusted))
	var most uint64
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err = journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Progress: func(int64, int64) {
		var now runtime.MemStats
		runtime.GC() // what is left is what is held
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
	}})
	require.NoError(t, err)
	require.Less(t, most, before.HeapAlloc+64<<20)
}
