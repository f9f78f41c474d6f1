// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// appendUntilDurable appends again as long as the journal is unavailable.
func appendUntilDurable(t *testing.T, l *ledger.Ledger, drafts ...*record.Draft) (receipts []journal.Receipt) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		receipts, err = l.Append(t.Context(), drafts)
		if err != nil {
			require.ErrorIs(t, err, ledger.ErrUnavailable)
		}
		return err == nil
	}, 20*time.Second, time.Millisecond)
	return receipts
}

// rotateUntilDurable changes keys as long as the journal is unavailable.
func rotateUntilDurable(t *testing.T, l *ledger.Ledger, to journal.Signer) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := l.Rotate(t.Context(), to)
		if err != nil {
			require.ErrorIs(t, err, ledger.ErrUnavailable)
		}
		return err == nil
	}, 20*time.Second, time.Millisecond)
}

// states records the changes that an observer is told of.
type states struct {
	mu  sync.Mutex
	all []error
}

func (s *states) add(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, err)
}

func (s *states) last() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return nil
	}
	return s.all[len(s.all)-1]
}

// Every operation of a short life fails once, before or after it took effect,
// and the journal goes on without a restart: nothing that was acknowledged is
// missing, also after a crash at the end.
func TestAFaultInAnyOperationLosesNothingAndServiceGoesOn(t *testing.T) {
	faults := []crashfs.Fault{
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseUnseen},
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseSeen},
		{Err: syscall.EIO, After: true},
		{Err: syscall.EIO},
	}
	if testing.Short() {
		faults = faults[:1]
	}
	for _, fault := range faults {
		t.Run(fmt.Sprintf("%+v", fault), func(t *testing.T) {
			for n, hit := 1, true; hit; n++ {
				hit = lifeWithFault(t, n, fault)
			}
		})
	}
}

// lifeWithFault reports whether the life had an n-th operation.
func lifeWithFault(t *testing.T, n int, fault crashfs.Fault) bool {
	fs := crashfs.New(uint64(n))
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 6_000
	o.GroupSignatures = n%2 == 0
	o.Outgoing = []journal.Signer{second}
	fs.FailAt(n, fault)
	var l *ledger.Ledger
	for l == nil {
		var err error
		if l, err = ledger.Open(t.Context(), o); err != nil {
			require.ErrorIs(t, err, syscall.EIO)
		}
	}
	acknowledged := map[string]journal.Receipt{}
	for i := range 6 {
		if i == 3 {
			rotateUntilDurable(t, l, second)
		}
		drafts := append(batch(t, 2*i, 2*i+2), read(t, id(i), "1"))
		for k, r := range appendUntilDurable(t, l, drafts...) {
			acknowledged[drafts[k].ID()] = asRepeat(r)
		}
	}
	operations := fs.Ops()
	_ = l.Close(t.Context()) // its own faults are in the loop too
	fs = fs.Reboot()
	o.FS = fs
	o.Outgoing = append(o.Outgoing, signer)
	if n%3 == 0 {
		o.Signer = second
	}
	closeLedger(t, open(t, o))
	entries := audit(t, fs, dir)
	require.Len(t, acknowledged, 12)
	for id, r := range acknowledged {
		require.Equal(t, id, bodyOf(t, entries[r.Sequence-1]).ReadID)
		require.Equal(t, r.RecordHash, entries[r.Sequence-1].Integrity.RecordHash)
	}
	for id, count := range countIDs(t, entries) {
		require.Equal(t, 1, count, id)
	}
	return n <= operations
}

func TestAFullDiskIsWaitedForAndServiceResumesWithIt(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	var s states
	o.Observer.State = s.add
	l := open(t, o)
	first := appendAll(t, l, batch(t, 0, 5)...)
	fs.SetCapacity(fs.Used() + 2_000)
	_, err := l.Append(t.Context(), batch(t, 0, 20))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.ErrorIs(t, err, syscall.ENOSPC)
	for range 20 {
		_, err := l.Append(t.Context(), batch(t, 0, 20))
		require.ErrorIs(t, err, ledger.ErrUnavailable)
	}
	require.ErrorIs(t, s.last(), ledger.ErrUnavailable)

	fs.SetCapacity(0)
	receipts := appendUntilDurable(t, l, batch(t, 0, 20)...)
	require.NoError(t, s.last())
	for i, r := range first {
		require.Equal(t, asRepeat(r), receipts[i])
	}
	closeLedger(t, l)
	entries := audit(t, fs, dir)
	require.Len(t, countIDs(t, entries), 20)
	require.Contains(t, eventTypes(entries), record.EventJournalRecovered)
}

