// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// rootOf is the definition of RFC 6962 section 2.1, word for word.
func rootOf(leaves [][sha256.Size]byte) [sha256.Size]byte {
	if len(leaves) == 1 {
		return leaves[0]
	}
	k := 1
	for 2*k < len(leaves) {
		k *= 2
	}
	left, right := rootOf(leaves[:k]), rootOf(leaves[k:])
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:]))
}

// frontier are the hashes of the largest complete subtrees, from the left, in hex.
func frontier(leaves [][sha256.Size]byte) (hashes []string) {
	for len(leaves) > 0 {
		k := 1
		for 2*k <= len(leaves) {
			k *= 2
		}
		root := rootOf(leaves[:k])
		hashes, leaves = append(hashes, hex.EncodeToString(root[:])), leaves[k:]
	}
	return hashes
}

func (w *writer) leaves(n int) (leaves [][sha256.Size]byte) {
	for _, line := range w.lines[:n] {
		hash, ok := journal.ParseHash(hashOf(w.t, line))
		require.True(w.t, ok)
		leaves = append(leaves, journal.LeafHash(hash))
	}
	return leaves
}

func (w *writer) checkpoint(n int) journal.Checkpoint {
	return journal.Checkpoint{Origin: w.id, Size: uint64(n), Root: rootOf(w.leaves(n))}
}

func (w *writer) signed(n int) []byte {
	note, err := journal.SignCheckpoint(w.checkpoint(n), w.signer)
	require.NoError(w.t, err)
	return note
}

// outsideStore is a directory of checkpoints as a sink lays it out.
type outsideStore struct {
	t         testing.TB
	directory string
}

func newOutsideStore(t testing.TB) outsideStore { return outsideStore{t, t.TempDir()} }

func (s outsideStore) path(id string, size uint64, suffix string) string {
	return filepath.Join(s.directory, id, fmt.Sprintf("%020d%s", size, suffix))
}

func (s outsideStore) put(note []byte) outsideStore {
	c, err := journal.ParseCheckpoint(note)
	require.NoError(s.t, err)
	path := s.path(c.Origin, c.Size, ".checkpoint")
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, note, 0o600))
	return s
}

// judge verifies lines with a policy and the checkpoints of places.
func judge(t testing.TB, directory string, registry *journal.Registry, policy *journal.Policy, places ...string) *journal.Report {
	checkpoints := journal.ReadCheckpoints(places, registry, policy)
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	require.Len(t, sources, 1)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, Policy: policy, Checkpoints: checkpoints})
	require.NoError(t, err)
	return report
}

func policyOf(t testing.TB, text string) *journal.Policy {
	p, err := journal.ParsePolicy([]byte(text))
	require.NoError(t, err)
	return p
}

func TestACheckpointKeptElsewhereAttestsTheTail(t *testing.T) {
	w := journalOf(t, 11)
	s := newOutsideStore(t)
	for n := 1; n <= 11; n++ {
		s.put(w.signed(n))
	}
	registry := registryOf(t, trustedKey(trusted))
	report := judge(t, store(t, 1, w.lines...), registry, policyOf(t, `{"demand":["tail"]}`), s.directory)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	assert.Equal(t, journal.Valid, report.Tail)
	assert.Equal(t, journal.Outside{Verified: 11, TailTo: 11}, report.Outside)
	assert.Equal(t, []journal.Code{journal.CodeTimeUnattested}, codesOf(report))

	// What is behind the newest checkpoint is not attested.
	w.read()
	report = judge(t, store(t, 1, w.lines...), registry, nil, s.directory)
	require.Equal(t, 0, report.ExitCode())
	assert.Equal(t, journal.NotPerformed, report.Tail)
	require.Equal(t, journal.CodeTailUnattested, report.Findings[0].Code)
	assert.Equal(t, uint64(12), report.Findings[0].Sequence)
	require.Equal(t, 2, judge(t, store(t, 1, w.lines...), registry, policyOf(t, `{"demand":["tail"]}`), s.directory).ExitCode())

	// Unless the policy says that the next checkpoint is not due yet.
	due := policyOf(t, `{"demand":["tail"],"journals":[{"journal_id":"jrn_test","largest_gap_seconds":1}]}`)
	require.Equal(t, 0, judge(t, store(t, 1, w.lines...), registry, due, s.directory).ExitCode())
	w.at = w.at.Add(time.Minute)
	report = judge(t, store(t, 1, w.read().lines...), registry, due, s.directory)
	require.Equal(t, 2, report.ExitCode())
	assert.Equal(t, []journal.Code{journal.CodeTimeUnattested, journal.CodeTailUnattested, journal.CodeTimeUnattested}, codesOf(report), "the silence, and the tail")
}

