// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// nameless writes an audit event that names no journal.
func (w *writer) nameless() *writer {
	w.begin()
	return w.seal("audit_event", "9.0.0", fmt.Appendf(nil, `{"recorded_at":%q,"sequence":%d}`, record.NewTime(w.at), w.sequence))
}

// rewritten is the journal whose first entries somebody with the key replaced by ones
// that name no journal.
func rewritten(t testing.TB, nameless, n int) *writer {
	w := newWriter(t)
	for len(w.lines) < nameless {
		w.nameless()
	}
	for len(w.lines) < n {
		w.read()
	}
	return w
}

func TestAnEntryThatNamesNoJournalIsNeverTakenAsVerifiedBefore(t *testing.T) {
	honest := journalOf(t, 9)
	since, err := journal.ParseCheckpoint(honest.signed(9))
	require.NoError(t, err)
	w := rewritten(t, 8, 8)
	for i := range w.lines {
		// Nobody signed any of them.
		value := entryOf(t, w.lines[i]).Integrity.Signature.Value
		w.lines[i] = replace(w.lines[i], value, base64.StdEncoding.EncodeToString(make([]byte, 64)))
	}
	sources, err := journal.Open(store(t, 1, w.lines...))
	require.NoError(t, err)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registryOf(t, trustedKey(trusted)), Since: since})
	require.NoError(t, err)
	require.Equal(t, 1, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.CodeSignatureInvalid, report.FirstBad.Code)
	require.Equal(t, journal.Failed, report.Signature)
}

func TestEntriesBeforeTheFirstThatNamesTheJournalAreJudgedByAllThatIsKnownOfIt(t *testing.T) {
	honest, w := journalOf(t, 9), rewritten(t, 5, 9)
	registry := registryOf(t, trustedKey(trusted))
	directory := store(t, 1, w.lines...)
	outside := newOutsideStore(t).put(honest.signed(3)).put(honest.signed(5))
	report := judge(t, directory, registry, nil, outside.directory)
	require.Equal(t, []journal.Code{journal.CodeFork, journal.CodeFork}, brokenCodes(report))

	oldest := honest.checkpoint(4)
	report = judge(t, directory, registry, policyOf(t, fmt.Sprintf(
		`{"journals":[{"journal_id":"jrn_test","oldest_checkpoint":{"size":4,"root":%q}}]}`, base64.StdEncoding.EncodeToString(oldest.Root[:]))))
	require.Equal(t, []journal.Code{journal.CodeCheckpointInconsistent}, brokenCodes(report))

	report = judge(t, directory, registryOf(t, trustedKey(trusted), trustedKey(incoming)), policyOf(t, `{"journals":[{"journal_id":"jrn_test","keys":["`+incoming.KeyID()+`"]}]}`))
	require.Equal(t, uint64(9), report.Counts[journal.CodeKeyUnknown])

	report = judge(t, store(t, 3, w.lines[2:]...), registry, policyOf(t, `{"journals":[{"journal_id":"jrn_test","first_sequence":1}]}`))
	require.Equal(t, []journal.Code{journal.CodeSequenceGap}, brokenCodes(report))

	key := trustedKey(trusted)
	key.RevokedAt, key.InvalidFromSequence = record.NewTime(epoch.AddDate(1, 0, 0)), map[string]uint64{"jrn_test": 2}
	report = judge(t, directory, registryOf(t, key), nil)
	require.Equal(t, uint64(8), report.Counts[journal.CodeKeyRevoked])
	require.Equal(t, uint64(2), report.FirstBad.Sequence)
}

func TestAJournalThatNamesItselfNowhereIsNotValidWhereItsNameMatters(t *testing.T) {
	directory := store(t, 1, rewritten(t, 5, 5).lines...)
	registry := registryOf(t, trustedKey(trusted))
	require.Equal(t, 0, judge(t, directory, registry, nil).ExitCode(), "nothing is known of it")
	outside := newOutsideStore(t).put(journalOf(t, 3).signed(3))
	require.Equal(t, 2, judge(t, directory, registry, nil, outside.directory).ExitCode())
	report := judge(t, directory, registry, policyOf(t, `{"journals":[{"journal_id":"jrn_test"}]}`))
	require.Equal(t, []journal.Code{journal.CodeJournalIDMismatch}, brokenCodes(report))
	key := trustedKey(trusted)
	key.RevokedAt, key.InvalidFromSequence = record.NewTime(epoch.AddDate(1, 0, 0)), map[string]uint64{"jrn_test": 2}
	report = judge(t, directory, registryOf(t, key), nil)
	require.Equal(t, 2, report.ExitCode())
	require.Equal(t, journal.NotPerformed, report.Signature)
}

