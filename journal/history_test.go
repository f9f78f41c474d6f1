// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// continued is a writer that goes on from the first n lines of another.
func continued(w *writer, n int) *writer {
	c := *w
	c.lines, c.sequence, c.previous = slices.Clone(w.lines[:n]), uint64(n), hashOf(w.t, w.lines[n-1])
	return &c
}

func TestASecondWriterIsFoundWhereItsEntriesBegin(t *testing.T) {
	one := journalOf(t, 4)
	two := continued(one, 4)
	two.at = two.at.Add(time.Millisecond)
	one.read().read()
	two.read().read()
	// Both append to one file, each to its own chain.
	lines := slices.Concat(one.lines[:5], two.lines[4:5], one.lines[5:6], two.lines[5:6])
	report := verifyLines(t, lines...)
	require.Equal(t, []journal.Code{journal.CodeSequenceDuplicate, journal.CodeSequenceDuplicate}, brokenCodes(report))
	require.Equal(t, uint64(5), report.FirstBad.Sequence)
}

func TestAJournalInThePlaceOfAnotherIsFoundByThePolicy(t *testing.T) {
	other := newWriter(t)
	other.id = "jrn_other"
	other.event(record.EventJournalOpened, nil).read().read()
	registry := registryOf(t, trustedKey(trusted))
	directory := store(t, 1, other.lines...)
	require.Equal(t, 0, judge(t, directory, registry, nil).ExitCode(), "it is whole by itself")
	report := judge(t, directory, registry, policyOf(t, `{"journals":[{"journal_id":"jrn_test"}]}`))
	require.Equal(t, []journal.Code{journal.CodeJournalIDMismatch}, brokenCodes(report))
	require.Equal(t, uint64(1), report.FirstBad.Sequence)
}

func TestARewriteWithTheKeyIsFoundOnlyFromOutside(t *testing.T) {
	w := journalOf(t, 8)
	registry := registryOf(t, trustedKey(trusted))
	outside := newOutsideStore(t).put(w.signed(8))
	// The owner of the key writes entry 4 and all behind it anew.
	rewritten := continued(w, 3)
	rewritten.at = epoch.Add(4 * time.Second)
	for len(rewritten.lines) < 8 {
		rewritten.read()
	}
	require.Equal(t, 0, judge(t, store(t, 1, rewritten.lines...), registry, nil).ExitCode(), "the files alone cannot show it")
	report := judge(t, store(t, 1, rewritten.lines...), registry, nil, outside.directory)
	require.Equal(t, []journal.Code{journal.CodeFork}, brokenCodes(report))
	require.Equal(t, uint64(8), report.FirstBad.Sequence)
}

func TestStrippedGroupSignaturesAreNotTakenForPlainOnes(t *testing.T) {
	w := journalOf(t, 2).group(3)
	registry := registryOf(t, trustedKey(trusted))
	for i := 2; i < 5; i++ {
		l := slices.Clone(w.lines)
		l[i] = replace(l[i], `"algorithm":"Ed25519-RFC6962"`, `"algorithm":"Ed25519"`)
		report := judge(t, store(t, 1, l...), registry, nil)
		require.Equal(t, 1, report.ExitCode())
		require.Equal(t, uint64(i+1), report.FirstBad.Sequence)
	}
}
