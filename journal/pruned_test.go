// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// announce writes what a writer says before it removes the entries before first.
func (w *writer) announce(first int) *writer {
	return w.event(record.EventJournalPruned, record.Pruned{
		FirstSequence: uint64(first), Anchor: hashOf(w.t, w.lines[first-2]), TreeHashes: frontier(w.leaves(first - 1)),
		Segments: []record.PrunedSegment{{Segment: segmentName(1), Size: 1, Digest: "sha256:" + sha256Hex(nil)}}, Rule: record.PruneRule{KeepDays: 30},
	})
}

func TestAPrunedJournalIsAnchoredByWhatAnnouncedIt(t *testing.T) {
	registry := registryOf(t, trustedKey(trusted))
	demand := policyOf(t, `{"demand":["first_link","tail"]}`)
	for first := 2; first <= 12; first++ {
		w := journalOf(t, 14)
		early, at, late := w.signed(max(first-2, 1)), w.signed(first-1), w.signed(first+1)
		w.announce(first).read()
		s := newOutsideStore(t).put(early).put(at).put(late).put(w.signed(16))
		report := judge(t, store(t, first, w.lines[first-1:]...), registry, demand, s.directory)
		require.Equal(t, 0, report.ExitCode(), "%+v", report)
		assert.Equal(t, journal.Valid, report.FirstLink)
		assert.Equal(t, journal.Valid, report.Tail)
		verified := uint64(3)
		assert.Equal(t, verified, report.Outside.Verified, "also the one of exactly what is gone")
		if first > 2 {
			assert.Equal(t, uint64(1), report.Outside.NotChecked, "of what is gone nothing can be computed")
		}
	}
}

func TestWithoutARegistryNoAnnouncementAnchorsAJournal(t *testing.T) {
	w := journalOf(t, 10)
	w.announce(5)
	report := judge(t, store(t, 5, w.lines[4:]...), nil, nil)
	require.Equal(t, journal.NotPerformed, report.FirstLink)
	require.Equal(t, uint64(1), report.Counts[journal.CodeFirstLinkUnanchored], "nobody knows who announced it: %+v", report)
}

func TestAnAnnouncementThatDoesNotFitIsFound(t *testing.T) {
	registry := registryOf(t, trustedKey(trusted))
	w := journalOf(t, 10)
	other := *w
	other.lines = slices.Clone(w.lines)
	other.event(record.EventJournalPruned, record.Pruned{
		FirstSequence: 5, Anchor: hashOf(t, w.lines[2]), TreeHashes: frontier(w.leaves(4)),
		Segments: []record.PrunedSegment{{Segment: segmentName(1), Size: 1, Digest: "sha256:" + sha256Hex(nil)}},
	})
	report := judge(t, store(t, 5, other.lines[4:]...), registry, nil)
	require.Equal(t, []journal.Code{journal.CodePreviousHashMismatch}, brokenCodes(report))
	require.Equal(t, uint64(5), report.FirstBad.Sequence)
	require.Equal(t, journal.Failed, report.FirstLink)

	// Hashes of another tree are found by any checkpoint behind it.
	lied := *w
	lied.lines = slices.Clone(w.lines)
	lied.event(record.EventJournalPruned, record.Pruned{
		FirstSequence: 5, Anchor: hashOf(t, w.lines[3]), TreeHashes: frontier(w.leaves(5)[1:]),
		Segments: []record.PrunedSegment{{Segment: segmentName(1), Size: 1, Digest: "sha256:" + sha256Hex(nil)}},
	})
	report = judge(t, store(t, 5, lied.lines[4:]...), registry, nil, newOutsideStore(t).put(w.signed(8)).directory)
	require.Equal(t, []journal.Code{journal.CodeFork}, brokenCodes(report))

	// More is gone than was announced.
	w.announce(3)
	report = judge(t, store(t, 5, w.lines[4:]...), registry, policyOf(t, `{"demand":["first_link"]}`))
	require.Equal(t, 2, report.ExitCode())
	require.Equal(t, journal.NotPerformed, report.FirstLink)

	// What nobody trusted announced counts for nothing.
	thief := journalOf(t, 6)
	thief.signer = stranger
	thief.announce(4)
	report = judge(t, store(t, 4, thief.lines[3:]...), registry, nil)
	require.Contains(t, codesOf(report), journal.CodeFirstLinkUnanchored)
	require.Equal(t, journal.CodeKeyUnknown, report.FirstBad.Code)
}

// The segments that were announced go one by one; a crash may leave some of them.
func TestARemovalMayHaveBeenInterrupted(t *testing.T) {
	registry := registryOf(t, trustedKey(trusted))
	w := journalOf(t, 10)
	s := newOutsideStore(t).put(w.signed(4)).put(w.signed(8))
	w.announce(4).announce(7)
	for first := 1; first <= 7; first++ {
		report := judge(t, store(t, first, w.lines[first-1:]...), registry, policyOf(t, `{"demand":["first_link"]}`), s.directory)
		require.Equal(t, 0, report.ExitCode(), "begins at %d: %+v", first, report)
		require.Equal(t, journal.Valid, report.FirstLink)
	}
	report := judge(t, store(t, 8, w.lines[7:]...), registry, nil, s.directory)
	require.Contains(t, codesOf(report), journal.CodeFirstLinkUnanchored)
}

