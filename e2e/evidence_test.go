// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatIsKeptComesBackAndNothingElseLeaves sends every captured file through
// a collector that keeps a copy of everything that is read.
func TestWhatIsKeptComesBackAndNothingElseLeaves(t *testing.T) {
	h := newHouse(t, "e2e/testdata/evidence.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, corpusFiles(t))
	require.NoError(t, c.Stop())
	h.requireVerified()

	code, report := h.check(sets...)
	require.Zero(t, code, report)
	require.Contains(t, report, "copies: valid")
	code, report = h.check()
	require.Equal(t, 2, code, "without the identity nothing is checked: %s", report)
	require.NotContains(t, report, "copies: valid")

	// A copy is what was read, and a digest is that of the key.
	want := `{"id":"KYC-000123","limit":25}`
	s := h.start()
	status, answer, err := s.Post(t.Context(), "/v1/traces", toolSpan(strings.Repeat("a", 32), strings.Repeat("b", 16), "call_kept", `{ "limit": 25, "id": "KYC-000123" }`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, answer)
	require.NoError(t, s.Stop())
	mac := hmac.New(sha256.New, bytes.Repeat([]byte{1}, 32))
	mac.Write([]byte(want))
	digest := fmt.Sprintf("hmac-sha256:bank-2026:%x", mac.Sum(nil))
	require.Contains(t, string(bytes.Join(h.lines(), []byte("\n"))), digest)
	code, got, stderr := h.cli("evidence", "get", digest, "--store", h.evidence(), "--identity", h.identity("2026"), "--key", filepath.Join(h.keyDir, "digest.key"))
	require.Zero(t, code, stderr)
	require.Equal(t, want, got)

	// In clear it is nowhere: journal, tracing, output, store.
	tracing, err := os.ReadFile(h.tracing)
	require.NoError(t, err)
	places := map[string][]byte{"journal": bytes.Join(h.lines(), []byte("\n")), "tracing": tracing, "output": []byte(c.Output() + s.Output())}
	for _, object := range h.objects() {
		places[object], err = os.ReadFile(object)
		require.NoError(t, err)
	}
	require.Greater(t, len(places), 100)
	for where, text := range places {
		assert.NotContains(t, string(text), "CANARY", where)
		assert.NotContains(t, string(text), "KYC-000123", where)
	}

	// One flipped bit is named.
	object := h.objects()[rand.IntN(len(h.objects()))]
	data, err := os.ReadFile(object)
	require.NoError(t, err)
	data[rand.IntN(len(data))] ^= 1 << rand.IntN(8)
	require.NoError(t, os.Chmod(object, 0o600))
	require.NoError(t, os.WriteFile(object, data, 0o600))
	code, report = h.check(sets...)
	require.Equal(t, 1, code, report)
	require.Contains(t, report, "artifact_digest_mismatch")
	require.Contains(t, report, strings.TrimSuffix(filepath.Base(object), ".age"))
}

// TestNoContentIsDigestedWithoutTheKey looks for the plain digest of every
// content of the answers that the collector kept.
func TestNoContentIsDigestedWithoutTheKey(t *testing.T) {
	h := newHouse(t, "e2e/testdata/evidence.yaml")
	c := h.start()
	replayAll(t.Context(), t, c, corpusFiles(t))
	require.NoError(t, c.Stop())
	tracing, err := os.ReadFile(h.tracing)
	require.NoError(t, err)
	text := string(bytes.Join(h.lines(), []byte("\n"))) + string(tracing) + c.Output()
	checked := 0
	for _, line := range h.lines() {
		var e struct {
			Read struct {
				Request  map[string]any `json:"request"`
				Response map[string]any `json:"response"`
			} `json:"read_record"`
		}
		require.NoError(t, json.Unmarshal(line, &e))
		for _, digest := range []any{e.Read.Request["arguments_digest"], e.Read.Response["result_digest"]} {
			d, ok := digest.(string)
			if !ok || checked == 40 {
				continue
			}
			code, content, stderr := h.cli("evidence", "get", d, "--store", h.evidence(), "--identity", h.identity("2026"), "--key", filepath.Join(h.keyDir, "digest.key"))
			require.Zero(t, code, stderr)
			require.NotContains(t, text, fmt.Sprintf("%x", sha256.Sum256([]byte(content))))
			checked++
		}
	}
	require.Equal(t, 40, checked)
}

// TestAFullEvidenceStoreHoldsSendersBack fills a small file system below the
// store and makes room again.
func TestAFullEvidenceStoreHoldsSendersBack(t *testing.T) {
	h := newHouse(t, "e2e/testdata/evidence.yaml")
	require.NoError(t, os.MkdirAll(h.evidence(), 0o700))
	if err := syscall.Mount("tmpfs", h.evidence(), "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("no small file system can be mounted here (%v); the full store was not tested", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(h.evidence(), 0) })
	ballast := filepath.Join(h.evidence(), "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o600))

	s := &sender{t: t, c: h.start(), arguments: func(n int) string {
		return fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("x", 16<<10))
	}}
	t.Cleanup(s.c.Kill)
	s.until(http.StatusOK)
	s.until(http.StatusServiceUnavailable)
	requireHealth(t, s.c, false)
	require.Equal(t, http.StatusServiceUnavailable, s.send())
	recorded := len(h.reads())
	require.Equal(t, len(s.acknowledged), recorded, "nothing is recorded whose copy is not there")
	require.NoError(t, os.Remove(ballast))
	s.until(http.StatusOK)
	requireHealth(t, s.c, true)
	require.NoError(t, s.c.Stop())
	h.requireAllThere(s)
	code, report := h.check(sets...)
	require.Zero(t, code, report)
}