func TestAJournalComesBackWithoutBeingAsked(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	healthy := make(chan struct{}, 1)
	o.Observer.State = func(err error) {
		if err == nil {
			healthy <- struct{}{}
		}
	}
	l := open(t, o)
	failing := 0
	fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if failing++; failing <= 10 {
			return crashfs.Fault{Err: syscall.EIO}
		}
		return crashfs.Fault{}
	})
	_, err := l.Append(t.Context(), batch(t, 0, 1))
	require.ErrorIs(t, err, syscall.EIO)
	<-healthy
	appendAll(t, l, batch(t, 0, 1)...)
}

func TestAnEntryThatWasCompleteWhenItsSyncFailedIsARepeatAfterwards(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	fs.FailAt(fs.Ops()+2, crashfs.Fault{Err: syscall.EIO, Loss: crashfs.LoseUnseen})
	_, err := l.Append(t.Context(), batch(t, 0, 1))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.True(t, appendUntilDurable(t, l, batch(t, 0, 1)...)[0].Repeat)
	fs = fs.Reboot()
	require.Error(t, l.Close(t.Context()))
	o.FS = fs
	closeLedger(t, open(t, o))
	require.Equal(t, map[string]int{id(0): 1}, countIDs(t, audit(t, fs, dir)))
}

func TestATailTornAnywhereIsToldOfAndTheChainGoesOn(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 3)...)
	before := fs.Bytes(dir + "/" + segment.Name(1))
	appendAll(t, l, batch(t, 3, 5)...)
	path, whole := lastSegment(t, fs)

	for size := len(before) + 1; size < len(whole); size += 13 {
		fs := crashfs.New(1)
		fs.Put(path, whole[:size])
		o.FS, o.IndexDir = fs, t.TempDir()
		l := open(t, o)
		appendAll(t, l, batch(t, 0, 6)...)
		closeLedger(t, l)
		entries := audit(t, fs, dir)
		for id, n := range countIDs(t, entries) {
			require.Equal(t, 1, n, id)
		}
		end := strings.LastIndexByte(string(whole[:size]), '\n') + 1
		if end == size {
			continue
		}
		lines := strings.Count(string(whole[:end]), "\n")
		recovered := entries[lines]
		require.Equal(t, record.EventJournalRecovered, recovered.Header.EventType)
		d := bodyOf(t, recovered).Detail
		require.Equal(t, segment.Name(1), d.Segment)
		require.Equal(t, int64(end), d.Offset)
		require.Equal(t, string(whole[end:size]), string(fs.Bytes(dir+"/"+d.KeptAs)))
	}
}

func TestAFirstEntryThatWasTornIsWrittenAgainBeforeAnythingElse(t *testing.T) {
	fs := crashfs.New(1)
	fs.Put(dir+"/"+segment.Name(1), []byte(`{"integrity":{"canon`))
	closeLedger(t, open(t, optionsFor(t, fs)))
	require.Equal(t, []string{"journal.opened", "journal.recovered", "journal.closed"}, eventTypes(audit(t, fs, dir)))
}

func TestARecoveryInterruptedBeforeItWasToldIsToldByTheNext(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 3)...)
	closeLedger(t, l)
	path, b := lastSegment(t, fs)
	fs.Put(fmt.Sprintf("%s.%d.torn", path, len(b)), []byte("torn"))
	closeLedger(t, open(t, o))
	entries := audit(t, fs, dir)
	require.Equal(t, []string{"journal.closed", "journal.recovered", "journal.resumed", "journal.closed"}, eventTypes(entries)[4:])
}

func TestTornBytesAreToldOfInTheSegmentThatLostThemEvenIfItIsFull(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 1
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 1)...)
	closeLedger(t, l)
	path, b := lastSegment(t, fs)
	fs.Put(path, append(b, "torn"...))
	closeLedger(t, open(t, o))
	require.Contains(t, string(fs.Bytes(path)), record.EventJournalRecovered)
	closeLedger(t, open(t, o))
	types := eventTypes(audit(t, fs, dir))
	require.Equal(t, 1, strings.Count(strings.Join(types, " "), record.EventJournalRecovered))
}

