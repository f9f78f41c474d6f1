// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/readtrail/readtrail/internal/rig"
)

// auditHouse is the example with the key of one producer.
func auditHouse(t *testing.T) (*house, *rig.Collector) {
	t.Helper()
	h := newHouse(t, "examples/synchronous.yaml")
	keys := filepath.Join(h.base, "producers.json")
	secret := base64.RawURLEncoding.EncodeToString([]byte("a secret of thirty-two bytes...."))
	require.NoError(t, os.WriteFile(keys, []byte(`{"keys":[{"kty":"oct","kid":"auth-service","k":"`+secret+`"}]}`), 0o600))
	h.variant("  audit_event:\n    http:", "  audit_event:\n    audit: {keys_file: "+keys+"}\n    http:")
	return h, h.start()
}

// TestAClientOfTheAuditDraftGetsWhatTheDraftPromises runs a client in another language
// that knows the draft only.
func TestAClientOfTheAuditDraftGetsWhatTheDraftPromises(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is missing")
	}
	h, c := auditHouse(t)
	out, err := exec.Command("node", filepath.Join("auditdraft", "client.mjs"), "http://"+c.API, "e2e-token").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "ok\n", string(out))
	require.NoError(t, c.Stop())
	h.requireVerified()
	requireNoCanary(t, h)
}

// requireNoCanary looks for what the client put where content stands.
func requireNoCanary(t *testing.T, h *house) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(h.base, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "CANARY-auditdraft", path)
		return nil
	}))
}

// auditLogs is a request with one record of the draft.
func auditLogs(id string) plogotlp.ExportRequest {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "payments")
	lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	now := time.Now()
	lr.SetTimestamp(pcommon.NewTimestampFromTime(now.Add(-time.Second)))
	lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(now.Add(-time.Millisecond)))
	lr.SetEventName("config.change")
	lr.SetTraceID([16]byte{1, 2, 3})
	for name, value := range map[string]string{
		"audit.record.id": id, "audit.actor.id": "svc-deployer", "audit.actor.type": "service", "audit.action": "UPDATE", "audit.outcome": "failure",
	} {
		lr.Attributes().PutStr(name, value)
	}
	return plogotlp.NewExportRequestFromLogs(logs)
}

func postAudit(t *testing.T, c *rig.Collector, body io.Reader, headers ...string) (int, map[string]any, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.API+"/v1/audit", body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer e2e-token")
	req.Header.Set("Content-Type", "application/x-protobuf")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var answer map[string]any
	require.NoError(t, json.Unmarshal(text, &answer), "%s", text)
	return res.StatusCode, answer, res.Header
}

// TestAnAuditRecordInProtobufOutlivesTheCollector kills the collector behind its answer.
func TestAnAuditRecordInProtobufOutlivesTheCollector(t *testing.T) {
	h, c := auditHouse(t)
	body, err := auditLogs("p-1").MarshalProto()
	require.NoError(t, err)
	status, first, _ := postAudit(t, c, bytes.NewReader(body))
	require.Equal(t, http.StatusOK, status, first)
	c.Kill()
	c = h.start()
	status, again, _ := postAudit(t, c, bytes.NewReader(body))
	require.Equal(t, http.StatusOK, status, again)
	assert.Equal(t, true, again["receipt"].(map[string]any)["repeat"])
	assert.Equal(t, first["sink_timestamp"], again["sink_timestamp"])
	assert.Equal(t, first["integrity_hash"], again["integrity_hash"])
	eventID := first["receipt"].(map[string]any)["event_id"].(string)
	status, text, _ := ask(t, c, http.MethodGet, "/v1/receipts/"+eventID, "")
	require.Equal(t, http.StatusOK, status, text)
	require.NoError(t, c.Stop())
	h.requireVerified()
	received := 0
	for _, line := range h.lines() {
		received += bytes.Count(line, []byte(`"audit_log.received"`))
	}
	require.Equal(t, 1, received)
}

// TestHostileAuditRequestsAreRefused sends what costs a careless reader its memory.
func TestHostileAuditRequestsAreRefused(t *testing.T) {
	h, c := auditHouse(t)
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	zeros := make([]byte, 1<<20)
	for range 512 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	status, _, _ := postAudit(t, c, &bomb, "Content-Encoding", "gzip")
	assert.Contains(t, []int{http.StatusRequestEntityTooLarge, http.StatusBadRequest}, status)

	many := auditLogs("many")
	attributes := many.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
	attributes.EnsureCapacity(100_000)
	for i := range 100_000 {
		attributes.PutInt("n"+strconv.Itoa(i), int64(i))
	}
	deep := auditLogs("deep")
	v := deep.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body()
	for range 3000 {
		v = v.SetEmptySlice().AppendEmpty()
	}
	for request, want := range map[plogotlp.ExportRequest]int{deep: http.StatusBadRequest, many: http.StatusRequestEntityTooLarge} {
		body, err := request.MarshalProto()
		require.NoError(t, err)
		status, answer, _ := postAudit(t, c, bytes.NewReader(body))
		assert.Equal(t, want, status, answer)
	}
	status, answer, _ := postAudit(t, c, strings.NewReader("\x0a\xff\xff\xff\xff\x0f"))
	assert.Equal(t, http.StatusBadRequest, status, answer)
	status, answer, _ = postAudit(t, c, strings.NewReader("{}"), "Content-Type", "text/plain")
	assert.Equal(t, http.StatusUnsupportedMediaType, status)
	assert.Equal(t, "rejected_schema_invalid", answer["status"])
	require.NoError(t, c.Stop())
	h.requireVerified()
}

// TestTheCommandsOfTheAuditDraftDocumentPrintWhatItShows runs docs/audit-draft.md.
func TestTheCommandsOfTheAuditDraftDocumentPrintWhatItShows(t *testing.T) {
	for _, program := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is missing")
		}
	}
	h, c := auditHouse(t)
	document, err := os.ReadFile(filepath.Join(root, "docs", "audit-draft.md"))
	require.NoError(t, err)
	examples := shown.FindAllStringSubmatch(string(document), -1)
	require.NotEmpty(t, examples)
	for _, example := range examples {
		script := strings.ReplaceAll(example[1], "http://localhost:4319", "http://"+c.API)
		cmd := exec.Command("sh", "-eu", "-c", script)
		cmd.Dir, cmd.Env = h.base, append(os.Environ(), "READTRAIL_TOKEN=e2e-token")
		got, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, got)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(example[2]), "…", ".*")
		require.Regexp(t, "^"+pattern+"$", string(got), script)
	}
	require.NoError(t, c.Stop())
}
