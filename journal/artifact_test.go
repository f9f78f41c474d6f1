// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestWhatACrashToreOffIsTheFileThatWasKept(t *testing.T) {
	torn := []byte("half a line")
	name := segmentName(1) + ".812.torn"
	w := journalOf(t, 3).event(record.EventJournalRecovered, record.Recovered{
		Segment: segmentName(1), Offset: 812, Length: int64(len(torn)), Digest: "sha256:" + sha256Hex(torn), KeptAs: name,
	})
	registry := registryOf(t, trustedKey(trusted))
	demand := policyOf(t, `{"demand":["artifacts"]}`)
	directory := store(t, 1, w.lines...)
	require.Equal(t, 0, judge(t, directory, registry, nil).ExitCode(), "an archive need not hold it")
	report := judge(t, directory, registry, demand)
	require.Equal(t, []journal.Code{journal.CodeArtifactMissing}, brokenCodes(report))
	require.Equal(t, uint64(4), report.FirstBad.Sequence)

	require.NoError(t, os.WriteFile(filepath.Join(directory, name), torn, 0o600))
	require.Equal(t, 0, judge(t, directory, registry, demand).ExitCode())
	for _, changed := range []string{"half a lime", "half a line and more", ""} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(changed), 0o600))
		require.Equal(t, []journal.Code{journal.CodeArtifactDigestMismatch}, brokenCodes(judge(t, directory, registry, nil)))
	}
}

func lineageOf(t testing.TB, ids ...string) *record.Draft {
	l := &record.Lineage{Header: exampleRead(0).Header}
	l.EventType = record.EventLineageSpans
	var spans []record.Span
	for i, id := range ids {
		spans = append(spans, record.Span{
			SpanID: "b7ad6b716920333" + string(rune('1'+i)), Name: "execute_tool", Kind: "client", Class: "tool", Status: record.StatusOK,
			StartedAt: record.NewTime(epoch), EndedAt: record.NewTime(epoch), ReadID: id,
		})
	}
	d, err := record.NewLineageDraft(l, spans)
	require.NoError(t, err)
	return d
}

func (w *writer) lineage(ids ...string) *writer {
	d := lineageOf(w.t, ids...)
	w.begin()
	c := w.completion()
	c.Parts = d.Parts()
	return w.seal(d.Kind(), record.SchemaVersion, d.Complete(c))
}

func TestAReadWithoutLineageIsFoundWhereItIsDemanded(t *testing.T) {
	registry := registryOf(t, trustedKey(trusted))
	demand := policyOf(t, `{"demand":["lineage"]}`)
	id := func(n string) string { return "read_syn_0193_" + n }
	w := newWriter(t).event(record.EventJournalOpened, nil).lineage(id("3")).read().read().read().read()
	for i, line := range w.lines[2:] {
		require.Contains(t, string(line), id(string(rune('2'+i))), "the ids of the reads")
	}
	w.lineage(id("2"))
	require.Equal(t, 0, judge(t, store(t, 1, w.lines...), registry, nil).ExitCode())
	report := judge(t, store(t, 1, w.lines...), registry, demand)
	require.Equal(t, 2, report.ExitCode())
	require.Equal(t, uint64(2), report.Counts[journal.CodeLineageUnresolved])
	require.Equal(t, journal.ClassUnchecked, report.Findings[len(report.Findings)-1].Class)
	w.lineage(id("4"), id("5"))
	require.Equal(t, 0, judge(t, store(t, 1, w.lines...), registry, demand).ExitCode())
}