func TestEarlierDamageIsRefusedWithItsPlace(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	for n := 0; n < 6000; n += 1000 {
		appendAll(t, l, batch(t, n, n+1000)...)
	}
	closeLedger(t, l)
	path, b := lastSegment(t, fs)
	require.Greater(t, len(b), segment.MaxGroupBytes+10_000)
	b[5_000] ^= 1
	fs.Put(path, b)
	_, err := ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrDamaged)
	var damage *segment.DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, segment.Name(1), damage.Segment)
	require.Less(t, damage.Offset, int64(5_000))
	require.Greater(t, damage.Offset, int64(3_000))
	require.Equal(t, strings.Count(string(b[:damage.Offset]), "\n")+1, int(damage.Sequence))
	require.Equal(t, b, fs.Bytes(path))
}

func TestLosingWhatWasAcknowledgedStopsTheJournalForGood(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	var s states
	o.Observer.State = s.add
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 3)...)
	path, b := lastSegment(t, fs)
	fs.Put(path, b[:len(b)-10])
	fs.FailAt(fs.Ops()+1, crashfs.Fault{Err: errors.New("disk trouble")})
	_, err := l.Append(t.Context(), batch(t, 3, 4))
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.Eventually(t, func() bool { return errors.Is(s.last(), ledger.ErrDamaged) }, 10*time.Second, time.Millisecond)
	_, err = l.Append(t.Context(), batch(t, 3, 4))
	require.ErrorIs(t, err, ledger.ErrDamaged)
	require.ErrorIs(t, l.Close(context.Background()), ledger.ErrDamaged)
}

func TestErrorsOfAppendNameTheSegmentAndNotWhereItIs(t *testing.T) {
	o := optionsFor(t, durable.OS{})
	o.Dir = filepath.Join(t.TempDir(), "secret place", "reads")
	o.IndexDir = ""
	var s states
	o.Observer.Failed = s.add
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 1)...)
	last := filepath.Join(o.Dir, segment.Name(1))
	b, err := os.ReadFile(last)
	require.NoError(t, err)
	require.NoError(t, os.Remove(last))

	_, err = l.Append(t.Context(), batch(t, 1, 2))
	require.ErrorIs(t, err, durable.ErrGone)
	require.ErrorIs(t, err, ledger.ErrUnavailable)
	require.ErrorContains(t, err, segment.Name(1))
	require.NotContains(t, err.Error(), "secret")
	require.Eventually(t, func() bool { return s.saw(last) }, 10*time.Second, time.Millisecond, "those who run it are told all")
	require.NoError(t, os.Rename(o.Dir, o.Dir+"_"))
	var missing *segment.MissingError
	require.Eventually(t, func() bool {
		_, err := l.Append(t.Context(), batch(t, 1, 2))
		require.NotContains(t, err.Error(), "secret")
		return errors.As(err, &missing)
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, os.Rename(o.Dir+"_", o.Dir))
	require.NoError(t, os.WriteFile(last, b, 0o600))
	appendUntilDurable(t, l, batch(t, 1, 2)...)
	closeLedger(t, l)
}

// saw reports whether an error with a text was added.
func (s *states) saw(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(err error) bool { return err != nil && strings.Contains(err.Error(), text) })
}

func TestTheNewestCauseIsToldWhenItChanges(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	var told, failed states
	o.Observer.State, o.Observer.Failed = told.add, failed.add
	l := open(t, o)
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
			return crashfs.Fault{Err: cause}
		})
		_, err := l.Append(t.Context(), batch(t, 0, 1))
		require.ErrorIs(t, err, ledger.ErrUnavailable)
		require.Eventually(t, func() bool { return errors.Is(told.last(), cause) }, 10*time.Second, time.Millisecond)
	}
	fs.SetFaults(nil)
	appendUntilDurable(t, l, batch(t, 0, 1)...)
	require.NoError(t, told.last())
	require.GreaterOrEqual(t, failed.count(), told.count()-1, "every failure is told")
	require.LessOrEqual(t, told.count(), 9, "a cause that stays is told once")
}

func (s *states) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

func TestADirectoryThatCannotBeWrittenIsNamedWithWhatToDo(t *testing.T) {
	for _, cause := range []error{syscall.EACCES, syscall.EROFS} {
		fs := crashfs.New(1)
		fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
			if op.Kind == crashfs.OpCreate {
				return crashfs.Fault{Err: cause}
			}
			return crashfs.Fault{}
		})
		_, err := ledger.Open(t.Context(), optionsFor(t, fs))
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, "let the user of this process write there, or choose another directory")
	}
}
