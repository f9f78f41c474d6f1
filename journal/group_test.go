// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"encoding/base64"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// group writes n reads with one signature.
func (w *writer) group(n int) *writer {
	var entries []*journal.Unsigned
	for range n {
		draft, err := record.NewReadDraft(exampleRead(w.sequence+1), true)
		require.NoError(w.t, err)
		w.begin()
		u := journal.AssembleGrouped(draft.Kind(), record.SchemaVersion, draft.Complete(w.completion()), w.previous, w.signer)
		w.previous = u.RecordHash()
		entries = append(entries, u)
	}
	signed, err := journal.SignGroup(entries, w.signer)
	require.NoError(w.t, err)
	for i := range entries {
		w.lines = append(w.lines, signed.Line(i))
	}
	return w
}

func TestGroupSignaturesAreVerified(t *testing.T) {
	w := journalOf(t, 2).group(1).group(5).read().group(7).group(130)
	report := verifyLines(t, w.lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.Valid, report.Signature)
	require.Equal(t, journal.Valid, report.Schema)

	// What a crash left of a group stands, and so does what came after it.
	cut := *w
	cut.lines = slices.Clone(w.lines[:5])
	cut.previous, cut.sequence = hashOf(t, w.lines[4]), 5
	report = verifyLines(t, cut.group(3).read().lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)

	// A journal may begin in the middle of a group.
	report = verify(t, store(t, 5, w.lines[4:]...), registryOf(t, trustedKey(trusted)))
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
}

// value changes the bytes of a group signature.
func value(t *testing.T, line []byte, change func(value []byte)) []byte {
	old := entryOf(t, line).Integrity.Signature.Value
	b, err := base64.StdEncoding.DecodeString(old)
	require.NoError(t, err)
	change(b)
	return bytes.Replace(line, []byte(old), []byte(base64.StdEncoding.EncodeToString(b)), 1)
}

func TestNoByteOfAGroupSignatureCanBeChanged(t *testing.T) {
	w := journalOf(t, 2).group(6).read()
	for i := 2; i < 8; i++ {
		raw, err := base64.StdEncoding.DecodeString(entryOf(t, w.lines[i]).Integrity.Signature.Value)
		require.NoError(t, err)
		for n := range raw {
			l := slices.Clone(w.lines)
			l[i] = value(t, l[i], func(v []byte) { v[n] ^= 1 << (n % 8) })
			report := verifyLines(t, l...)
			require.Equal(t, 1, report.ExitCode(), "entry %d byte %d", i, n)
			// The first entry of a group has nobody before it that would know its size.
			require.Contains(t, []uint64{uint64(i + 1), uint64(i + 2)}, report.FirstBad.Sequence)
		}
	}
}

func TestASignatureOfAnotherGroupIsRefused(t *testing.T) {
	w := journalOf(t, 2).group(4).group(4)
	l := slices.Clone(w.lines)
	l[3] = replace(l[3], entryOf(t, l[3]).Integrity.Signature.Value, entryOf(t, l[7]).Integrity.Signature.Value)
	report := verifyLines(t, l...)
	require.Equal(t, []journal.Code{journal.CodeSignatureInvalid}, brokenCodes(report))
	require.Equal(t, uint64(4), report.FirstBad.Sequence)
}
