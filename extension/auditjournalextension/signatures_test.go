// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/readtrail/readtrail/internal/carrier"
)

func TestAJournalHoldsBothKindsOfSignaturesWhenTheOptionChanges(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	var algorithms []string
	for n, signatures := range []Signatures{SignaturesEntry, SignaturesGroup, SignaturesEntry} {
		cfg.Signatures = signatures
		j := newExtension(t, cfg, nil)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
		_, err := j.Append(t.Context(), []carrier.Item{read(t, 2*n, nil), read(t, 2*n+1, nil)})
		require.NoError(t, err)
		require.NoError(t, j.Shutdown(t.Context()))
		for range 4 { // opened or resumed, two reads, closed
			algorithms = append(algorithms, map[Signatures]string{SignaturesEntry: `"Ed25519"`, SignaturesGroup: `"Ed25519-RFC6962"`}[signatures])
		}
	}
	dir := filepath.Join(cfg.Directory, "bank", "kyc_10y", "reads")
	report := verify(t, dir, registry)
	assert.EqualValues(t, len(algorithms), report.RecordsChecked)
	segments, err := filepath.Glob(filepath.Join(dir, "*.events"))
	require.NoError(t, err)
	require.Len(t, segments, 1)
	data, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		assert.Contains(t, line, `"signature":{"algorithm":`+algorithms[i]+`,`, "entry %d", i+1)
	}
}
