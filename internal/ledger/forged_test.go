// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// forged returns the line of an entry that says what another one says and stands
// behind the last one, with the right chain and hash. It is signed by s, or, if s
// is nil, with 64 zero bytes.
func forged(t *testing.T, like, last *journal.Entry, s journal.Signer) []byte {
	t.Helper()
	text := string(like.Line)
	replace := func(old, with string) {
		require.Equal(t, 1, strings.Count(text, old), old)
		text = strings.Replace(text, old, with, 1)
	}
	i := like.Integrity
	replace(fmt.Sprintf(`"sequence":%d`, like.Header.Sequence), fmt.Sprintf(`"sequence":%d`, last.Header.Sequence+1))
	replace(`"previous_event_hash":"`+i.PreviousEventHash, `"previous_event_hash":"`+last.Integrity.RecordHash)
	if s != nil {
		replace(i.Signature.KeyID, s.KeyID())
		replace(i.Signature.PublicKey, base64.StdEncoding.EncodeToString(s.PublicKey()))
	}
	e, err := journal.ParseLine([]byte(text))
	require.NoError(t, err)
	digest := e.PayloadDigest()
	value := make([]byte, 64)
	if s != nil {
		value, err = s.Sign(digest[:])
		require.NoError(t, err)
	}
	replace(i.RecordHash, journal.SpellHash(digest))
	replace(i.Signature.Value, base64.StdEncoding.EncodeToString(value))
	return []byte(text + "\n")
}

// entryOf returns the first entry of an event type.
func entryOf(t *testing.T, entries []*journal.Entry, eventType string) *journal.Entry {
	t.Helper()
	for _, e := range entries {
		if e.Header.EventType == eventType {
			return e
		}
	}
	require.Fail(t, "no entry "+eventType)
	return nil
}

// requireRefused opens a journal that must be refused as it is.
func requireRefused(t *testing.T, fs *crashfs.FS, o ledger.Options) error {
	t.Helper()
	path, before := lastSegment(t, fs)
	_, err := ledger.Open(t.Context(), o)
	require.Error(t, err)
	require.Equal(t, before, fs.Bytes(path))
	files, listErr := fs.List(dir)
	require.NoError(t, listErr)
	for _, f := range files {
		require.NotContains(t, f.Name, ".torn")
	}
	return err
}

func TestAnEntryThatTheJournalDidNotSignIsDamageAndNoTornTail(t *testing.T) {
	for _, grouped := range []bool{false, true} {
		fs := crashfs.New(1)
		o := optionsFor(t, fs)
		l := open(t, o)
		appendAll(t, l, batch(t, 0, 600)...)
		_, err := l.SetHold(t.Context(), record.Hold{HoldID: "case-7"})
		require.NoError(t, err)
		_, err = l.SetHold(t.Context(), record.Hold{HoldID: "case-8"})
		require.NoError(t, err)
		_, err = l.LiftHold(t.Context(), record.Hold{HoldID: "case-8"})
		require.NoError(t, err)
		closeLedger(t, l)
		entries := audit(t, fs, dir)
		last := entries[len(entries)-1]
		path, honest := lastSegment(t, fs)
		o.GroupSignatures = grouped

		lifted := entryOf(t, entries, record.EventHoldLifted)
		fs.Put(path, append(bytes.Clone(honest), forged(t, lifted, last, nil)...))
		err = requireRefused(t, fs, o)
		require.ErrorIs(t, err, ledger.ErrDamaged)
		assert.Equal(t, 1, strings.Count(err.Error(), "journal is damaged"))
		assert.ErrorContains(t, err, fmt.Sprintf("at offset %d (sequence %d), and no crash did that: signature is not one over", len(honest), last.Header.Sequence+1))

		// A copy of a read would make the read that comes a repeat of what nobody signed.
		fs.Put(path, append(bytes.Clone(honest), forged(t, entryOf(t, entries, record.EventReadTool), last, nil)...))
		require.ErrorIs(t, requireRefused(t, fs, o), ledger.ErrDamaged)

		// One signature in the middle, of an entry whose hash is right.
		some := entries[300].Integrity.Signature.Value
		fs.Put(path, bytes.Replace(honest, []byte(some), []byte(entries[301].Integrity.Signature.Value), 1))
		err = requireRefused(t, fs, o)
		require.ErrorIs(t, err, ledger.ErrDamaged)
		assert.ErrorContains(t, err, fmt.Sprintf("(sequence %d)", entries[300].Header.Sequence))

		fs.Put(path, honest)
		closeLedger(t, open(t, o))
	}
}

func TestAKeyThatTheJournalDoesNotHaveWritesNothingThatIsGoneOnFrom(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 3)...)
	require.NoError(t, l.Rotate(t.Context(), second))
	closeLedger(t, l)
	entries := audit(t, fs, dir)
	last, like := entries[len(entries)-1], entryOf(t, entries, record.EventReadTool)
	path, honest := lastSegment(t, fs)
	o.Signer, o.Outgoing = second, []journal.Signer{signer}

	fs.Put(path, append(bytes.Clone(honest), forged(t, like, last, third)...))
	err := requireRefused(t, fs, o)
	require.ErrorIs(t, err, ledger.ErrDamaged)
	require.ErrorContains(t, err, "without a bridge")

	// The former key signs nothing any more.
	fs.Put(path, append(bytes.Clone(honest), forged(t, like, last, signer)...))
	require.ErrorContains(t, requireRefused(t, fs, o), "without a bridge")

	fs.Put(path, honest)
	closeLedger(t, open(t, o))
}

func TestATailIsNotCutThatACheckpointCounts(t *testing.T) {
	fs := crashfs.New(1)
	o := optionsFor(t, fs)
	l := open(t, o)
	appendAll(t, l, batch(t, 0, 20)...)
	id := l.JournalID()
	closeLedger(t, l)
	entries := audit(t, fs, dir)
	path, honest := lastSegment(t, fs)
	damaged := bytes.Replace(honest, []byte(entries[9].Header.EventID), []byte(strings.ToLower(entries[9].Header.EventID)), 1)
	require.NotEqual(t, honest, damaged)
	fs.Put(path, damaged)

	size := uint64(len(entries))
	o.Attested = func(_ context.Context, _ string, intact uint64) (*journal.SignedCheckpoint, error) {
		require.Equal(t, uint64(9), intact)
		return &journal.SignedCheckpoint{Checkpoint: journal.Checkpoint{Origin: id, Size: size}}, nil
	}
	err := requireRefused(t, fs, o)
	require.ErrorIs(t, err, ledger.ErrRolledBack)
	require.ErrorContains(t, err, fmt.Sprintf("behind entry 9 stand %d bytes that do not continue it, with %d whole entries among them: nothing was changed",
		bytes.Count(honest, nil)-1-bytes.Index(honest, entries[9].Line), size-10))

	o.Attested = func(context.Context, string, uint64) (*journal.SignedCheckpoint, error) {
		return nil, fmt.Errorf("%w: two of it", ledger.ErrContradicted)
	}
	require.ErrorContains(t, requireRefused(t, fs, o), "whole entries among them")

	// Nor by one who has not its key.
	o.Attested, o.Signer = nil, second
	require.ErrorIs(t, requireRefused(t, fs, o), ledger.ErrOtherKey)
}
