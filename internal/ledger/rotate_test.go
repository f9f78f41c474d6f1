// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// keysOf returns the key of every entry, as a letter, and with it a mark for the
// ends of bridges.
func keysOf(entries []*journal.Entry) (keys string) {
	for _, e := range entries {
		switch e.Header.EventType {
		case record.EventKeyRotated:
			keys += ">"
		case record.EventKeyAccepted:
			keys += "<"
		default:
			keys += map[string]string{signer.KeyID(): "a", second.KeyID(): "b", third.KeyID(): "c"}[e.Integrity.Signature.KeyID]
		}
	}
	return keys
}

func TestEntriesBeforeARotationHaveTheOldKeyAndThoseBehindItTheNewOne(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		t.Run(fmt.Sprint("group signatures ", grouped), func(t *testing.T) {
			fs := crashfs.New(1)
			o := optionsFor(t, fs)
			o.GroupSignatures = grouped
			l := open(t, o)
			require.Equal(t, signer.KeyID(), appendAll(t, l, batch(t, 0, 2)...)[1].KeyID)
			require.NoError(t, l.Rotate(t.Context(), second))
			require.NoError(t, l.Rotate(t.Context(), second), "again changes nothing")
			require.Equal(t, second.KeyID(), appendAll(t, l, batch(t, 2, 4)...)[1].KeyID)
			require.NoError(t, l.Rotate(t.Context(), third))
			require.NoError(t, l.Rotate(t.Context(), second))
			closeLedger(t, l)
			require.Equal(t, "aaa><bb><><b", keysOf(audit(t, fs, dir)))
		})
	}
}

func TestNobodyWaitsForARotation(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.GroupSignatures = true
	o.MaxSegmentBytes = 20_000
	l := open(t, o)
	var wg sync.WaitGroup
	for caller := range 4 {
		wg.Go(func() {
			for n := range 20 {
				receipts, err := l.Append(context.Background(), batch(t, 100*caller+n, 100*caller+n+3))
				if err != nil || len(receipts) != 3 {
					panic(fmt.Sprint(receipts, err))
				}
			}
		})
	}
	for n := range 9 {
		require.NoError(t, l.Rotate(t.Context(), []testSigner{second, third, signer}[n%3]))
	}
	wg.Wait()
	closeLedger(t, l)
	entries := audit(t, fs, dir)
	require.Len(t, countIDs(t, entries), 4*22)
	require.Contains(t, keysOf(entries), "><")
}

func TestAKeyThatDoesNotWorkIsNotRotatedTo(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, optionsFor(t, fs))
	require.ErrorContains(t, l.Rotate(t.Context(), brokenSigner{second, errors.New("token is gone")}), "token is gone; the journal stays with the key that it has")
	require.ErrorContains(t, l.Rotate(t.Context(), brokenSigner{second, nil}), "its public key does not verify what it signs")
	appendAll(t, l, batch(t, 0, 1)...)
	closeLedger(t, l)
	require.Equal(t, "aaa", keysOf(audit(t, fs, dir)))
	require.ErrorIs(t, l.Rotate(t.Context(), second), ledger.ErrClosed)
}

// brokenSigner fails, or signs with another key.
type brokenSigner struct {
	testSigner
	err error
}

func (s brokenSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(third.private, message), s.err
}

func TestAJournalIsOpenedWithAnotherKeyOnlyOverABridge(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	closeLedger(t, open(t, o))
	o.Signer = second
	_, err := ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrOtherKey)
	o.Outgoing = []journal.Signer{third}
	_, err = ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrOtherKey)
	o.Outgoing = []journal.Signer{third, signer}
	closeLedger(t, open(t, o))
	closeLedger(t, open(t, o))
	o.Signer = signer
	o.Outgoing = []journal.Signer{second}
	closeLedger(t, open(t, o))
	entries := audit(t, fs, dir)
	require.Equal(t, "aa><bbbb><aa", keysOf(entries))
	require.Equal(t, record.EventJournalResumed, entries[4].Header.EventType)

	o.Outgoing = []journal.Signer{nil}
	_, err = ledger.Open(t.Context(), o)
	require.ErrorContains(t, err, "an outgoing signer is missing")
}

