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

func TestTheNameOfEverySegmentIsAPromise(t *testing.T) {
	w := journalOf(t, 6)
	torn := w.lines[5][:50]
	altered := bytes.Replace(w.lines[3], []byte(`"bank"`), []byte(`"tank"`), 1)
	registry := registryOf(t, trustedKey(trusted))
	for _, c := range []struct {
		name     string
		segments map[int][][]byte
		codes    []journal.Code
		sequence uint64
	}{
		{"the next sequence", map[int][][]byte{1: w.lines[:3], 4: w.lines[3:]}, nil, 0},
		{"the next sequence, without an entry yet", map[int][][]byte{1: w.lines, 7: nil}, nil, 0},
		{"the first sequence, without an entry yet", map[int][][]byte{1: nil}, nil, 0},
		{"a later sequence than its entry has", map[int][][]byte{1: w.lines[:3], 5: w.lines[3:]}, []journal.Code{journal.CodeSequenceGap}, 4},
		{"an earlier sequence than its entry has", map[int][][]byte{1: w.lines[:3], 3: w.lines[3:]}, []journal.Code{journal.CodeSequenceDuplicate}, 4},
		{"a later sequence, whose entries are gone", map[int][][]byte{1: w.lines[:3], 9: nil}, []journal.Code{journal.CodeSequenceGap}, 4},
		{"an earlier sequence, without an entry", map[int][][]byte{1: w.lines[:3], 3: nil}, []journal.Code{journal.CodeSequenceDuplicate}, 4},
		{"a later sequence, and the entries before it are gone", map[int][][]byte{1: w.lines[:3], 6: w.lines[5:]}, []journal.Code{journal.CodeSequenceGap}, 6},
		{"another sequence, and the entries before it are gone", map[int][][]byte{1: w.lines[:3], 5: w.lines[5:]}, []journal.Code{journal.CodeSequenceGap}, 6},
		{"a wrong sequence in the middle, without an entry", map[int][][]byte{1: w.lines[:3], 2: nil, 4: w.lines[3:]}, []journal.Code{journal.CodeSequenceDuplicate}, 4},
		{"a later sequence and begins with an altered entry", map[int][][]byte{1: w.lines[:3], 9: {altered, w.lines[4]}}, []journal.Code{journal.CodeRecordHashMismatch, journal.CodeSequenceGap}, 4},
		{"a later sequence and holds no sound entry", map[int][][]byte{1: w.lines[:3], 9: {altered}}, []journal.Code{journal.CodeRecordHashMismatch, journal.CodeSequenceGap}, 4},
		{"the next sequence behind an altered entry", map[int][][]byte{1: {w.lines[0], w.lines[1], w.lines[2], altered}, 5: w.lines[4:]}, []journal.Code{journal.CodeRecordHashMismatch}, 4},
		{"the next sequence behind a torn line", map[int][][]byte{1: {w.lines[0], w.lines[1], w.lines[2], w.lines[3], w.lines[4], torn}, 6: nil}, []journal.Code{journal.CodeNotCanonical}, 6},
		{"later sequences, and no entry stands anywhere", map[int][][]byte{1: nil, 5: nil}, []journal.Code{journal.CodeSequenceGap}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			directory := t.TempDir()
			for first, lines := range c.segments {
				require.NoError(t, os.WriteFile(filepath.Join(directory, segmentName(first)), bytes.Join(lines, nil), 0o600))
			}
			sources, err := journal.Open(directory)
			require.NoError(t, err)
			report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry})
			if len(c.segments) == 1 {
				require.ErrorIs(t, err, journal.ErrNoEntries)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.codes, brokenCodes(report), "%+v", report)
			if c.codes == nil {
				require.Equal(t, 0, report.ExitCode())
				require.Equal(t, journal.Valid, report.Chain)
				return
			}
			require.Equal(t, 1, report.ExitCode())
			require.Equal(t, journal.Failed, report.Chain)
			require.Equal(t, c.sequence, report.FirstBad.Sequence)
			require.NotEmpty(t, report.FirstBad.Segment)
		})
	}
}
