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

func TestAKeyIsJudgedAtTheTimeTheWriterRecorded(t *testing.T) {
	w := journalOf(t, 4) // recorded at one to four seconds after epoch
	third := record.NewTime(epoch.Add(3 * time.Second))
	for _, c := range []struct {
		name   string
		change func(k *journal.Key)
		code   journal.Code
		first  uint64
	}{
		{"a key that was always valid", func(*journal.Key) {}, "", 0},
		{"a key that became valid in between", func(k *journal.Key) { k.ValidFrom = third }, journal.CodeKeyNotYetValid, 1},
		{"a key that expired in between", func(k *journal.Key) { k.ValidUntil = third }, journal.CodeKeyExpired, 3},
		{"a key that was revoked in between", func(k *journal.Key) { k.RevokedAt = third }, journal.CodeKeyRevoked, 3},
		{"a key that was revoked later", func(k *journal.Key) { k.RevokedAt = record.NewTime(epoch.Add(time.Hour)) }, "", 0},
		{"a key that was revoked later for entries from a sequence on", func(k *journal.Key) {
			k.RevokedAt = record.NewTime(epoch.Add(time.Hour))
			k.InvalidFromSequence = map[string]uint64{"jrn_test": 2}
		}, journal.CodeKeyRevoked, 2},
		{"a key that was revoked later for another journal", func(k *journal.Key) {
			k.RevokedAt = record.NewTime(epoch.Add(time.Hour))
			k.InvalidFromSequence = map[string]uint64{"jrn_other": 1}
		}, "", 0},
		{"a key that is to begin later in this journal", func(k *journal.Key) {
			k.FirstSequence = map[string]uint64{"jrn_test": 3}
		}, journal.CodeKeyUnknown, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := trustedKey(trusted)
			c.change(&key)
			report := verify(t, store(t, 1, w.lines...), registryOf(t, key))
			if c.code == "" {
				require.Equal(t, 0, report.ExitCode(), "%+v", report)
				return
			}
			require.Equal(t, 1, report.ExitCode())
			require.Equal(t, c.code, report.FirstBad.Code)
			require.Equal(t, c.first, report.FirstBad.Sequence)
			require.Equal(t, journal.Failed, report.Signature)
			require.Equal(t, journal.Valid, report.Chain)
		})
	}
}

func TestAKeyChangesOverABridgeOnly(t *testing.T) {
	both := func() []journal.Key { return []journal.Key{trustedKey(trusted), trustedKey(incoming)} }
	rotate := func(w *writer) *writer {
		return w.event("journal.key_rotated", map[string]string{"incoming_key_id": incoming.KeyID()})
	}
	as := func(w *writer, s journal.Signer) *writer {
		w.signer = s
		return w
	}
	beginning := func(n uint64) []journal.Key {
		keys := both()
		keys[1].FirstSequence = map[string]uint64{"jrn_test": n}
		return keys
	}
	for _, c := range []struct {
		name  string
		write func(w *writer) // after two entries
		keys  []journal.Key
		bad   uint64
	}{
		{"announced and accepted", func(w *writer) {
			as(rotate(w), incoming).event("journal.key_accepted", nil).read()
		}, both(), 0},
		{"without a word", func(w *writer) { as(w, incoming).read().read() }, both(), 3},
		{"announced but not accepted", func(w *writer) { as(rotate(w), incoming).read() }, both(), 4},
		{"accepted but not announced", func(w *writer) { as(w, incoming).event("journal.key_accepted", nil) }, both(), 3},
		{"announced to one key, accepted by another", func(w *writer) {
			as(rotate(w), stranger).event("journal.key_accepted", nil)
		}, append(both(), trustedKey(stranger)), 4},
		{"announced, with an entry between", func(w *writer) {
			as(rotate(w).read(), incoming).event("journal.key_accepted", nil)
		}, both(), 4},
		{"announced, and the outgoing key goes on", func(w *writer) { rotate(w).read().read() }, both(), 4},
		{"announced twice", func(w *writer) { as(rotate(rotate(w)), incoming).event("journal.key_accepted", nil) }, both(), 4},
		{"announced, and accepted by the outgoing key", func(w *writer) { rotate(w).event("journal.key_accepted", nil) }, both(), 4},
		{"accepted by the key that signs anyway", func(w *writer) { w.event("journal.key_accepted", nil) }, both(), 3},
		{"accepted where the registry says that it begins", func(w *writer) {
			as(w, incoming).event("journal.key_accepted", nil).read()
		}, beginning(3), 0},
		{"announced, and another one begins where the registry says so", func(w *writer) {
			as(w.event("journal.key_rotated", map[string]string{"incoming_key_id": stranger.KeyID()}), incoming).read()
		}, beginning(4), 0},
		{"announced to a key that the registry does not trust", func(w *writer) {
			as(rotate(w), incoming).event("journal.key_accepted", nil)
		}, both()[:1], 4},
		{"announced by the incoming key itself", func(w *writer) {
			rotate(as(w, incoming)).event("journal.key_accepted", nil)
		}, both(), 3},
		{"at the sequence that the registry gives", func(w *writer) { as(w, incoming).read().read() }, beginning(3), 0},
		{"after the sequence that the registry gives", func(w *writer) { as(w.read(), incoming).read() }, beginning(3), 4},
		{"before the sequence that the registry gives", func(w *writer) { as(w, incoming).read() }, beginning(4), 3},
		{"and back without a bridge", func(w *writer) {
			as(as(rotate(w), incoming).event("journal.key_accepted", nil), trusted).read()
		}, both(), 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := journalOf(t, 2)
			c.write(w)
			report := verify(t, store(t, 1, w.lines...), registryOf(t, c.keys...))
			require.Equal(t, journal.Valid, report.Chain)
			if c.bad == 0 {
				require.Equal(t, 0, report.ExitCode(), "%+v", report)
				return
			}
			require.Equal(t, 1, report.ExitCode(), "%+v", report)
			require.Equal(t, journal.CodeKeyUnknown, report.FirstBad.Code)
			require.Equal(t, c.bad, report.FirstBad.Sequence)
			require.Equal(t, journal.Failed, report.Signature)
		})
	}
}

