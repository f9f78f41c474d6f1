// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/segment"
)

// joined returns the bytes of groups of three lines from sequence 1 on.
func joined(groups int) (b []byte) {
	for g := range groups {
		for _, l := range group(uint64(3*g+1), 3, 20).Lines {
			b = append(b, l...)
		}
	}
	return b
}

func TestATailTornAtEveryByteIsKeptAndCutAtTheLineThatItTore(t *testing.T) {
	whole := joined(2)
	for size := range len(whole) {
		fs := crashfs.New(1)
		fs.Put(dir+"/"+segment.Name(1), whole[:size])
		w, torn := open(t, fs, wide)
		intact := strings.LastIndexByte(string(whole[:size]), '\n') + 1
		require.Equal(t, whole[:intact], fs.Bytes(dir+"/"+segment.Name(1)))
		if intact == size {
			require.Empty(t, torn)
			continue
		}
		require.Equal(t, []string{fmt.Sprintf("%s.%d.torn", segment.Name(1), intact)}, torn)
		kept, err := segment.Describe(fs, dir, torn[0])
		require.NoError(t, err)
		require.Equal(t, segment.Torn{
			Segment: segment.Name(1), KeptAs: torn[0], Offset: int64(intact), Length: int64(size - intact), Digest: kept.Digest,
		}, kept)
		require.Equal(t, whole[intact:size], fs.Bytes(dir+"/"+torn[0]))
		next := uint64(strings.Count(string(whole[:intact]), "\n") + 1)
		appendGroup(t, w, group(next, 1, 1))
		require.Len(t, sequences(t, fs), int(next))
	}
}

func TestATailThatLostASectorIsCutWhereTheLossBegins(t *testing.T) {
	whole := joined(3)
	broken := slices.Clone(whole)
	clear(broken[len(whole)/2 : len(whole)/2+30])
	fs := crashfs.New(1)
	fs.Put(dir+"/"+segment.Name(1), broken)
	_, torn := open(t, fs, wide)
	require.Len(t, torn, 1)
	intact := strings.LastIndexByte(string(whole[:len(whole)/2]), '\n') + 1
	require.Equal(t, whole[:intact], fs.Bytes(dir+"/"+segment.Name(1)))
	require.Equal(t, broken[intact:], fs.Bytes(dir+"/"+torn[0]))
}

func TestDamageBeforeTheLastGroupIsRefusedWithItsPlaceAndNothingIsTouched(t *testing.T) {
	fs := crashfs.New(1)
	w, _ := open(t, fs, wide)
	for i := range uint64(6) {
		appendGroup(t, w, group(i+1, 1, 900<<10))
	}
	require.NoError(t, w.Close())
	path := dir + "/" + segment.Name(1)
	b := fs.Bytes(path)
	b[len(b)/6+100] ^= 1 // in the second line
	fs.Put(path, b)

	_, _, err := segment.Open(fs, dir, wide, segment.Known{}, validate, admit)
	var damage *segment.DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, segment.Name(1), damage.Segment)
	require.Equal(t, int64(len(line(1, 900<<10))), damage.Offset)
	require.Equal(t, uint64(2), damage.Sequence)
	require.Equal(t, b, fs.Bytes(path))
	files, err := fs.List(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

func TestASegmentBeforeTheLastMustEndIntactWhereTheLastBegins(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut in its last line":  func(b []byte) []byte { return b[:len(b)-2] },
		"changed in its last":   func(b []byte) []byte { b[len(b)-4] ^= 1; return b },
		"empty":                 func([]byte) []byte { return nil },
		"one line without ends": func([]byte) []byte { return make([]byte, 3<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			fs.Put(dir+"/"+segment.Name(1), damage(joined(1)))
			fs.Put(dir+"/"+segment.Name(4), nil)
			_, _, err := segment.Open(fs, dir, wide, segment.Known{}, validate, admit)
			var damaged *segment.DamageError
			require.ErrorAs(t, err, &damaged)
			require.Equal(t, uint64(3), damaged.Sequence)
		})
	}
}

