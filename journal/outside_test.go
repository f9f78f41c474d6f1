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

	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
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
	checkpoints, err := journal.ReadCheckpoints(places, registry, policy)
	require.NoError(t, err)
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

func TestAKeyIsJudgedAtTheFirstAttestationFromOutside(t *testing.T) {
	w := journalOf(t, 6) // recorded at one to six seconds after epoch
	witness := newCosigner(t, "one.example", 11)
	policy := policyOf(t, fmt.Sprintf(`{"witnesses":[%q],"quorum":1,"demand":["time"]}`, witness.vkey.String()))
	later := epoch.Add(time.Hour)
	cosigned := func(n int, at time.Time) []byte {
		return append(w.signed(n), witness.cosign(w.checkpoint(n).Text(), at.Unix())...)
	}
	s := newOutsideStore(t).put(cosigned(4, later)).put(cosigned(6, later.Add(time.Hour)))
	directory := store(t, 1, w.lines...)
	for _, c := range []struct {
		name   string
		change func(k *journal.Key)
		code   journal.Code
		first  uint64
	}{
		{"a key that was always valid", func(*journal.Key) {}, "", 0},
		{"a key that was revoked before the first attestation", func(k *journal.Key) { k.RevokedAt = record.NewTime(later.Add(-time.Minute)) }, journal.CodeKeyRevoked, 1},
		{"a key that was revoked between the attestations", func(k *journal.Key) { k.RevokedAt = record.NewTime(later.Add(time.Minute)) }, journal.CodeKeyRevoked, 5},
		{"a key that became valid after the entries were recorded", func(k *journal.Key) { k.ValidFrom = record.NewTime(epoch.Add(time.Minute)) }, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := trustedKey(trusted)
			c.change(&key)
			report := judge(t, directory, registryOf(t, key), policy, s.directory)
			if c.code == "" {
				require.Equal(t, 0, report.ExitCode(), "%+v", report)
				require.Equal(t, journal.Valid, report.Time)
				require.Equal(t, journal.Valid, report.Tail)
				return
			}
			entries := slices.DeleteFunc(report.Findings, func(f journal.Finding) bool { return f.Code != c.code })
			require.NotEmpty(t, entries)
			require.Equal(t, c.first, entries[0].Sequence)
		})
	}
}

func TestABackDatedEntryAfterARevocationIsFound(t *testing.T) {
	// A thief has the key and sets the clock back to before the revocation.
	w := journalOf(t, 4)
	witness := newCosigner(t, "one.example", 11)
	revoked := trustedKey(trusted)
	revoked.RevokedAt = record.NewTime(epoch.Add(time.Hour))
	s := newOutsideStore(t).put(append(w.signed(4), witness.cosign(w.checkpoint(4).Text(), epoch.Add(time.Minute).Unix())...))
	w.read()
	policy := policyOf(t, fmt.Sprintf(`{"witnesses":[%q],"quorum":1,"demand":["time"]}`, witness.vkey.String()))
	report := judge(t, store(t, 1, w.lines...), registryOf(t, revoked), policy, s.directory)
	require.Equal(t, 2, report.ExitCode(), "nobody saw it before the revocation")
	require.Equal(t, uint64(5), report.Findings[len(report.Findings)-1].Sequence)

	// What the witness sees of it, it sees too late.
	s.put(append(w.signed(5), witness.cosign(w.checkpoint(5).Text(), epoch.Add(2*time.Hour).Unix())...))
	report = judge(t, store(t, 1, w.lines...), registryOf(t, revoked), policy, s.directory)
	require.Equal(t, 1, report.ExitCode())
	require.Contains(t, brokenCodes(report), journal.CodeKeyRevoked)

	// And without anybody outside, invalid_from_sequence says it.
	revoked.InvalidFromSequence = map[string]uint64{"jrn_test": 5}
	report = judge(t, store(t, 1, w.lines...), registryOf(t, revoked), nil)
	require.Equal(t, []journal.Code{journal.CodeKeyRevoked}, brokenCodes(report))
	require.Equal(t, uint64(5), report.FirstBad.Sequence)
}

func TestAQuorumOfWitnessesIsDemanded(t *testing.T) {
	w := journalOf(t, 3)
	one, two := newCosigner(t, "one.example", 11), newCosigner(t, "two.example", 12)
	policy := policyOf(t, fmt.Sprintf(`{"witnesses":[%q,%q],"quorum":2,"demand":["tail","time"]}`, one.vkey.String(), two.vkey.String()))
	registry := registryOf(t, trustedKey(trusted))
	note := append(w.signed(3), one.cosign(w.checkpoint(3).Text(), epoch.Add(time.Minute).Unix())...)
	report := judge(t, store(t, 1, w.lines...), registry, policy, newOutsideStore(t).put(note).directory)
	require.Equal(t, 2, report.ExitCode(), "one is not enough")
	require.Equal(t, journal.NotPerformed, report.Tail)
	note = append(note, two.cosign(w.checkpoint(3).Text(), epoch.Add(2*time.Minute).Unix())...)
	report = judge(t, store(t, 1, w.lines...), registry, policy, newOutsideStore(t).put(note).directory)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	key := trustedKey(trusted)
	key.ValidUntil = record.NewTime(epoch.Add(90 * time.Second))
	report = judge(t, store(t, 1, w.lines...), registryOf(t, key), policy, newOutsideStore(t).put(note).directory)
	require.Contains(t, brokenCodes(report), journal.CodeKeyExpired, "the time is that of the last one who is needed")
}

func TestATimeStampBesideACheckpointAttestsTime(t *testing.T) {
	w := journalOf(t, 3)
	a := checkpointtest.NewAuthority(t)
	w.at = time.Now().Add(-time.Hour)
	w.read()
	s := newOutsideStore(t).put(w.signed(4))
	token := a.Stamp(stampRequest(t, w.checkpoint(4).Text()))
	require.NoError(t, os.WriteFile(s.path(w.id, 4, ".tsa_example.tsr"), token, 0o600))
	policy := &journal.Policy{TimestampRoots: a.Roots, Demand: []journal.Demand{journal.DemandTime, journal.DemandTail}}
	report := judge(t, store(t, 1, w.lines...), registryOf(t, trustedKey(trusted)), policy, s.directory)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.Valid, report.Time)
	// A file is taken as a directory is.
	report = judge(t, store(t, 1, w.lines...), registryOf(t, trustedKey(trusted)), policy, s.path(w.id, 4, ".checkpoint"))
	require.Equal(t, journal.Valid, report.Time)
	policy.TimestampRoots = checkpointtest.NewAuthority(t).Roots
	report = judge(t, store(t, 1, w.lines...), registryOf(t, trustedKey(trusted)), policy, s.directory)
	require.Equal(t, 2, report.ExitCode(), "%+v", report)
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