func TestATruncatedJournalIsBrokenOnlyBeforeACheckpoint(t *testing.T) {
	w := journalOf(t, 9)
	registry := registryOf(t, trustedKey(trusted))
	s := newOutsideStore(t).put(w.signed(3)).put(w.signed(7))
	for n := 1; n <= 9; n++ {
		directory := store(t, 1, w.lines[:n]...)
		require.Equal(t, 0, judge(t, directory, registry, nil).ExitCode(), "nobody knows: tail_unattested")
		report := judge(t, directory, registry, nil, s.directory)
		if n >= 7 {
			require.Equal(t, 0, report.ExitCode(), "%+v", report)
			continue
		}
		require.Equal(t, []journal.Code{journal.CodeTruncated}, brokenCodes(report))
		require.Equal(t, uint64(n+1), report.FirstBad.Sequence)
		require.Equal(t, journal.Failed, report.Tail)
	}
}

func TestAForkIsFound(t *testing.T) {
	w := journalOf(t, 5)
	fork := *w
	fork.lines = slices.Clone(w.lines[:3])
	fork.sequence, fork.previous = 3, hashOf(t, w.lines[2])
	fork.at = fork.at.Add(time.Hour)
	fork.read().read()
	registry := registryOf(t, trustedKey(trusted))

	// The journal that is shown is not the one that was seen.
	report := judge(t, store(t, 1, w.lines...), registry, nil, newOutsideStore(t).put(fork.signed(3)).put(fork.signed(5)).directory)
	require.Equal(t, []journal.Code{journal.CodeFork}, brokenCodes(report))
	require.Equal(t, uint64(5), report.FirstBad.Sequence)
	require.Equal(t, journal.Failed, report.Chain)

	// Two were seen.
	one, two := newOutsideStore(t).put(w.signed(5)), newOutsideStore(t).put(fork.signed(5))
	report = judge(t, store(t, 1, w.lines...), registry, nil, one.directory, two.directory)
	require.Equal(t, []journal.Code{journal.CodeFork, journal.CodeFork}, brokenCodes(report))
}

func TestARestoredBackupIsTruncatedAndThenAFork(t *testing.T) {
	w := journalOf(t, 8)
	registry := registryOf(t, trustedKey(trusted))
	s := newOutsideStore(t).put(w.signed(8))
	backup := *w
	backup.lines, backup.sequence, backup.previous = slices.Clone(w.lines[:5]), 5, hashOf(t, w.lines[4])
	report := judge(t, store(t, 1, backup.lines...), registry, nil, s.directory)
	require.Equal(t, []journal.Code{journal.CodeTruncated}, brokenCodes(report))
	backup.at = backup.at.Add(time.Hour)
	report = judge(t, store(t, 1, backup.read().read().read().read().lines...), registry, nil, s.directory)
	require.Equal(t, []journal.Code{journal.CodeFork}, brokenCodes(report), "it was written on")
}