func TestWhatIsKnownAndNotThereIsMissingNotDamaged(t *testing.T) {
	for name, there := range map[string][]uint64{"all": nil, "the first": {4, 7}, "the middle": {1, 7}, "the last": {1, 4}} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			for _, first := range there {
				fs.Put(dir+"/"+segment.Name(first), slices.Concat(group(first, 3, 20).Lines...))
			}
			known := segment.Known{Segments: []uint64{1, 4, 7}, End: segment.Position{Segment: 7, Offset: 30}}
			for range 2 {
				_, _, err := segment.Open(fs, dir, wide, known, validate, admit)
				var missing *segment.MissingError
				require.ErrorAs(t, err, &missing)
				require.Len(t, missing.Segments, 3-len(there))
				require.NotErrorIs(t, err, segment.ErrDamaged)
				require.ErrorContains(t, err, missing.Segments[0])
			}
			for _, first := range known.Segments {
				fs.Put(dir+"/"+segment.Name(first), slices.Concat(group(first, 3, 20).Lines...))
			}
			_, _, err := segment.Open(fs, dir, wide, known, validate, admit)
			require.NoError(t, err)
		})
	}
}

func TestALastSegmentThatDoesNotContinueTheOneBeforeIsNamedWithTheGap(t *testing.T) {
	for name, test := range map[string]struct {
		first    uint64
		contents []byte
		want     string
	}{
		"an empty stray file": {999_999, nil, "journal is damaged in 00000000000000999999.events at offset 0 (sequence 4), and no crash did that: " +
			"it begins at sequence 999999, but 00000000000000000001.events before it ends with 3: " +
			"entries between them are missing, or it is a stray file; it is empty, so that it can be moved away; "},
		"a segment behind one that is missing": {8, line(8, 5), "in 00000000000000000008.events at offset 0 (sequence 4), and no crash did that: " +
			"it begins at sequence 8, but 00000000000000000001.events before it ends with 3: entries between them are missing, or it is a stray file; "},
		"a segment that begins before that end": {2, line(2, 5), "ends with 3: one of the two is a stray file; "},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			fs.Put(dir+"/"+segment.Name(1), joined(1))
			fs.Put(dir+"/"+segment.Name(test.first), test.contents)
			_, _, err := segment.Open(fs, dir, wide, segment.Known{}, validate, admit)
			require.ErrorIs(t, err, segment.ErrDamaged)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAnEmptyOrWhollyTornLastSegmentGoesOnBehindTheOneBefore(t *testing.T) {
	for name, contents := range map[string]string{"empty": "", "torn": "4 xx"} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			fs.Put(dir+"/"+segment.Name(1), joined(1))
			fs.Put(dir+"/"+segment.Name(4), []byte(contents))
			w, torn := open(t, fs, wide)
			require.Len(t, torn, min(len(contents), 1))
			require.Equal(t, segment.Position{Segment: 4}, appendGroup(t, w, group(4, 2, 5)))
			require.Len(t, sequences(t, fs), 5)
		})
	}
}

func TestWhatTheCallerKnowsToBeDurableIsNeverCut(t *testing.T) {
	whole := joined(2)
	for name, contents := range map[string][]byte{
		"torn before the floor": append(slices.Clone(whole[:40]), "yyy\n"...),
		"ends before the floor": whole[:len(joined(1))],
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			fs.Put(dir+"/"+segment.Name(1), contents)
			_, _, err := segment.Open(fs, dir, wide, segment.Known{Segments: []uint64{1}, End: segment.Position{Segment: 1, Offset: int64(len(whole))}}, validate, admit)
			var damage *segment.DamageError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, contents, fs.Bytes(dir+"/"+segment.Name(1)))
		})
	}
}

func TestOtherBytesTornAtTheSameOffsetAreKeptBeside(t *testing.T) {
	fs := crashfs.New(1)
	path := dir + "/" + segment.Name(1)
	for i, tail := range []string{"first", "second", "second tail"} {
		fs.Put(path, append(joined(1), tail...))
		_, torn := open(t, fs, wide)
		require.Len(t, torn, min(i+1, 2), "a longer copy of what is kept completes it")
	}
	offset := len(joined(1))
	require.Equal(t, "first", string(fs.Bytes(fmt.Sprintf("%s.%d.torn", path, offset))))
	require.Equal(t, "second tail", string(fs.Bytes(fmt.Sprintf("%s.%d.2.torn", path, offset))))
}