// Whichever key is configured at the next opening, and however much of a bridge a
// crash left, the journal verifies, as long as the key that has the word is there.
func TestABridgeTornAnywhereIsCompleted(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 2)...)
	before := len(fs.Bytes(dir + "/" + segment.Name(1)))
	require.NoError(t, l.Rotate(t.Context(), second))
	path, whole := lastSegment(t, fs)
	for size := before; size <= len(whole); size += 17 {
		if size+17 > len(whole) {
			size = len(whole)
		}
		for name, c := range map[string]struct {
			signer   testSigner
			outgoing []journal.Signer
		}{
			"new key, old one outgoing": {second, []journal.Signer{signer}},
			"old key, new one outgoing": {signer, []journal.Signer{second}},
			"third key, both outgoing":  {third, []journal.Signer{second, signer}},
		} {
			fs := crashfs.New(1)
			fs.Put(path, whole[:size])
			o.FS, o.IndexDir, o.Signer, o.Outgoing = fs, t.TempDir(), c.signer, c.outgoing
			l := open(t, o)
			require.Equal(t, c.signer.KeyID(), appendAll(t, l, batch(t, 2, 3)...)[0].KeyID, name)
			closeLedger(t, l)
			audit(t, fs, dir)
		}
	}

	// The first entry alone hands over for good: without the other key, nothing
	// may be written.
	fs = crashfs.New(1)
	rotated := before + slices.Index(whole[before:], '\n') + 1
	fs.Put(path, whole[:rotated])
	o.FS, o.IndexDir, o.Signer, o.Outgoing = fs, t.TempDir(), signer, nil
	_, err := ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrOtherKey)
	require.ErrorContains(t, err, "hands over to key "+second.KeyID())
	require.Equal(t, string(whole[:rotated]), string(fs.Bytes(path)))
}

// Every operation of a rotation fails once: afterwards it can be repeated, and
// whether the bridge was durable or not, the journal goes on by itself.
func TestARotationThatFailsAnywhereCanBeRepeated(t *testing.T) {
	for _, fault := range []crashfs.Fault{
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseUnseen},
		{Err: syscall.EIO, Short: true, Loss: crashfs.LoseSeen},
		{Err: syscall.EIO, After: true},
		{Err: syscall.EIO},
	} {
		for n := 1; n < 12; n++ {
			fs := crashfs.New(uint64(n))
			o := optionsFor(t, fs)
			o.GroupSignatures = n%2 == 0
			l := open(t, o)
			appendAll(t, l, batch(t, 0, 2)...)
			fs.FailAt(fs.Ops()+n, fault)
			rotateUntilDurable(t, l, second)
			require.Equal(t, second.KeyID(), appendUntilDurable(t, l, batch(t, 2, 4)...)[1].KeyID)
			_ = l.Close(t.Context())
			o.FS, o.Signer, o.Outgoing = fs.Reboot(), second, []journal.Signer{signer}
			closeLedger(t, open(t, o))
			entries := audit(t, o.FS, dir)
			require.Len(t, countIDs(t, entries), 4)
		}
	}
}

func TestWhatTheJournalSaysAboutItselfIsAppendedInOrder(t *testing.T) {
	fs := crashfs.New(1)
	l := open(t, optionsFor(t, fs))
	for _, eventType := range []string{record.EventJournalHeartbeat, record.EventJournalHeartbeat} {
		r, err := l.Record(t.Context(), &record.Journal{Header: record.Header{EventType: eventType}, Detail: record.Heartbeat{SilentSince: record.NewTime(newClock().Now())}})
		require.NoError(t, err)
		require.False(t, r.Repeat)
	}
	for _, eventType := range []string{record.EventKeyRotated, record.EventJournalClosed, record.EventJournalPruned} {
		_, err := l.Record(t.Context(), &record.Journal{Header: record.Header{EventType: eventType}})
		require.ErrorContains(t, err, "only the journal itself writes that")
	}
	closeLedger(t, l)
	require.Equal(t, []string{"journal.opened", "journal.heartbeat", "journal.heartbeat", "journal.closed"}, eventTypes(audit(t, fs, dir)))
}
