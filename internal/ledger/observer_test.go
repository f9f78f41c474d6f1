// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

func TestAJournalShorterThanACheckpointIsRefused(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 2)...)
	id := l.JournalID()
	closeLedger(t, l) // four entries
	var attested *journal.SignedCheckpoint
	var failure error
	var told []error
	o.Observer.Failed = func(err error) { told = append(told, err) }
	o.Attested = func(_ context.Context, journalID string, _ uint64) (*journal.SignedCheckpoint, error) {
		require.Equal(t, id, journalID)
		return attested, failure
	}
	attested = &journal.SignedCheckpoint{Checkpoint: journal.Checkpoint{Origin: id, Size: 5}}
	_, err := ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrRolledBack)
	require.ErrorContains(t, err, "a checkpoint counts 5 entries, and "+id+" has 4")

	attested.Size = 4
	closeLedger(t, open(t, o))
	attested = nil
	closeLedger(t, open(t, o))
	require.Empty(t, told)
	failure = errors.New("store does not answer")
	closeLedger(t, open(t, o))
	require.Len(t, told, 1)
	require.ErrorIs(t, told[0], failure)
	require.Len(t, audit(t, fs, dir), 10)

	o.Dir = dir + "2" // a new journal has no id to ask for
	closeLedger(t, open(t, o))
}

// tree is what an observer makes of the journal.
type tree struct {
	t      *testing.T
	mu     sync.Mutex
	first  uint64
	hashes []string
}

func (s *tree) add(first uint64, hashes [][sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 {
		s.first = first
	}
	if first != s.first+uint64(len(s.hashes)) {
		panic(fmt.Sprint("entries are told of from ", first, " and not from ", s.first+uint64(len(s.hashes))))
	}
	for _, h := range hashes {
		s.hashes = append(s.hashes, journal.SpellHash(h))
	}
}

// Whatever fails: an observer hears of every entry once, in order, before it is
// acknowledged.
func TestEveryDurableEntryIsToldOfInOrder(t *testing.T) {
	for n := 1; n < 60; n++ {
		fs := crashfs.New(uint64(n))
		o := optionsFor(t, fs)
		o.MaxSegmentBytes = 6_000
		s := &tree{t: t}
		o.Observer.Durable = s.add
		l := open(t, o)
		fs.FailAt(fs.Ops()+n/2, crashfs.Fault{Err: syscall.EIO, Loss: crashfs.Loss(n % 3), Short: n%4 < 2})
		for i := range 5 {
			receipts := appendUntilDurable(t, l, batch(t, 2*i, 2*i+2)...)
			s.mu.Lock()
			require.Contains(t, s.hashes, receipts[1].RecordHash)
			s.mu.Unlock()
		}
		if l.Close(t.Context()) != nil {
			continue
		}
		fs.SetFaults(nil)
		entries := audit(t, fs, dir)
		require.Equal(t, uint64(1), s.first)
		require.Len(t, s.hashes, len(entries))
		for i, e := range entries {
			require.Equal(t, e.Integrity.RecordHash, s.hashes[i])
		}
		again := &tree{t: t}
		o.Observer.Durable = again.add
		closeLedger(t, open(t, o))
		require.Equal(t, uint64(len(entries)+1), again.first)
	}
}
