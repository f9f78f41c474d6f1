// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"encoding/json/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// editIndex changes what the cached index of a closed journal says of itself.
func editIndex(t *testing.T, o ledger.Options, edit func(head map[string]any)) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(o.IndexDir, "repeats.db"), 0o600, &bbolt.Options{Timeout: time.Second})
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		b, head := tx.Bucket([]byte("head")), map[string]any{}
		require.NoError(t, json.Unmarshal(b.Get([]byte("head")), &head))
		edit(head)
		text, err := json.Marshal(head)
		require.NoError(t, err)
		return b.Put([]byte("head"), text)
	}))
	require.NoError(t, db.Close())
}

func holdsOf(t *testing.T, l *ledger.Ledger) []record.Hold {
	t.Helper()
	s, err := l.Standing(t.Context())
	require.NoError(t, err)
	return s.Holds
}

func TestACachedStandingThatTheJournalDidNotSignIsLearnedAnew(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 4 << 10
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 20)...)
	hold := record.Hold{HoldID: "case-7"}
	_, err := l.SetHold(t.Context(), hold)
	require.NoError(t, err)
	appendAll(t, l, batch(t, 20, 40)...)
	closeLedger(t, l)
	segments, err := segment.List(fs, dir)
	require.NoError(t, err)
	require.Greater(t, len(segments), 3)

	var before map[string]any
	editIndex(t, o, func(head map[string]any) {
		before = head
		require.NotEmpty(t, head["seal"])
	})
	for name, edit := range map[string]func(map[string]any){
		"no hold":          func(head map[string]any) { delete(head, "standing") },
		"no hold, no seal": func(head map[string]any) { delete(head, "standing"); delete(head, "seal") },
		"a later beginning": func(head map[string]any) {
			head["standing"] = `{"begins":{"first_sequence":` + itoa(segments[2].First) + `}}`
		},
		"another last entry": func(head map[string]any) {
			head["sequence"], head["hash"] = 1, "sha256:00"
		},
	} {
		editIndex(t, o, func(head map[string]any) {
			clear(head)
			for k, v := range before {
				head[k] = v
			}
			edit(head)
		})
		l := open(t, o)
		assert.Equal(t, []record.Hold{hold}, holdsOf(t, l), name)
		closeLedger(t, l)
		now, err := segment.List(fs, dir)
		require.NoError(t, err)
		assert.Equal(t, segments[0], now[0], name)
		editIndex(t, o, func(head map[string]any) { before = head })
	}
}

func TestAnOlderSealedStandingIsNotThatOfALaterEntry(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	closeLedger(t, open(t, o))
	var older map[string]any
	editIndex(t, o, func(head map[string]any) { older = head })
	l := open(t, o)
	hold := record.Hold{HoldID: "case-7"}
	_, err := l.SetHold(t.Context(), hold)
	require.NoError(t, err)
	closeLedger(t, l)
	editIndex(t, o, func(head map[string]any) { delete(head, "standing"); head["seal"] = older["seal"] })
	require.Equal(t, []record.Hold{hold}, holdsOf(t, open(t, o)))
}

func TestLiftingAHoldCountsOnlyIfAKeyOfTheJournalSignedIt(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	o.MaxSegmentBytes = 4 << 10
	var told []error
	o.Observer.Failed = func(err error) { told = append(told, err) }
	l := open(t, o)
	hold := record.Hold{HoldID: "case-7"}
	_, err := l.SetHold(t.Context(), hold)
	require.NoError(t, err)
	lifted, err := l.LiftHold(t.Context(), hold)
	require.NoError(t, err)
	require.NoError(t, l.Rotate(t.Context(), second))
	require.NoError(t, l.Rotate(t.Context(), third))
	appendAll(t, l, batch(t, 0, 40)...)
	closeLedger(t, l)
	o.Signer = third

	// Over two bridges.
	require.NoError(t, os.RemoveAll(o.IndexDir))
	l = open(t, o)
	require.Empty(t, holdsOf(t, l))
	require.Empty(t, told)
	closeLedger(t, l)

	segments, err := segment.List(fs, dir)
	require.NoError(t, err)
	require.Greater(t, len(segments), 2)
	entries := audit(t, fs, dir)
	path := dir + "/" + segment.Name(1)
	honest := fs.Bytes(path)

	// Its signature is another one.
	fs.Put(path, bytes.Replace(honest, []byte(entries[lifted.Sequence-1].Integrity.Signature.Value), []byte(entries[0].Integrity.Signature.Value), 1))
	require.NoError(t, os.RemoveAll(o.IndexDir))
	l = open(t, o)
	require.Equal(t, []record.Hold{hold}, holdsOf(t, l))
	require.Len(t, told, 1)
	require.ErrorContains(t, told[0], "journal.hold_lifted in entry "+itoa(lifted.Sequence)+" does not count")
	closeLedger(t, l)

	// Its key is one of nobody.
	entry := entries[lifted.Sequence-1]
	foreign := forged(t, entry, entries[lifted.Sequence-2], newSigner(9))
	fs.Put(path, bytes.Replace(honest, append(bytes.Clone(entry.Line), '\n'), foreign, 1))
	require.NoError(t, os.RemoveAll(o.IndexDir))
	_, err = ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrDamaged, "the chain behind it says that it is another one")

	// The hold was taken out.
	fs.Put(path, bytes.Replace(honest, append(bytes.Clone(entries[lifted.Sequence-2].Line), '\n'), nil, 1))
	require.NoError(t, os.RemoveAll(o.IndexDir))
	_, err = ledger.Open(t.Context(), o)
	require.ErrorIs(t, err, ledger.ErrDamaged)
}

func TestAHoldLiftedBeforeABridgeWasTornIsLifted(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	hold := record.Hold{HoldID: "case-7"}
	_, err := l.SetHold(t.Context(), hold)
	require.NoError(t, err)
	_, err = l.LiftHold(t.Context(), hold)
	require.NoError(t, err)
	require.NoError(t, l.Rotate(t.Context(), second))
	closeLedger(t, l)
	accepted := entryOf(t, audit(t, fs, dir), record.EventKeyAccepted)
	path, whole := lastSegment(t, fs)
	fs.Put(path, whole[:bytes.Index(whole, accepted.Line)])
	require.NoError(t, os.RemoveAll(o.IndexDir))
	o.Signer, o.Outgoing = second, []journal.Signer{}
	require.Empty(t, holdsOf(t, open(t, o)))
}
