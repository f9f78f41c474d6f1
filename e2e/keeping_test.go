// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// sets are those of examples/keeping.yaml, by the ends of their recipients' files.
var sets = []string{"2026", "2027", "treasury"}

// identity is the file that opens a set.
func (h *house) identity(set string) string { return filepath.Join(h.base, "identity-"+set+".txt") }

// evidence is where examples/keeping.yaml keeps copies.
func (h *house) evidence() string { return filepath.Join(h.base, "evidence") }

// makeKeys makes what examples/keeping.yaml asks for before it starts.
func (h *house) makeKeys() {
	h.t.Helper()
	for i, name := range []string{"digest.key", "digest-treasury.key"} {
		key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, 32))
		require.NoError(h.t, os.WriteFile(filepath.Join(h.keyDir, name), []byte(key+"\n"), 0o600))
	}
	for _, set := range sets {
		code, stdout, stderr := h.cli("evidence", "identity", h.identity(set))
		require.Zero(h.t, code, stderr)
		_, rest, found := strings.Cut(stdout, "public_key: ")
		require.True(h.t, found, stdout)
		public, _, _ := strings.Cut(rest, "\n")
		require.NoError(h.t, os.WriteFile(filepath.Join(h.keyDir, "recipients-"+set+".txt"), []byte(public+"\n"), 0o600))
	}
}

// check runs evidence check with the keys of the digests and some identities.
func (h *house) check(sets ...string) (int, string) {
	args := []string{
		"evidence", "check", h.journal, "--store", h.evidence(),
		"--key", filepath.Join(h.keyDir, "digest.key"), "--key-id", "bank-2026", "--key", filepath.Join(h.keyDir, "digest-treasury.key"), "--key-id", "treasury-2026",
	}
	for _, set := range sets {
		args = append(args, "--identity", h.identity(set))
	}
	code, stdout, stderr := h.cli(args...)
	return code, stdout + stderr
}

// kycOf returns the KYC run as an agent of another namespace sends it.
func kycOf(t *testing.T, namespace string) [][]byte {
	t.Helper()
	var requests [][]byte
	for line := range bytes.Lines(readAll(t, filepath.Join(root, "testdata/kyc/kyc.traces.jsonl"))) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		for _, rs := range td.ResourceSpans().All() {
			rs.Resource().Attributes().PutStr("service.namespace", namespace)
		}
		request, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
		require.NoError(t, err)
		requests = append(requests, request)
	}
	return requests
}

// TestWhatIsKeptComesBackAndOnlyWithItsIdentity runs examples/keeping.yaml: two
// organizations with keys of their own, of which one can read its copies and
// not the other's.
func TestWhatIsKeptComesBackAndOnlyWithItsIdentity(t *testing.T) {
	h := newHouse(t, "examples/keeping.yaml")
	c := h.start()
	for _, namespace := range []string{"kyc", "treasury"} {
		for _, request := range kycOf(t, namespace) {
			status, answer, err := c.Post(t.Context(), "/v1/traces", request)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, status, answer)
		}
	}
	require.NoError(t, c.Stop())
	h.requireVerified()

	code, report := h.check(sets...)
	require.Zero(t, code, report)
	assert.Equal(t, 2, strings.Count(report, "copies: valid"), report)

	code, report = h.check("treasury")
	assert.Equal(t, 2, code, "the other identities were destroyed")
	assert.Contains(t, report, "copies: valid")
	assert.Contains(t, report, "copies: not_performed")
	code, report = h.check()
	assert.Equal(t, 2, code, report)
	assert.NotContains(t, report, "copies: valid")

	// No plain digest, no record ref and no content anywhere outside.
	for name, text := range map[string][]byte{"journal": bytes.Join(h.lines(), nil), "tracing": readAll(t, h.tracing)} {
		assert.NotContains(t, string(text), "cust_syn_55120", name)
		assert.NotContains(t, string(text), `_digest":"sha256:`, name)
		assert.Contains(t, string(text), "hmac-sha256:bank-2026:", name)
		assert.Contains(t, string(text), "hmac-sha256:treasury-2026:", name)
	}
	objects := h.objects()
	require.NotEmpty(t, objects)
	for _, object := range objects {
		assert.NotContains(t, string(readAll(t, object)), "cust_syn_55120", object)
	}

	// A flipped bit is named.
	damaged := readAll(t, objects[0])
	damaged[len(damaged)-1] ^= 1
	require.NoError(t, os.Chmod(objects[0], 0o600))
	require.NoError(t, os.WriteFile(objects[0], damaged, 0o600))
	code, report = h.check(sets...)
	assert.Equal(t, 1, code, report)
	assert.Contains(t, report, filepath.Base(objects[0]))
	require.NoError(t, os.Remove(objects[0]))
	code, report = h.check(sets...)
	assert.Equal(t, 1, code, report)
	assert.Contains(t, report, "artifact_missing: 1")
}

// TestAFullEvidenceStoreHoldsSendersBack fills a small file system below the
// store and makes room again.
func TestAFullEvidenceStoreHoldsSendersBack(t *testing.T) {
	h := newHouse(t, "examples/keeping.yaml")
	require.NoError(t, os.MkdirAll(h.evidence(), 0o700))
	if err := syscall.Mount("tmpfs", h.evidence(), "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small file system can be mounted here (%v); the full store was not tested", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(h.evidence(), 0) })
	ballast := filepath.Join(h.evidence(), "ballast")
	c := h.start()
	require.NoError(t, os.WriteFile(ballast, nil, 0o600))
	for size := int64(1 << 20); size > 0; size /= 2 { // to the last block
		for fill(ballast, size) {
		}
	}
	request := kycOf(t, "kyc")[1]
	status, answer, err := c.Post(t.Context(), "/v1/traces", request)
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status, answer)
	assert.Empty(t, h.reads(), "no record names a copy that is not there")

	require.NoError(t, os.Remove(ballast))
	require.Eventually(t, func() bool {
		status, _, err := c.Post(t.Context(), "/v1/traces", request)
		return err == nil && status == http.StatusOK
	}, time.Minute, 50*time.Millisecond, "the store never took copies again")
	require.NoError(t, c.Stop())
	h.requireVerified()
	require.NotEmpty(t, h.reads())
	code, report := h.check("2026", "2027")
	require.Zero(t, code, report)
}

// fill appends bytes to a file and reports whether there was room.
func fill(name string, size int64) bool {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = file.Write(make([]byte, size))
	return err == nil
}

// objects returns the files of the store that hold copies.
func (h *house) objects() []string {
	files, err := filepath.Glob(filepath.Join(h.evidence(), "*", "*", "*", "*", "*", "*.age"))
	require.NoError(h.t, err)
	return files
}

func readAll(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}
