// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestAnUntouchedJournalIsValid(t *testing.T) {
	w := journalOf(t, 5).event(record.EventJournalClosed, nil)
	report := verifyLines(t, w.lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	assert.Equal(t, "jrn_test", report.JournalID)
	assert.Equal(t, uint64(6), report.RecordsChecked)
	assert.Equal(t, uint64(1), report.FirstSequence)
	assert.Equal(t, uint64(6), report.LastSequence)
	assert.Equal(t, journal.Valid, report.Chain)
	assert.Equal(t, journal.Valid, report.Signature)
	assert.Equal(t, journal.Valid, report.Schema)
	assert.Equal(t, journal.Valid, report.FirstLink)
	assert.Equal(t, journal.NotPerformed, report.Tail)
	assert.Equal(t, []journal.Code{journal.CodeTailUnattested, journal.CodeTimeUnattested}, codesOf(report), "what no check covers is said")
}

func codesOf(r *journal.Report) (codes []journal.Code) {
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	return codes
}

// brokenCodes lists the broken findings in the order of the journal.
func brokenCodes(r *journal.Report) (codes []journal.Code) {
	for _, f := range r.Findings {
		if f.Class == journal.ClassBroken {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

func TestARetainedJournalMayBeginLater(t *testing.T) {
	w := journalOf(t, 5)
	report := verify(t, store(t, 3, w.lines[2:]...), registryOf(t, trustedKey(trusted)))
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	assert.Equal(t, uint64(3), report.FirstSequence)
	assert.Equal(t, journal.Valid, report.Chain)
	assert.Equal(t, journal.NotPerformed, report.FirstLink)
	require.Contains(t, codesOf(report), journal.CodeFirstLinkUnanchored)
	assert.Equal(t, hashOf(t, w.lines[1]), report.Findings[0].ObservedPreviousHash, "what an anchor is compared with")
}

func TestWithoutARegistryNothingIsValid(t *testing.T) {
	report := verify(t, store(t, 1, journalOf(t, 5).lines...), nil)
	require.Equal(t, 2, report.ExitCode())
	assert.Equal(t, journal.Valid, report.Chain)
	assert.Equal(t, journal.NotPerformed, report.Signature)
	assert.Equal(t, uint64(1), report.Counts[journal.CodeSignatureNotPerformed], "said once")
	assert.NotContains(t, report.Counts, journal.CodeTimeUnattested)
}

func TestAnUnknownVersionIsKeptAndNotInterpreted(t *testing.T) {
	w := journalOf(t, 2).foreign(record.KindRead, "1.1.0").foreign("future_record", "1.0.0").read()
	report := verifyLines(t, w.lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	assert.Equal(t, journal.Valid, report.Chain)
	assert.Equal(t, journal.Valid, report.Signature)
	assert.Equal(t, journal.NotPerformed, report.Schema, "a check that was not performed on all is not valid")
	assert.Equal(t, uint64(2), report.Counts[journal.CodeUnsupportedSchemaVersion])

	spoilt := bytes.Replace(w.lines[2], []byte(`"news"`), []byte(`"lies"`), 1)
	report = verifyLines(t, w.lines[0], w.lines[1], spoilt, w.lines[3], w.lines[4])
	require.Equal(t, []journal.Code{journal.CodeRecordHashMismatch}, brokenCodes(report))
}

func TestAClockThatGoesBackIsANote(t *testing.T) {
	w := journalOf(t, 3)
	w.at = w.at.Add(-time.Minute)
	report := verifyLines(t, w.read().lines...)
	require.Equal(t, 0, report.ExitCode(), "%+v", report)
	require.Equal(t, journal.CodeClockRegressed, report.Findings[0].Code)
	require.Equal(t, uint64(4), report.Findings[0].Sequence)
}

func TestATornTailIsBroken(t *testing.T) {
	w := journalOf(t, 4)
	for name, torn := range map[string][]byte{
		"in the middle":               w.lines[3][:100],
		"at its first byte":           w.lines[3][:1],
		"when only its LF is missing": bytes.TrimSuffix(w.lines[3], []byte("\n")),
	} {
		t.Run(name, func(t *testing.T) {
			report := verifyLines(t, w.lines[0], w.lines[1], w.lines[2], torn)
			require.Equal(t, 1, report.ExitCode())
			assert.Equal(t, journal.Failed, report.Tail)
			assert.Equal(t, journal.Valid, report.Chain, "of the lines that are complete")
			assert.Equal(t, uint64(3), report.RecordsChecked)
			require.NotNil(t, report.FirstBad)
			assert.Equal(t, journal.CodeTornTail, report.FirstBad.Code)
			assert.Equal(t, uint64(4), report.FirstBad.Sequence)
			assert.Equal(t, int64(len(bytes.Join(w.lines[:3], nil))), report.FirstBad.Offset)
		})
	}
}

func TestASegmentThatEndsInALineIsBrokenAnywhereElse(t *testing.T) {
	w := journalOf(t, 4)
	directory := store(t, 1, w.lines[0], w.lines[1], w.lines[2][:50])
	require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(4)), w.lines[3], 0o600))
	report := verify(t, directory, registryOf(t, trustedKey(trusted)))
	require.Equal(t, []journal.Code{journal.CodeNotCanonical}, brokenCodes(report))
	require.Equal(t, uint64(3), report.FirstBad.Sequence)
}

func TestSegmentsAreOneChain(t *testing.T) {
	w := journalOf(t, 6)
	directory := store(t, 1, w.lines[:2]...)
	for _, s := range [][2]int{{3, 5}, {6, 6}} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(s[0])), bytes.Join(w.lines[s[0]-1:s[1]], nil), 0o600))
	}
	registry := registryOf(t, trustedKey(trusted))
	require.Equal(t, 0, verify(t, directory, registry).ExitCode())

	// One file with all of it is the same journal.
	joined := filepath.Join(t.TempDir(), "joined")
	require.NoError(t, os.WriteFile(joined, bytes.Join(w.lines, nil), 0o600))
	require.Equal(t, 0, verify(t, joined, registry).ExitCode())

	require.NoError(t, os.Remove(filepath.Join(directory, segmentName(3))))
	report := verify(t, directory, registry)
	require.Equal(t, []journal.Code{journal.CodeSequenceGap}, brokenCodes(report))
	require.Equal(t, filepath.Join(directory, segmentName(6)), report.FirstBad.Segment)
}

