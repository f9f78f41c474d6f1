// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

// Every byte of a journal counts: whichever one changes, the journal is broken
// and the line is named.
func TestNoByteCanBeFlipped(t *testing.T) {
	w := journalOf(t, 2).group(3)
	text := bytes.Join(w.lines, nil)
	registry := registryOf(t, trustedKey(trusted))
	path := filepath.Join(t.TempDir(), segmentName(1))
	for i := range text {
		flip := byte(1) << (i % 8)
		flipped := bytes.Clone(text)
		flipped[i] ^= flip
		require.NoError(t, os.WriteFile(path, flipped, 0o600))
		sources, err := journal.Open(path)
		require.NoError(t, err)
		// Hash and signature see it, without a schema.
		report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry, SkipSchema: true})
		require.NoError(t, err)
		require.Equal(t, 1, report.ExitCode(), "byte %d ^ %#x: %+v", i, flip, report)
		line := bytes.Count(text[:i], []byte("\n"))
		require.Equal(t, int64(len(bytes.Join(w.lines[:line], nil))), report.FirstBad.Offset, "byte %d ^ %#x: %+v", i, flip, report)
	}
}

func TestACutTailIsNeverSilent(t *testing.T) {
	w := journalOf(t, 2)
	text := bytes.Join(w.lines, nil)
	registry := registryOf(t, trustedKey(trusted))
	path := filepath.Join(t.TempDir(), segmentName(1))
	for cut := 1; cut < len(text); cut++ {
		require.NoError(t, os.WriteFile(path, text[:cut], 0o600))
		report := verify(t, path, registry)
		require.Contains(t, codesOf(report), journal.CodeTailUnattested)
		if text[cut-1] == '\n' {
			require.Equal(t, 0, report.ExitCode(), "cut at %d", cut)
			continue
		}
		require.Equal(t, journal.CodeTornTail, report.FirstBad.Code, "cut at %d", cut)
	}
}
