// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

// commands are indented lines of a document that follow each other.
var commands = regexp.MustCompile(`(?m)(?:^    \S.*\n)+`)

// setUp runs in a new directory what a document has somebody run before the collector,
// keys apart, and gives a house there: what the document forgets is not there.
func setUp(t *testing.T, document, config, last string) *house {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	require.NoError(t, err)
	h := newHouse(t, config)
	h.journal = filepath.Join(h.base, "data", "journal")
	h.extraEnv = []string{"READTRAIL_CHECKPOINTS=" + filepath.Join(h.base, "data", "checkpoints")}
	for _, block := range commands.FindAllString(string(text), -1) {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if strings.TrimSpace(lines[len(lines)-1]) != last {
			continue
		}
		for _, line := range lines {
			if strings.Contains(line, "keys new") || strings.Contains(line, "readtrail-collector") {
				continue // newHouse made the key, and the test starts the collector
			}
			cmd := exec.Command("sh", "-eu", "-c", line)
			cmd.Dir = h.base
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s\n%s", line, out)
		}
		return h
	}
	require.Fail(t, document+" does not say how the collector of "+config+" is started")
	return nil
}

func TestWhoFollowsTheDocumentsGetsAHealthyCollectorAndProofs(t *testing.T) {
	for _, document := range []string{"README.md", "docs/api.md"} {
		t.Run(document, func(t *testing.T) {
			h := setUp(t, document, "examples/synchronous.yaml", "bin/readtrail-collector --config examples/synchronous.yaml")
			c := h.start()
			status, answer, _ := ask(t, c, "POST", "/v1/records", plannedAction("act_1", tokenOfAct1))
			require.Equal(t, http.StatusOK, status, answer)
			given := receiptsIn(t, answer)
			require.Equal(t, 2, given[0].Sequence)
			require.Eventually(t, func() bool {
				_, answer, _ := ask(t, c, "GET", "/v1/receipts/"+given[0].EventID+"?proof=1", "")
				var got struct {
					Proof string `json:"proof"`
				}
				require.NoError(t, json.Unmarshal([]byte(answer), &got), answer)
				return got.Proof != ""
			}, time.Minute, 200*time.Millisecond)
			requireWell(t, c)
			require.NoError(t, c.Stop())
			h.requireVerified()
			code, gaps, _ := h.cli("show", h.journal, "--kind", "journal_record")
			require.Zero(t, code)
			require.NotContains(t, gaps, "journal.gap")
		})
	}
	t.Run("docs/operate.md", func(t *testing.T) {
		h := setUp(t, "docs/operate.md", "examples/checkpoints.yaml", "mkdir -p data/checkpoints")
		h.extraEnv = append(h.extraEnv, "READTRAIL_CHECKPOINT_INTERVAL=1s", "READTRAIL_CHECKPOINT_TIMEOUT=1s")
		c := h.start()
		status, answer, err := c.Post(t.Context(), "/v1/traces", toolSpan(strings.Repeat("1", 32), strings.Repeat("1", 16), "call_1", "{}"))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, answer)
		require.Eventually(t, func() bool {
			files, err := filepath.Glob(filepath.Join(h.base, "data", "checkpoints", "*", "*"))
			require.NoError(t, err)
			return len(files) > 0
		}, time.Minute, 50*time.Millisecond)
		require.NoError(t, c.Stop())
	})
}

// A place for checkpoints that is missing does not have the collector restarted: the
// probe of the examples tells what a restart may heal.
func TestAMissingPlaceForCheckpointsIsNoReasonToRestart(t *testing.T) {
	h := newHouse(t, "examples/synchronous.yaml")
	c := h.start()
	status, answer, _ := ask(t, c, "POST", "/v1/records", plannedAction("act_1", tokenOfAct1))
	require.Equal(t, http.StatusOK, status, answer)
	require.Eventually(t, func() bool {
		text, err := c.MetricsText(t.Context())
		require.NoError(t, err)
		return regexp.MustCompile(`(?m)^otelcol_extension_audit_journal_checkpoint_sink_degraded\S*(\{.*\})? 1$`).MatchString(text)
	}, time.Minute, 100*time.Millisecond)
	requireWell(t, c)
}

// requireWell demands that the probe finds nothing now.
func requireWell(t *testing.T, c *rig.Collector) {
	t.Helper()
	status, answer, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, answer)
}

// docs/operate.md: a shared token names nobody, so that each organization has a receiver.
func TestTwoOrganizationsWithTokensHaveAReceiverEach(t *testing.T) {
	h := newHouse(t, "examples/synchronous.yaml")
	text, err := os.ReadFile(h.config)
	require.NoError(t, err)
	config := strings.NewReplacer(
		"  bearertokenauth:\n    token: ${env:READTRAIL_TOKEN}\n", "  bearertokenauth: {token: otlp-token}\n  bearertokenauth/acme: {token: e2e-token}\n  bearertokenauth/beta: {token: other-token}\n",
		"        - {attribute: service.namespace, value: treasury, retention_class: treasury_10y}\n", "        - {attribute: service.namespace, value: beta, organization_ref: beta}\n",
		"  audit_event:\n", "  audit_event/beta:\n    http: {endpoint: \"${env:READTRAIL_BETA}\", auth: {authenticator: bearertokenauth/beta}}\n"+
			"    clients: [{subject: \"*\", organization_ref: beta}]\n  audit_event/acme:\n",
		"      endpoint: ${env:READTRAIL_API:-localhost:4319}\n      auth: {authenticator: bearertokenauth}", "      endpoint: ${env:READTRAIL_API:-localhost:4319}\n      auth: {authenticator: bearertokenauth/acme}",
		"receivers: [audit_event]", "receivers: [audit_event/acme, audit_event/beta]",
		"[healthcheckv2, bearertokenauth, audit_journal]", "[healthcheckv2, bearertokenauth, bearertokenauth/acme, bearertokenauth/beta, audit_journal]",
	).Replace(string(text))
	h.config = filepath.Join(h.base, "two.yaml")
	require.NoError(t, os.WriteFile(h.config, []byte(config), 0o600))
	h.extraEnv = []string{"READTRAIL_BETA=localhost:0"}
	c := h.start()
	status, answer, _ := ask(t, c, "POST", "/v1/records", plannedAction("act_1", tokenOfAct1))
	require.Equal(t, http.StatusOK, status, answer)
	status, _, _ = ask(t, c, "POST", "/v1/records", plannedAction("act_2", tokenOfAct2), "Authorization", "Bearer other-token")
	require.Equal(t, http.StatusUnauthorized, status)
	status, _, _ = ask(t, c, "POST", "/v1/records", plannedAction("act_2", tokenOfAct2), "Readtrail-Organization", "beta")
	require.Equal(t, http.StatusForbidden, status)
	require.NoError(t, c.Stop())
	h.requireVerified()
}
