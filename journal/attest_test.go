// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

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
