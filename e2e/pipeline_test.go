// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variant writes a changed copy of a configuration and makes the house use it.
func (h *house) variant(oldNew ...string) {
	h.t.Helper()
	data, err := os.ReadFile(h.config)
	require.NoError(h.t, err)
	text := string(data)
	for i := 0; i < len(oldNew); i += 2 {
		require.Contains(h.t, text, oldNew[i])
		text = strings.ReplaceAll(text, oldNew[i], oldNew[i+1])
	}
	h.config = filepath.Join(h.base, "variant.yaml")
	require.NoError(h.t, os.WriteFile(h.config, []byte(text), 0o600))
}

// TestAPipelineThatCannotKeepItsPromiseIsRefused puts what breaks the
// acknowledgement between processor and exporter, or leaves the processor out.
func TestAPipelineThatCannotKeepItsPromiseIsRefused(t *testing.T) {
	for name, change := range map[string][]string{
		"the exporter without the processor":       {"processors: [read_record]", "processors: []"},
		"a processor that makes no records":        {"processors: [read_record]", "processors: [read_record/tracing]", "  read_record:", "  read_record:\n  read_record/tracing: {records: false}"},
		"the batch processor behind the processor": {"processors: [read_record]", "processors: [read_record, batch]", "  read_record:", "  read_record:\n  batch: {timeout: 10ms}"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "e2e/testdata/audit.yaml")
			h.variant(change...)
			c := h.start()
			status, answer, err := c.Post(t.Context(), "/v1/traces", toolSpan("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "call_1", "{}"))
			require.NoError(t, err)
			if !strings.Contains(name, "batch") {
				assert.Equal(t, http.StatusServiceUnavailable, status)
				assert.Contains(t, answer, "read_record")
			}
			require.NoError(t, c.Stop())
			// The batch processor has answered by then: the refusal stands in the log.
			assert.Contains(t, c.Output(), "put the read_record processor in this pipeline")
			assert.Empty(t, h.reads())
		})
	}
	t.Run("a sending queue in the exporter", func(t *testing.T) {
		h := newHouse(t, "e2e/testdata/audit.yaml")
		h.variant("exporters:\n  audit_journal:", "exporters:\n  audit_journal: {sending_queue: {enabled: true}}")
		out, err := h.validate()
		require.Error(t, err)
		assert.Contains(t, out, "sending_queue")
	})
}

// validate runs the collector's own check of a configuration.
func (h *house) validate() (string, error) {
	cmd := exec.Command(collectorBin, "validate", "--config", h.config)
	cmd.Env = append(append(os.Environ(), h.rigConfig().Env...), "READTRAIL_GRPC=localhost:0", "READTRAIL_HTTP=localhost:0", "READTRAIL_HEALTH=localhost:0", "READTRAIL_METRICS=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestEveryExampleRuns validates and boots the configurations in examples/.
func TestEveryExampleRuns(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		t.Run(filepath.Base(example), func(t *testing.T) {
			h := newHouse(t, "examples/"+filepath.Base(example))
			out, err := h.validate()
			require.NoError(t, err, out)
			require.NoError(t, h.start().Stop())
		})
	}
}

// TestRecordsSayThatTheirSenderWasAuthenticated runs the example with a token.
func TestRecordsSayThatTheirSenderWasAuthenticated(t *testing.T) {
	h := newHouse(t, "examples/authenticated.yaml")
	c := h.start()
	body := toolSpan("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "call_1", "{}")
	status, _, err := c.Post(t.Context(), "/v1/traces", body)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status)
	c.Token = "e2e-token"
	status, answer, err := c.Post(t.Context(), "/v1/traces", body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, answer)
	require.NoError(t, c.Stop())
	reads := h.reads()
	require.Len(t, reads, 1)
	require.Equal(t, "authenticated:bearertokenauth", reads[0].ObservedBy["upstream_context_source"])
}