func TestACheckpointByNobodyWhoIsTrustedIsRefused(t *testing.T) {
	w := journalOf(t, 4)
	registry := registryOf(t, trustedKey(trusted), trustedKey(incoming))
	forged, err := journal.SignCheckpoint(w.checkpoint(4), stranger)
	require.NoError(t, err)
	changed := bytes.Replace(w.signed(4), []byte("\n4\n"), []byte("\n3\n"), 1)
	for name, note := range map[string][]byte{"of a stranger": forged, "that was changed": changed} {
		report := judge(t, store(t, 1, w.lines...), registry, nil, newOutsideStore(t).put(note).directory)
		require.Equal(t, []journal.Code{journal.CodeCheckpointSignatureInvalid}, brokenCodes(report), name)
	}
	// A key of another journal.
	other, err := journal.SignCheckpoint(w.checkpoint(4), incoming)
	require.NoError(t, err)
	policy := policyOf(t, `{"journals":[{"journal_id":"jrn_test","keys":["`+trusted.KeyID()+`"]}]}`)
	report := judge(t, store(t, 1, w.lines...), registry, policy, newOutsideStore(t).put(other).directory)
	require.Equal(t, []journal.Code{journal.CodeCheckpointSignatureInvalid}, brokenCodes(report))
	report = judge(t, store(t, 1, w.lines...), registry, policyOf(t, `{"journals":[{"journal_id":"jrn_test","keys":["`+incoming.KeyID()+`"]}]}`))
	require.Equal(t, journal.CodeKeyUnknown, report.FirstBad.Code)

	// A key that was revoked from a sequence on.
	key := trustedKey(trusted)
	key.RevokedAt, key.InvalidFromSequence = record.NewTime(epoch.AddDate(1, 0, 0)), map[string]uint64{"jrn_test": 5}
	w.read()
	report = judge(t, store(t, 1, w.lines[:4]...), registryOf(t, key), nil, newOutsideStore(t).put(w.signed(5)).directory)
	require.Equal(t, []journal.Code{journal.CodeCheckpointSignatureInvalid}, brokenCodes(report), "it is not truncated by what a thief says")

	// Without a registry no checkpoint says anything.
	report = judge(t, store(t, 1, w.lines...), nil, nil, newOutsideStore(t).put(w.signed(4)).directory)
	require.Equal(t, 2, report.ExitCode())
	require.Contains(t, codesOf(report), journal.CodeCheckpointNotPerformed)
}

func TestDamageBeforeACheckpointIsNotAFork(t *testing.T) {
	w := journalOf(t, 6)
	registry := registryOf(t, trustedKey(trusted))
	s := newOutsideStore(t).put(w.signed(6))
	l := slices.Clone(w.lines)
	l[2] = replace(l[2], `"bank"`, `"tank"`)
	require.Equal(t, []journal.Code{journal.CodeRecordHashMismatch}, brokenCodes(judge(t, store(t, 1, l...), registry, nil, s.directory)), "the checkpoint knows the hash")
	l = slices.Delete(slices.Clone(w.lines), 2, 3)
	report := judge(t, store(t, 1, l...), registry, nil, s.directory)
	require.Equal(t, []journal.Code{journal.CodeSequenceGap}, brokenCodes(report))
	require.Equal(t, uint64(1), report.Outside.NotChecked)
	require.Equal(t, journal.NotPerformed, report.Tail)
}

func TestAPolicySaysHowAJournalBegins(t *testing.T) {
	w := journalOf(t, 6)
	registry := registryOf(t, trustedKey(trusted))
	rest := store(t, 4, w.lines[3:]...)
	anchored := func(hash string) *journal.Policy {
		return policyOf(t, fmt.Sprintf(`{"demand":["first_link"],"journals":[{"journal_id":"jrn_test","first_sequence":4,"first_link":%q}]}`, hash))
	}
	report := judge(t, rest, registry, anchored(hashOf(t, w.lines[2])))
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.Valid, report.FirstLink)
	require.Equal(t, 0, judge(t, store(t, 1, w.lines...), registry, anchored(hashOf(t, w.lines[2]))).ExitCode(), "more than is demanded")
	for _, directory := range []string{rest, store(t, 1, w.lines...)} {
		report = judge(t, directory, registry, anchored(hashOf(t, w.lines[1])))
		require.Equal(t, []journal.Code{journal.CodePreviousHashMismatch}, brokenCodes(report))
		require.Equal(t, uint64(4), report.FirstBad.Sequence)
	}
	report = judge(t, rest, registry, policyOf(t, `{"demand":["first_link"]}`))
	require.Equal(t, 2, report.ExitCode(), "nothing anchors it")
	report = judge(t, store(t, 5, w.lines[4:]...), registry, anchored(hashOf(t, w.lines[2])))
	require.Equal(t, []journal.Code{journal.CodeSequenceGap}, brokenCodes(report))
	require.Equal(t, uint64(5), report.FirstBad.Sequence)
	report = judge(t, rest, registry, policyOf(t, `{"journals":[{"journal_id":"jrn_other"}]}`))
	require.Equal(t, []journal.Code{journal.CodeJournalIDMismatch}, brokenCodes(report))
}