func TestTheNameOfTheFirstSegmentIsAPromise(t *testing.T) {
	w := journalOf(t, 5)
	registry := registryOf(t, trustedKey(trusted))
	report := verify(t, store(t, 1, w.lines[2:]...), registry)
	require.Equal(t, []journal.Code{journal.CodeSequenceGap}, brokenCodes(report))
	report = verify(t, store(t, 3, w.lines...), registry)
	require.Equal(t, []journal.Code{journal.CodeSequenceDuplicate}, brokenCodes(report))
}

func TestAFindingSaysItsPlaceIfItHasOne(t *testing.T) {
	text, err := json.Marshal(journal.Finding{Code: journal.CodeSequenceGap, Segment: "s", Sequence: 1})
	require.NoError(t, err)
	require.JSONEq(t, `{"code":"sequence_gap","class":"","sequence":1,"segment":"s","offset":0}`, string(text))
	text, err = json.Marshal(journal.Finding{Code: journal.CodeTailUnattested, Class: journal.ClassNote})
	require.NoError(t, err)
	require.JSONEq(t, `{"code":"tail_unattested","class":"note"}`, string(text))
}

func TestOneMissingEntryIsOneEntry(t *testing.T) {
	w := journalOf(t, 5)
	require.Contains(t, verifyLines(t, w.lines[0], w.lines[2]).FirstBad.Detail, "; 1 entry is missing")
	require.Contains(t, verifyLines(t, w.lines[0], w.lines[3]).FirstBad.Detail, "; 2 entries are missing")
}

func TestNothingToVerifyIsAnError(t *testing.T) {
	sources, err := journal.Open(store(t, 1))
	require.NoError(t, err)
	_, err = journal.Verify(t.Context(), sources[0], journal.Options{})
	require.ErrorIs(t, err, journal.ErrNoEntries)
}

func TestAFileThatIsNoJournalIsBroken(t *testing.T) {
	for name, text := range map[string]string{
		"text":            "hello\nworld\n",
		"JSON lines":      `{"time":"2026-10-09T08:12:03Z","level":"info"}` + "\n",
		"no lines":        strings.Repeat("x", 3<<20),
		"an empty line":   "\n",
		"zeros":           strings.Repeat("\x00", 4096) + "\n",
		"an array of it":  "[" + string(bytes.TrimSpace(journalOf(t, 1).lines[0])) + "]\n",
		"very long lines": strings.Repeat(strings.Repeat("{", 2<<20)+"\n", 3),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			require.Equal(t, 1, verify(t, path, registryOf(t, trustedKey(trusted))).ExitCode())
		})
	}
}

func TestAReportAboutDamageAllOverIsBounded(t *testing.T) {
	w := newWriter(t)
	w.signer = stranger
	w.event(record.EventJournalOpened, nil)
	for range 99 {
		w.read()
	}
	report := verifyLines(t, w.lines...)
	require.Equal(t, 1, report.ExitCode())
	require.Equal(t, uint64(100), report.Counts[journal.CodeKeyUnknown])
	require.Less(t, len(report.Findings), 30)
	require.Equal(t, journal.Valid, report.Chain)
	require.Equal(t, journal.Failed, report.Signature)
}

func TestVerifyStopsWhenAsked(t *testing.T) {
	sources, err := journal.Open(store(t, 1, journalOf(t, 5).lines...))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = journal.Verify(ctx, sources[0], journal.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgressEndsAtTheSizeOfTheJournal(t *testing.T) {
	w := journalOf(t, 800)
	sources, err := journal.Open(store(t, 1, w.lines...))
	require.NoError(t, err)
	var last, total int64
	_, err = journal.Verify(t.Context(), sources[0], journal.Options{Progress: func(done, all int64) {
		assert.Greater(t, done, last)
		last, total = done, all
	}})
	require.NoError(t, err)
	require.Equal(t, int64(len(bytes.Join(w.lines, nil))), total)
	require.Equal(t, total, last)
}

func TestAJournalThatGrowsIsReadAsItWasOpened(t *testing.T) {
	w := journalOf(t, 4)
	directory := store(t, 1, w.lines[:3]...)
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(1)), bytes.Join(w.lines, nil)[:len(bytes.Join(w.lines, nil))-9], 0o600))
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registryOf(t, trustedKey(trusted))})
	require.NoError(t, err)
	require.Equal(t, 0, report.ExitCode())
	require.Equal(t, uint64(3), report.LastSequence)
}

func TestEveryCodeTellsAnAuditorWhatToDoNext(t *testing.T) {
	text, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	seen := map[journal.Code]bool{}
	for _, d := range journal.CodeDocs() {
		require.False(t, seen[d.Code], d.Code)
		seen[d.Code] = true
		require.NotEmpty(t, d.Meaning)
		require.NotEmpty(t, d.Next)
		require.Equal(t, d, d.Code.Doc())
		require.Contains(t, string(text), fmt.Sprintf("| `%s` | %s | %s | %s |\n", d.Code, d.Class, d.Meaning, d.Next))
	}
	require.Empty(t, journal.Code("of_another_version").Doc())
}