func TestRecoveryCanBeInterruptedAnywhereAndRunAgain(t *testing.T) {
	whole := joined(2)
	tail := "7 a torn tail that is longer than one sector " + strings.Repeat("y", 1500)
	for op := 1; ; op++ {
		fs := crashfs.New(uint64(op))
		require.NoError(t, fs.MkdirAll(dir))
		fs.Put(dir+"/"+segment.Name(1), append(slices.Clone(whole), tail...))
		fs.CrashAfter(op)
		_, _, err := segment.Open(fs, dir, wide, segment.Known{}, validate, admit)
		if err == nil {
			require.Greater(t, op, 8)
			return
		}
		fs = fs.Reboot()
		_, torn := open(t, fs, wide)
		require.Equal(t, whole, fs.Bytes(dir+"/"+segment.Name(1)))
		require.NotEmpty(t, torn)
		require.Equal(t, tail, string(fs.Bytes(dir+"/"+torn[len(torn)-1])))
	}
}

func TestWhatWasCompleteAfterAFailedSyncIsDurableOnceItIsReopened(t *testing.T) {
	for _, loss := range []crashfs.Loss{crashfs.LoseNothing, crashfs.LoseUnseen, crashfs.LoseSeen} {
		fs := crashfs.New(1)
		w, _ := open(t, fs, wide)
		appendGroup(t, w, group(1, 1, 5))
		fs.FailAt(fs.Ops()+2, crashfs.Fault{Err: syscall.EIO, Loss: loss})
		_, err := w.Append(group(2, 1, 5))
		require.ErrorIs(t, err, syscall.EIO)
		require.NoError(t, w.Close())

		w, torn := open(t, fs, wide)
		require.Empty(t, torn)
		next := uint64(len(sequences(t, fs)) + 1)
		appendGroup(t, w, group(next, 1, 5))
		require.Len(t, sequences(t, fs.Reboot()), int(next))
	}
}

func TestAReadErrorIsNotDamage(t *testing.T) {
	fs := crashfs.New(1)
	fs.Put(dir+"/"+segment.Name(1), joined(2))
	fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpRead {
			return crashfs.Fault{Err: syscall.EIO}
		}
		return crashfs.Fault{}
	})
	_, _, err := segment.Open(fs, dir, wide, segment.Known{}, validate, admit)
	require.ErrorIs(t, err, syscall.EIO)
	var damage *segment.DamageError
	require.NotErrorAs(t, err, &damage)
	fs.SetFaults(nil)
	require.Len(t, sequences(t, fs), 6)
}

func TestGroupsAcknowledgedBeforeACrashAreThereOnceAfterIt(t *testing.T) {
	for seed := range uint64(300) {
		fs := crashfs.New(seed)
		limits := segment.Limits{MaxBytes: 4000, MaxAge: time.Hour}
		fs.CrashAfter(5 + int(seed%60))
		acknowledged, next := 0, uint64(1)
		require.NoError(t, fs.MkdirAll(dir))
		if w, _, err := segment.Open(fs, dir, limits, segment.Known{}, validate, admit); err == nil {
			for {
				g := group(next, 1+int(next+seed)%7, 30+int(seed)*3)
				if _, err := w.Append(g); err != nil {
					break
				}
				next += uint64(len(g.Lines))
				acknowledged = int(next - 1)
			}
		}
		fs = fs.Reboot()
		open(t, fs, limits)
		found := len(sequences(t, fs))
		require.GreaterOrEqual(t, found, acknowledged, "seed %d", seed)
		require.LessOrEqual(t, found, acknowledged+7, "seed %d", seed)
	}
}

// Whatever stands behind durable lines, they stay, and nothing panics.
func FuzzOpenKeepsTheIntactLines(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("7 "))
	f.Add(line(7, 3))
	f.Add([]byte("\n\n\n"))
	f.Add([]byte{0, 0, 0, '\n', 0xff})
	f.Fuzz(func(t *testing.T, tail []byte) {
		if len(tail) > segment.MaxGroupBytes {
			return
		}
		fs := crashfs.New(1)
		whole := joined(2)
		fs.Put(dir+"/"+segment.Name(1), append(slices.Clone(whole), tail...))
		_, torn := open(t, fs, wide)
		found := fs.Bytes(dir + "/" + segment.Name(1))
		require.Equal(t, string(whole), string(found[:len(whole)]))
		if len(torn) > 0 {
			found = append(found, fs.Bytes(dir+"/"+torn[0])...)
		}
		require.Equal(t, string(whole)+string(tail), string(found))
		sequences(t, fs)
	})
}