func TestTheOldestCheckpointOfAPolicyMustBeContinued(t *testing.T) {
	w := journalOf(t, 6)
	registry := registryOf(t, trustedKey(trusted))
	oldest := func(c journal.Checkpoint) *journal.Policy {
		return policyOf(t, fmt.Sprintf(`{"journals":[{"journal_id":"jrn_test","oldest_checkpoint":{"size":%d,"root":%q}}]}`, c.Size, base64.StdEncoding.EncodeToString(c.Root[:])))
	}
	require.Equal(t, 0, judge(t, store(t, 1, w.lines...), registry, oldest(w.checkpoint(4))).ExitCode())
	report := judge(t, store(t, 1, w.lines[:3]...), registry, oldest(w.checkpoint(4)))
	require.Equal(t, []journal.Code{journal.CodeTruncated}, brokenCodes(report))
	wrong := w.checkpoint(4)
	wrong.Root[0] ^= 1
	report = judge(t, store(t, 1, w.lines...), registry, oldest(wrong))
	require.Equal(t, []journal.Code{journal.CodeCheckpointInconsistent}, brokenCodes(report))
	require.Equal(t, uint64(4), report.FirstBad.Sequence)
}

func TestWhatIsLeftOutOfAStoreIsSaid(t *testing.T) {
	w := journalOf(t, 3)
	registry := registryOf(t, trustedKey(trusted))
	s := newOutsideStore(t).put(w.signed(3))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(s.directory, link))
	c := journal.ReadCheckpoints([]string{link}, registry, nil)
	require.Empty(t, c.Problems(), "a link to a store is a store")
	require.Equal(t, []string{"jrn_test"}, c.Origins())

	c = journal.ReadCheckpoints([]string{filepath.Dir(link), t.TempDir()}, registry, nil)
	require.Len(t, c.Problems(), 3)
	require.ErrorContains(t, c.Problems()[0], "is a link that is not followed")
	require.ErrorContains(t, c.Problems()[1], "holds none")

	require.NoError(t, os.WriteFile(s.path(w.id, 4, ".checkpoint"), []byte("jrn_test\n4\n"), 0o600))
	require.NoError(t, os.WriteFile(s.path(w.id, 5, ".checkpoint"), make([]byte, journal.MaxCheckpointBytes+1), 0o600))
	c = journal.ReadCheckpoints([]string{s.directory}, registry, nil)
	require.Len(t, c.Problems(), 2)
	require.ErrorContains(t, c.Problems()[0], "malformed checkpoint")
	c = journal.ReadCheckpoints([]string{filepath.Join(s.directory, "absent")}, registry, nil)
	require.Len(t, c.Problems(), 1)
}

func TestAHostileFileInAStoreSilencesNoOther(t *testing.T) {
	w := journalOf(t, 4)
	registry := registryOf(t, trustedKey(trusted))
	s := newOutsideStore(t).put(w.signed(4))
	require.NoError(t, os.Symlink(os.DevNull, s.path(w.id, 1, ".checkpoint")))
	require.NoError(t, os.Symlink("/dev/zero", s.path(w.id, 4, ".tsa.tsr")))
	for i := range 101 {
		require.NoError(t, os.WriteFile(s.path(w.id, 3, fmt.Sprintf(".%d.tsr", i)), nil, 0o600))
	}
	s.put(w.signed(3))
	c := journal.ReadCheckpoints([]string{filepath.Join(s.directory, "absent"), s.directory}, registry, nil)
	require.Len(t, c.Problems(), 4)
	report := judge(t, store(t, 1, w.lines[:2]...), registry, nil, s.directory)
	require.Equal(t, []journal.Code{journal.CodeTruncated}, brokenCodes(report))
}

func TestAFileWithoutAnEntryIsAttestedByNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("{}\n[]\n"), 0o600))
	report := judge(t, path, registryOf(t, trustedKey(trusted)), nil, newOutsideStore(t).put(journalOf(t, 2).signed(2)).directory)
	require.Equal(t, 1, report.ExitCode())
	for _, check := range []journal.Check{report.Chain, report.Signature, report.Schema, report.FirstLink, report.Tail, report.Time} {
		require.NotEqual(t, journal.Valid, check)
	}
}
