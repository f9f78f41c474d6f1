// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package execution

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/record"
)

// placesOf makes n places of executions with size entries each, in the order of the
// segment.
func placesOf(n, size int) (places []place) {
	for i := range n {
		places = append(places, place{KeyOf(fmt.Sprint("run_", i/size)), int64(i) * 1200})
	}
	return places
}

var of = label{"jrn_1", 1, 1 << 30}

func TestAFileAnswersAsMemoryDoes(t *testing.T) {
	for _, size := range []int{1, 3, 1000, 100_000} {
		for _, n := range []int{0, 1, blockPlaces, blockPlaces + 1, 3 * blockPlaces, 2000} {
			places := placesOf(n, size)
			file := bytes.NewReader(encode(of, slices.Clone(places)))
			for _, run := range []string{"run_0", "run_1", "run_700", "run_1999", "none"} {
				for _, from := range []int64{0, 1, 1200, 600_000, math.MaxInt64} {
					got, err := find(file, of, KeyOf(run), from)
					require.NoError(t, err)
					require.Equal(t, offsetsOf(places, KeyOf(run), from), got, "%d places, %d each, %s from %d", n, size, run, from)
				}
			}
		}
	}
}

// Keys at the ends of the range, and one key over several blocks.
func TestAFileIsAskedForAnyKey(t *testing.T) {
	var places []place
	for i := range 4 * blockPlaces {
		places = append(places, place{[]Key{0, 7, 7, math.MaxUint64}[i*4/(4*blockPlaces)], int64(i)})
	}
	file := bytes.NewReader(encode(of, slices.Clone(places)))
	for _, key := range []Key{0, 1, 7, 8, math.MaxUint64 - 1, math.MaxUint64} {
		got, err := find(file, of, key, 0)
		require.NoError(t, err)
		require.Equal(t, offsetsOf(places, key, 0), got)
	}
}

func TestAFileOfAnotherSegmentOrJournalIsOfNoUse(t *testing.T) {
	file := bytes.NewReader(encode(of, placesOf(10, 2)))
	for _, other := range []label{{"jrn_2", 1, 1 << 30}, {"jrn_1", 2, 1 << 30}, {"jrn_1", 1, 1<<30 + 1}, {"jrn_1", 1, 100}} {
		_, err := find(file, other, KeyOf("run_1"), 0)
		require.ErrorIs(t, err, errUseless)
	}
}

// FuzzFind changes a file: whatever it is then, it answers as before or not at all.
func FuzzFind(f *testing.F) {
	good := encode(of, placesOf(600, 3))
	f.Add(uint(3), byte(1), len(good))
	f.Add(uint(45), byte(255), 60)
	f.Add(uint(70), byte(7), len(good))
	f.Fuzz(func(t *testing.T, at uint, flip byte, size int) {
		text := bytes.Clone(good)
		text[at%uint(len(text))] ^= flip
		if size >= 0 && size < len(text) {
			text = text[:size]
		}
		for _, run := range []string{"run_0", "run_100", "none"} {
			if got, err := find(bytes.NewReader(text), of, KeyOf(run), 0); err == nil {
				require.Equal(t, offsetsOf(placesOf(600, 3), KeyOf(run), 0), got)
			} else {
				require.ErrorIs(t, err, errUseless)
			}
		}
	})
}

// BenchmarkLearn is what an entry costs on the commit path: about 0.1 µs.
func BenchmarkLearn(b *testing.B) {
	for _, size := range []int{1, 20} {
		b.Run(fmt.Sprintf("entries of an execution=%d", size), func(b *testing.B) {
			drafts := make([]*record.Draft, 1000)
			for i := range drafts {
				run := fmt.Sprintf("trace:0af7651916cd43dd8448eb21%08d", i/size)
				d, err := record.NewReadDraft(&record.Read{
					Header: record.Header{Correlation: record.Correlation{ExecutionID: run, CallID: "call_1"}}, ExecutionID: run,
				}, false)
				require.NoError(b, err)
				drafts[i] = d
			}
			x := NewIndex(Options{})
			x.Begin("jrn_1", []uint64{1}, &Marker{})
			var m Marker
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				m.Draft(drafts[n%len(drafts)], int64(n))
				if n%50 == 49 {
					x.Learn(1, &m)
				}
				if n%50_000 == 0 {
					x.recent[0].places = nil // a segment has no more
				}
			}
		})
	}
}

// BenchmarkFind is a look-up in a journal of a thousand sealed segments of 64 MiB.
func BenchmarkFind(b *testing.B) {
	const segments, entries = 1000, 50_000
	dir := b.TempDir()
	x := NewIndex(Options{FS: durable.OS{}, IndexDir: dir})
	x.Begin("jrn_1", []uint64{segments}, &Marker{})
	for s := range uint64(20) { // they stand for a thousand
		l := label{"jrn_1", s, 64 << 20}
		require.NoError(b, store(dir, l, encode(l, placesOf(entries, 20))))
	}
	b.ReportAllocs()
	for b.Loop() {
		for s := range uint64(segments) {
			_, err := x.Find(b.Context(), segment.Info{First: s % 20, Size: 64 << 20}, KeyOf("none"), 0)
			require.NoError(b, err)
		}
	}
}
