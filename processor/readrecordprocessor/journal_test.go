// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bytes"
	"encoding/json/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// verifyJournaled writes a batch to a journal, demands that it verifies,
// schemas included, and returns its directory.
func verifyJournaled(t *testing.T, b *carrier.Batch) string {
	t.Helper()
	pem, key, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	registry := &journal.Registry{}
	require.NoError(t, registry.Add(key))
	file := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(file, pem, 0o600))
	signer, err := journal.NewFileSigner(file)
	require.NoError(t, err)

	dir := t.TempDir()
	l, err := ledger.Open(t.Context(), ledger.Options{
		Dir: dir, Signer: signer, CollectorID: "collector-1",
		Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "short"},
	})
	require.NoError(t, err)
	var drafts []*record.Draft
	for _, item := range b.Items {
		drafts = append(drafts, item.Draft)
	}
	for _, lineage := range b.Lineages {
		draft, err := record.NewLineageDraft(&record.Lineage{Header: lineage.Header}, lineage.Spans)
		require.NoError(t, err)
		drafts = append(drafts, draft)
	}
	_, err = l.Append(t.Context(), drafts)
	require.NoError(t, err)
	require.NoError(t, l.Close(t.Context()))

	sources, err := journal.Open(dir)
	require.NoError(t, err)
	report, err := journal.Verify(t.Context(), sources[0], journal.Options{Registry: registry})
	require.NoError(t, err)
	require.Nil(t, report.FirstBad)
	assert.Equal(t, []journal.Check{journal.Valid, journal.Valid, journal.Valid}, []journal.Check{report.Chain, report.Signature, report.Schema})
	return dir
}

// storedRead is a read record as a journal holds it.
type storedRead struct {
	record.Read   `json:",inline"`
	ConflictsWith string `json:"conflicts_with"`
}

// readsIn returns the read records of the journal in a directory.
func readsIn(t *testing.T, dir string) []storedRead {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*.events"))
	require.NoError(t, err)
	var out []storedRead
	for _, segment := range segments {
		data, err := os.ReadFile(segment)
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			var entry struct {
				Read *storedRead `json:"read_record"`
			}
			require.NoError(t, json.Unmarshal(line, &entry))
			if entry.Read != nil {
				out = append(out, *entry.Read)
			}
		}
	}
	return out
}
