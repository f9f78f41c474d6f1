// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// A thief with the key can set the clock back; what was seen of the journal before
// cannot be set back (contract 4).
func TestABackDatedEntryOfARevokedKeyIsFound(t *testing.T) {
	w := journalOf(t, 4) // recorded at one to four seconds after epoch
	registry := registryOf(t, trustedKey(trusted))
	later := record.NewTime(epoch.Add(time.Hour))
	require.NoError(t, registry.Revoke(trusted.KeyID(), journal.Revocation{At: later, Reason: "stolen"}))
	require.Equal(t, 0, verify(t, store(t, 1, w.lines...), registry).ExitCode(), "by its time alone it looks good")

	require.NoError(t, registry.Revoke(trusted.KeyID(), journal.Revocation{At: later, InvalidFromSequence: map[string]uint64{"jrn_test": 3}}))
	report := verify(t, store(t, 1, w.lines...), registry)
	require.Equal(t, 1, report.ExitCode())
	require.Equal(t, journal.CodeKeyRevoked, report.FirstBad.Code)
	require.Equal(t, uint64(3), report.FirstBad.Sequence)
}

func TestARevocationNeverGivesTrustBack(t *testing.T) {
	registry := registryOf(t, trustedKey(trusted), trustedKey(incoming))
	at := func(after time.Duration) record.Time { return record.NewTime(epoch.Add(after)) }
	id := trusted.KeyID()
	require.NoError(t, registry.Revoke(id, journal.Revocation{At: at(time.Hour), Reason: "stolen", InvalidFromSequence: map[string]uint64{"a": 10, "b": 5}}))
	for want, v := range map[string]journal.Revocation{
		"a later time would give trust back": {At: at(2 * time.Hour)},
		"a larger one would give trust back": {At: at(time.Hour), InvalidFromSequence: map[string]uint64{"a": 11}},
		"a revocation needs a time":          {Reason: "none"},
		"is not between 1 and 2^53-1":        {At: at(0), InvalidFromSequence: map[string]uint64{"c": 0}},
		"names an empty journal id":          {At: at(0), InvalidFromSequence: map[string]uint64{"": 1}},
	} {
		require.ErrorContains(t, registry.Revoke(id, v), want)
	}
	require.ErrorContains(t, registry.Revoke(stranger.KeyID(), journal.Revocation{At: at(0)}), "registry has no key "+stranger.KeyID())
	require.NoError(t, registry.Revoke(id, journal.Revocation{At: at(time.Minute), InvalidFromSequence: map[string]uint64{"a": 9, "c": 1}}))
	key, found := registry.Key(id)
	require.True(t, found)
	require.Equal(t, at(time.Minute), key.RevokedAt)
	require.Equal(t, "stolen", key.RevocationReason)
	require.Equal(t, map[string]uint64{"a": 9, "b": 5, "c": 1}, key.InvalidFromSequence)
	other, _ := registry.Key(incoming.KeyID())
	require.True(t, other.RevokedAt.IsZero())
}

// Where the outgoing key can no longer be trusted with a bridge, the registry's
// owner says where its successor begins.
func TestASuccessorOfARevokedKeyBeginsWhereTheRegistrySaysSo(t *testing.T) {
	w := journalOf(t, 2).event(record.EventKeyRotated, map[string]string{"incoming_key_id": incoming.KeyID()})
	w.signer = incoming
	w.event(record.EventKeyAccepted, nil).read()
	registry := registryOf(t, trustedKey(trusted), trustedKey(incoming))
	require.NoError(t, registry.Revoke(trusted.KeyID(), journal.Revocation{
		At: record.NewTime(epoch.Add(time.Hour)), Reason: "stolen", InvalidFromSequence: map[string]uint64{"jrn_test": 3},
	}))
	require.Equal(t, uint64(2), verify(t, store(t, 1, w.lines...), registry).Counts[journal.CodeKeyUnknown], "a bridge that a revoked key signed carries nobody")
	require.NoError(t, registry.Begin(incoming.KeyID(), "jrn_test", 4))
	require.NoError(t, registry.Begin(incoming.KeyID(), "jrn_test", 4), "again is nothing new")
	report := verify(t, store(t, 1, w.lines...), registry)
	require.Equal(t, []journal.Code{journal.CodeKeyRevoked}, brokenCodes(report), "only the revoked key's own entry is left")
	require.Equal(t, uint64(1), report.Counts[journal.CodeKeyRevoked])

	require.ErrorContains(t, registry.Begin(incoming.KeyID(), "jrn_test", 5), "begins in journal jrn_test at sequence 4 already")
	require.ErrorContains(t, registry.Begin(incoming.KeyID(), "jrn_other", 0), "is not between 1 and 2^53-1")
	require.ErrorContains(t, registry.Begin(stranger.KeyID(), "jrn_test", 5), "registry has no key")
}