func TestAKeyMayBeginByTheRegistryWhereNoEntryBeforeItIsTrusted(t *testing.T) {
	w := journalOf(t, 2)
	w.event("journal.key_rotated", map[string]string{"incoming_key_id": incoming.KeyID()})
	w.signer = incoming
	w.event("journal.key_accepted", nil).read()
	stolen, next := trustedKey(trusted), trustedKey(incoming)
	stolen.RevokedAt = record.NewTime(epoch.Add(time.Hour))
	stolen.InvalidFromSequence = map[string]uint64{"jrn_test": 1}
	next.FirstSequence = map[string]uint64{"jrn_test": 4}
	report := verify(t, store(t, 1, w.lines...), registryOf(t, stolen, next))
	require.Equal(t, uint64(3), report.Counts[journal.CodeKeyRevoked], "%+v", report)
	require.Zero(t, report.Counts[journal.CodeKeyUnknown], "the owner of the registry answers for the hand-over: %+v", report)
}

func TestAJournalThatBeginsLaterMayBeginWithAnyTrustedKey(t *testing.T) {
	w := journalOf(t, 2).event("journal.key_rotated", map[string]string{"incoming_key_id": incoming.KeyID()})
	w.signer = incoming
	w.event("journal.key_accepted", nil).read()
	registry := registryOf(t, trustedKey(trusted), trustedKey(incoming))
	for first := 1; first <= len(w.lines); first++ {
		report := verify(t, store(t, first, w.lines[first-1:]...), registry)
		require.Equal(t, 0, report.ExitCode(), "%+v", report)
	}
}

func TestAKeyThatWasAnnouncedInVainIsOneFinding(t *testing.T) {
	w := journalOf(t, 2).event("journal.key_rotated", map[string]string{"incoming_key_id": incoming.KeyID()}).read().read()
	report := verifyLines(t, w.lines...)
	require.Equal(t, []journal.Code{journal.CodeKeyUnknown}, brokenCodes(report))
	require.Contains(t, report.FirstBad.Detail, incoming.KeyID())
}

func TestAnotherSignatureAlgorithmIsUncheckedAndNeverValid(t *testing.T) {
	w := journalOf(t, 3)
	// A signature of a later version, hashed as it stands.
	last := entryOf(t, w.lines[2])
	text := replace(w.lines[2], `"algorithm":"Ed25519"`, `"algorithm":"ML-DSA-44"`)
	text = replace(text, last.Integrity.RecordHash, "sha256:"+sha256Hex(entryOf(t, text).Payload()))
	report := verifyLines(t, w.lines[0], w.lines[1], text)
	require.Equal(t, []journal.Code{journal.CodeSchemaInvalid}, brokenCodes(report), "the schemas of this version know two algorithms")
	require.Equal(t, journal.NotPerformed, report.Signature)
	require.Equal(t, uint64(1), report.Counts[journal.CodeSignatureNotPerformed])
}
