// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatIsCapturedCanBeLinted does what docs/lint.md says: the collector of
// examples/capture.yaml writes a file, which lint reads with the configuration
// that will be deployed. It says of it what it says of the telemetry itself.
func TestWhatIsCapturedCanBeLinted(t *testing.T) {
	telemetry := []string{filepath.Join(root, "testdata/kyc/kyc.traces.jsonl"), filepath.Join(root, "testdata/corpus/otel-js-openai-0.21.0.logs.jsonl")}
	h := newHouse(t, "examples/capture.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, telemetry)
	require.NoError(t, c.Stop())

	config := filepath.Join(root, "examples/kyc.yaml")
	code, of, stderr := h.cli("lint", h.capture(), "--config", config)
	require.Equal(t, 1, code, stderr)
	require.Empty(t, stderr)
	code, want, stderr := h.cli(append([]string{"lint", "--config", config}, telemetry...)...)
	require.Equal(t, 1, code, stderr)
	summary, _, _ := strings.Cut(of, "\n")
	wanted, _, _ := strings.Cut(want, "\n")
	assert.Equal(t, wanted, summary)
	assert.Contains(t, summary, " 7 reads recorded, ")
	assert.NotContains(t, of, "CANARY")

	captured, err := os.ReadFile(h.capture())
	require.NoError(t, err)
	assert.Contains(t, string(captured), "CANARY", "a capture holds content, as the example says")
}
