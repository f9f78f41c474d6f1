// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
)

// requireWaiting makes sure that the journal is unavailable and waits.
func requireWaiting(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	for range 20 {
		_, err := l.Append(t.Context(), batch(t, 0, 1))
		require.ErrorIs(t, err, ledger.ErrUnavailable)
		require.NotErrorIs(t, err, ledger.ErrDamaged)
	}
}

// While a journal runs, what is not there is waited for, whatever it is.
func TestAJournalThatIsNotThereIsWaitedForAndServiceResumesWithIt(t *testing.T) {
	path := func(first uint64) string { return dir + "/" + segment.Name(first) }
	for name, c := range map[string]struct {
		goes func(*crashfs.FS, []uint64) (comes func())
	}{
		"directory": {func(fs *crashfs.FS, _ []uint64) func() {
			fs.Move(dir, "/away")
			return func() { fs.Move("/away", dir) }
		}},
		"directory, with an empty one in its place": {func(fs *crashfs.FS, _ []uint64) func() {
			fs.Move(dir, "/away")
			require.NoError(t, fs.MkdirAll(dir))
			return func() {
				other, err := fs.Lock(dir)
				require.NoError(t, err, "it is not ours")
				require.NoError(t, other.Close())
				fs.Move("/away", dir)
			}
		}},
		"first segment": {func(fs *crashfs.FS, segments []uint64) func() {
			b := fs.Bytes(path(segments[0]))
			fs.Remove(path(segments[0]))
			return func() { fs.Put(path(segments[0]), b) }
		}},
		"middle segment": {func(fs *crashfs.FS, segments []uint64) func() {
			b := fs.Bytes(path(segments[1]))
			fs.Remove(path(segments[1]))
			return func() { fs.Put(path(segments[1]), b) }
		}},
		"last segment": {func(fs *crashfs.FS, segments []uint64) func() {
			last := path(segments[len(segments)-1])
			b := fs.Bytes(last)
			fs.Remove(last)
			return func() { fs.Put(last, b) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			fs := crashfs.New(1)
			o := optionsFor(t, fs)
			o.MaxSegmentBytes = 3_000
			var s states
			o.Observer.State = s.add
			l := open(t, o)
			first := appendAll(t, l, read(t, id(0), "1"))
			for n := 1; n < 9; n++ {
				appendAll(t, l, read(t, id(n), "1"))
			}
			segments, err := segment.List(fs, dir)
			require.NoError(t, err)
			require.Greater(t, len(segments), 2)
			var firsts []uint64
			for _, s := range segments {
				firsts = append(firsts, s.First)
			}
			comes := c.goes(fs, firsts)
			fs.FailAt(fs.Ops()+1, crashfs.Fault{Err: syscall.EIO})
			_, err = l.Append(t.Context(), batch(t, 9, 10))
			require.ErrorIs(t, err, ledger.ErrUnavailable)
			requireWaiting(t, l)
			require.NotErrorIs(t, s.last(), ledger.ErrDamaged)

			comes()
			receipts := appendUntilDurable(t, l, batch(t, 0, 10)...)
			require.Equal(t, asRepeat(first[0]), receipts[0])
			require.NoError(t, s.last())
			closeLedger(t, l)
			for id, n := range countIDs(t, audit(t, fs, dir)) {
				require.Equal(t, 1, n, id)
			}
		})
	}
}

func TestARepeatOfWhatIsInAMissingSegmentIsNotForgotten(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 1
	l := open(t, o)
	first := appendAll(t, l, batch(t, 0, 1)...)
	appendAll(t, l, batch(t, 1, 2)...)
	path := dir + "/" + segment.Name(first[0].Sequence)
	b := fs.Bytes(path)
	fs.Remove(path)
	requireWaiting(t, l)
	fs.Put(path, b)
	require.Equal(t, asRepeat(first[0]), appendUntilDurable(t, l, batch(t, 0, 1)...)[0])
	closeLedger(t, l)
	require.Equal(t, map[string]int{id(0): 1, id(1): 1}, countIDs(t, audit(t, fs, dir)))
}

func TestNothingIsAcknowledgedIntoASegmentThatWasDeleted(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 1)...)
	path, b := lastSegment(t, fs)
	fs.Remove(path)
	_, err := l.Append(t.Context(), batch(t, 1, 2))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.ErrorIs(t, err, durable.ErrGone)
	requireWaiting(t, l)
	fs.Put(path, b)
	require.False(t, appendUntilDurable(t, l, batch(t, 1, 2)...)[0].Repeat)
	closeLedger(t, l)
	require.Equal(t, map[string]int{id(0): 1, id(1): 1}, countIDs(t, audit(t, fs, dir)))
}

// A directory that was restored is another one, and somebody may have begun to
// write there.
func TestAJournalThatComesBackAsAnotherDirectoryIsLockedAnew(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 1)...)
	path, b := lastSegment(t, fs)
	fs.Move(dir, "/away")
	fs.Put(path, b)
	other, err := fs.Lock(dir)
	require.NoError(t, err)
	fs.FailAt(fs.Ops()+1, crashfs.Fault{Err: syscall.EIO})
	_, err = l.Append(t.Context(), batch(t, 1, 2))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	requireWaiting(t, l)
	_, err = l.Append(t.Context(), batch(t, 1, 2))
	require.ErrorIs(t, err, durable.ErrLocked)

	require.NoError(t, other.Close())
	appendUntilDurable(t, l, batch(t, 1, 2)...)
	_, err = ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, durable.ErrLocked)
	closeLedger(t, l)
	require.Equal(t, map[string]int{id(0): 1, id(1): 1}, countIDs(t, audit(t, fs, dir)))
}

func TestContentThatIsNotWhatWasAcknowledgedStaysDamageWhenItComesBack(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 3)...)
	path, b := lastSegment(t, fs)
	fs.Remove(path)
	_, err := l.Append(t.Context(), batch(t, 3, 4))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	fs.Put(path, b[:len(b)-10])
	require.Eventually(t, func() bool {
		_, err := l.Append(t.Context(), batch(t, 3, 4))
		return errors.Is(err, ledger.ErrDamaged)
	}, 10*time.Second, time.Millisecond)
	require.ErrorIs(t, l.Close(t.Context()), ledger.ErrDamaged)
}

func TestAtAStartAMissingSegmentIsDamage(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 1
	l := open(t, o)
	for n := range 4 {
		appendAll(t, l, batch(t, n, n+1)...)
	}
	closeLedger(t, l)
	segments, err := segment.List(fs, dir)
	require.NoError(t, err)
	fs.Remove(dir + "/" + segment.Name(segments[len(segments)-2].First))
	_, err = ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrDamaged)
}

func TestAnEmptyStrayFileIsNamedAndNotTheIntactSegmentBeforeIt(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 3)...)
	closeLedger(t, l)
	stray := dir + "/" + segment.Name(999_999)
	fs.Put(stray, nil)
	_, err := ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrDamaged)
	require.EqualError(t, err, "open journal "+dir+": journal is damaged in 00000000000000999999.events at offset 0 (sequence 6), "+
		"and no crash did that: it begins at sequence 999999, but 00000000000000000001.events before it ends with 5: "+
		"entries between them are missing, or it is a stray file; it is empty, so that it can be moved away; "+
		"keep the files as they are and run: readtrail verify")
	fs.Remove(stray)
	closeLedger(t, open(t, o))
}