func TestAnAnnouncedRemovalThatNoCheckpointConfirmsAnchorsNothing(t *testing.T) {
	// A thief of the key writes a history that begins behind the last checkpoint.
	honest := journalOf(t, 4)
	w := journalOf(t, 8)
	w.at = w.at.Add(time.Hour)
	w.read().announce(6).read()
	directory := store(t, 6, w.lines[5:]...)
	registry := registryOf(t, trustedKey(trusted))
	require.Equal(t, journal.Valid, judge(t, directory, registry, nil).FirstLink)
	outside := newOutsideStore(t).put(honest.signed(2)).put(honest.signed(4))
	report := judge(t, directory, registry, nil, outside.directory)
	require.Equal(t, journal.NotPerformed, report.FirstLink)
	require.Contains(t, codesOf(report), journal.CodeFirstLinkUnanchored)
	i := slices.IndexFunc(report.Findings, func(f journal.Finding) bool { return f.Code == journal.CodeCheckpointNotPerformed })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, journal.ClassNote, report.Findings[i].Class)
	require.Equal(t, uint64(4), report.Findings[i].Sequence)
	require.Contains(t, report.Findings[i].Detail, "2 of the checkpoints")
	require.Equal(t, 2, judge(t, directory, registry, policyOf(t, `{"demand":["first_link"]}`), outside.directory).ExitCode())

	// Also where one that was planted is confirmed, the demand tells.
	outside.put(w.signed(10))
	require.Equal(t, 0, judge(t, directory, registry, nil, outside.directory).ExitCode())
	demanded := policyOf(t, `{"demand":["checkpoints"]}`)
	require.Equal(t, 2, judge(t, directory, registry, demanded, outside.directory).ExitCode())
	require.Equal(t, 2, judge(t, directory, registry, demanded).ExitCode(), "none was given")
	require.Equal(t, 0, judge(t, directory, registry, demanded, newOutsideStore(t).put(w.signed(5)).put(w.signed(10)).directory).ExitCode())
}

func TestACheckpointThatIsNotComparedSaysNothingOfTime(t *testing.T) {
	// The entries are rewritten after the revocation, and the witness saw the others.
	honest := journalOf(t, 6)
	witness := newCosigner(t, "one.example", 11)
	policy := policyOf(t, fmt.Sprintf(`{"witnesses":[%q],"quorum":1}`, witness.vkey.String()))
	outside := newOutsideStore(t).put(append(honest.signed(6), witness.cosign(honest.checkpoint(6).Text(), epoch.Add(time.Minute).Unix())...))
	key := trustedKey(trusted)
	key.RevokedAt = record.NewTime(epoch.Add(time.Hour))
	registry := registryOf(t, key)
	w := journalOf(t, 3)
	w.at = w.at.Add(2 * time.Hour)
	w.read().read().read()
	report := judge(t, store(t, 4, w.lines[3:]...), registry, policy, outside.directory)
	require.Equal(t, 1, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.CodeKeyRevoked, report.FirstBad.Code)
	require.Equal(t, uint64(4), report.FirstBad.Sequence)

	// Nor does one that ends behind the part which is verified.
	directory := store(t, 1, w.lines[:4]...)
	require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(5)), bytes.Join(w.lines[4:], nil), 0o600))
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	part, err := sources[0].Between(0, 4)
	require.NoError(t, err)
	checkpoints := journal.ReadCheckpoints([]string{outside.directory}, registry, policy)
	report, err = journal.Verify(t.Context(), part, journal.Options{Registry: registry, Policy: policy, Checkpoints: checkpoints})
	require.NoError(t, err)
	require.Equal(t, []journal.Code{journal.CodeKeyRevoked}, brokenCodes(report))
}

func TestAKeyThatIsNotTrustedForACheckpointBlamesNoEntry(t *testing.T) {
	w := journalOf(t, 4)
	planted, err := journal.SignCheckpoint(journal.Checkpoint{Origin: "jrn_test", Size: 200}, stranger)
	require.NoError(t, err)
	outside := newOutsideStore(t).put(planted)
	report := judge(t, store(t, 1, w.lines...), registryOf(t, trustedKey(trusted)), nil, outside.directory)
	require.Equal(t, 1, report.ExitCode())
	require.Equal(t, journal.CodeCheckpointSignatureInvalid, report.FirstBad.Code)
	require.Equal(t, journal.Valid, report.Signature)
	require.Zero(t, report.FirstBad.Sequence)
	require.Contains(t, report.FirstBad.Detail, outside.path("jrn_test", 200, ".checkpoint"))
}

func TestAnArtifactWhoseNameLeadsElsewhereIsMissing(t *testing.T) {
	for _, name := range []string{"../kept.torn", "a/b", "/etc/hostname", ".."} {
		w := journalOf(t, 2).event(record.EventJournalRecovered, record.Recovered{Segment: segmentName(1), Offset: 1, Length: 1, Digest: "sha256:" + sha256Hex(nil), KeptAs: name})
		report := judge(t, store(t, 1, w.lines...), registryOf(t, trustedKey(trusted)), policyOf(t, `{"demand":["artifacts"]}`))
		require.Equal(t, []journal.Code{journal.CodeArtifactMissing}, brokenCodes(report), name)
	}
}

func TestAPolicyThatDoesNotListTheJournalRefusesAnEntryOfIt(t *testing.T) {
	line := journalOf(t, 2).lines[1]
	policy := policyOf(t, `{"journals":[{"journal_id":"jrn_other"}]}`)
	e := journal.VerifyEnvelope(line, journal.Options{Registry: registryOf(t, trustedKey(trusted)), Policy: policy})
	require.Equal(t, 1, e.ExitCode())
	require.Equal(t, journal.CodeJournalIDMismatch, e.Report().FirstBad.Code)
}