func TestAPartOfAJournalIsVerifiedInWholeSegments(t *testing.T) {
	w := journalOf(t, 12)
	directory := store(t, 1, w.lines[:4]...)
	for _, first := range []int{5, 9} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(first)), bytes.Join(w.lines[first-1:first+3], nil), 0o600))
	}
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	registry := registryOf(t, trustedKey(trusted))
	checkpoints := journal.ReadCheckpoints([]string{newOutsideStore(t).put(w.signed(12)).directory}, registry, nil)
	for _, c := range []struct{ from, to, first, last uint64 }{
		{0, 0, 1, 12}, {1, 0, 1, 12}, {4, 5, 1, 8}, {5, 0, 5, 12}, {6, 7, 5, 8}, {0, 3, 1, 4}, {9, 9, 9, 12}, {12, 40, 9, 12},
	} {
		part, err := sources[0].Between(c.from, c.to)
		require.NoError(t, err)
		report, err := journal.Verify(t.Context(), part, journal.Options{Registry: registry, Checkpoints: checkpoints})
		require.NoError(t, err)
		require.Equal(t, 0, report.ExitCode(), "%+v: %+v", c, report)
		require.Equal(t, []uint64{c.first, c.last}, []uint64{report.FirstSequence, report.LastSequence})
		require.Equal(t, c.first == 1 && c.last == 12, report.Tail == journal.Valid, "nothing is said of what was not read")
	}
	_, err = sources[0].Between(7, 6)
	require.ErrorContains(t, err, "no entry is between 7 and 6")
	late, err := journal.Open(store(t, 5, w.lines[4:]...))
	require.NoError(t, err)
	_, err = late[0].Between(1, 4)
	require.ErrorContains(t, err, "the journal begins at 5")
}

func TestWhatAnOwnCheckpointCoversIsNotVerifiedAgain(t *testing.T) {
	w := journalOf(t, 9)
	registry := registryOf(t, trustedKey(trusted))
	since, err := journal.ParseCheckpoint(w.signed(6))
	require.NoError(t, err)
	run := func(registry *journal.Registry, lines ...[]byte) *journal.Report {
		sources, err := journal.Open(store(t, 1, lines...))
		require.NoError(t, err)
		report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Since: since})
		require.NoError(t, err)
		return report
	}
	report := run(registry, w.lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, uint64(6), report.Outside.Since)
	require.Equal(t, journal.Valid, report.Signature)

	// A signature that is covered is not looked at, and one that is not is.
	spoil := func(i int) [][]byte {
		l := slices.Clone(w.lines)
		l[i] = replace(l[i], entryOf(t, l[i]).Integrity.Signature.Value, entryOf(t, l[i-1]).Integrity.Signature.Value)
		return l
	}
	require.Equal(t, 0, run(registry, spoil(4)...).ExitCode())
	require.Equal(t, []journal.Code{journal.CodeSignatureInvalid}, brokenCodes(run(registry, spoil(7)...)))

	// Bytes, chain and keys are.
	l := slices.Clone(w.lines)
	l[3] = replace(l[3], `"bank"`, `"tank"`)
	require.Equal(t, journal.CodeRecordHashMismatch, run(registry, l...).FirstBad.Code)
	revoked := trustedKey(trusted)
	revoked.RevokedAt, revoked.InvalidFromSequence = record.NewTime(epoch.AddDate(1, 0, 0)), map[string]uint64{"jrn_test": 2}
	require.Equal(t, journal.CodeKeyRevoked, run(registryOf(t, revoked), w.lines...).FirstBad.Code)

	// Another history, without a key: only the root of the checkpoint tells.
	forged := journalOf(t, 1)
	forged.at = forged.at.Add(1)
	for len(forged.lines) < 9 {
		forged.read()
	}
	for i := 1; i < len(forged.lines); i++ {
		value := entryOf(t, forged.lines[i]).Integrity.Signature.Value
		forged.lines[i] = replace(forged.lines[i], value, entryOf(t, w.lines[i]).Integrity.Signature.Value)
	}
	report = run(registry, forged.lines[:6]...)
	require.Equal(t, 1, report.ExitCode())
	require.Equal(t, journal.CodeCheckpointInconsistent, report.FirstBad.Code)
	require.NotEqual(t, journal.Valid, report.Signature)

	// A journal that ends before it.
	report = run(registry, w.lines[:5]...)
	require.Equal(t, []journal.Code{journal.CodeTruncated}, brokenCodes(report))
	require.NotEqual(t, journal.Valid, report.Signature)
}
