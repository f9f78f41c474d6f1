// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

// synchronous starts the collector of examples/synchronous.yaml.
func synchronous(t *testing.T) (*house, *rig.Collector) {
	t.Helper()
	h := newHouse(t, "examples/synchronous.yaml")
	c := h.start()
	return h, c
}

// ask sends a request to the API as the client with the example's token.
func ask(t *testing.T, c *rig.Collector, method, path, body string, headers ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.API+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer e2e-token")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(text), res.Header
}

// shown is a block of a document that runs, and the block after it that shows what it
// prints, if there is one.
var shown = regexp.MustCompile("(?ms)^```sh\n(.*?)^```\n(?:\n```json\n(.*?)^```\n)?")

// TestTheCommandsOfTheAPIDocumentPrintWhatItShows runs docs/api.md, in its order.
func TestTheCommandsOfTheAPIDocumentPrintWhatItShows(t *testing.T) {
	for _, program := range []string{"curl", "sh", "sed", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is missing")
		}
	}
	h, c := synchronous(t)
	document, err := os.ReadFile(filepath.Join(root, "docs", "api.md"))
	require.NoError(t, err)
	examples := shown.FindAllStringSubmatch(string(document), -1)
	require.Greater(t, len(examples), 5)
	for _, example := range examples {
		script := strings.ReplaceAll(example[1], "http://localhost:4319", "http://"+c.API)
		require.NotEqual(t, "", script)
		cmd := exec.Command("sh", "-eu", "-c", script)
		cmd.Dir, cmd.Env = h.base, append(os.Environ(), "READTRAIL_TOKEN=e2e-token")
		got, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, got)
		pattern := strings.ReplaceAll(regexp.QuoteMeta(example[2]), "…", ".*")
		require.Regexp(t, "^"+pattern+"$", string(got), script)
	}

	code, stdout, stderr := h.cli("receipt", "verify", filepath.Join(h.base, "answer.json"), "--keys", h.registry)
	require.Equal(t, 2, code, "neither entry nor proof: "+stdout+stderr)
	require.Contains(t, stdout, "signature: valid")
	require.NoError(t, c.Stop())
	h.requireVerified()
}

// plannedAction is an action as an executor plans it.
func plannedAction(id, token string) string {
	return fmt.Sprintf(`{"schema_version":"1.0.0","action_record":{"action_id":%q,"state":"planned","edge_type":"external_action","occurred_at":"2026-11-30T09:12:03Z",`+
		`"correlation":{"execution_id":"run_1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"},"actor":{"kind":"agent_process","identity":"executor-eu"},"requested":{"tool_id":"publish_release"},`+
		`"action":{"channel":"http","protocol":"https","host":"deploy.example.com","port":443,"method":"POST","credential_ref":"ops-deploy","redaction":"none"},"idempotency_token":%q}}`, id, token)
}

// The tokens of two actions, computed by another program.
const (
	tokenOfAct1 = "idem_512d573b32817a9f9f24743dec89f2d6"
	tokenOfAct2 = "idem_24bacb9ca768d01f099998b8e87c7fc0"
)

type receiptOf struct {
	EventID  string `json:"event_id"`
	Sequence int    `json:"sequence"`
	Hash     string `json:"record_hash"`
	Repeat   bool   `json:"repeat"`
}

func receiptsIn(t *testing.T, answer string) []receiptOf {
	t.Helper()
	var got struct {
		Receipts []receiptOf `json:"receipts"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &got), answer)
	return got.Receipts
}

// TestAReplayedBatchAndAForgedReceiptShow replays what a client sent, over a crash, and
// changes what it was answered.
func TestAReplayedBatchAndAForgedReceiptShow(t *testing.T) {
	h, c := synchronous(t)
	batch := "[" + plannedAction("act_1", tokenOfAct1) + "," + plannedAction("act_2", tokenOfAct2) + "]"
	status, first, _ := ask(t, c, "POST", "/v1/records", batch)
	require.Equal(t, http.StatusOK, status, first)
	c.Kill()
	c = h.start()
	status, second, _ := ask(t, c, "POST", "/v1/records", batch)
	require.Equal(t, http.StatusOK, status, second)
	given, again := receiptsIn(t, first), receiptsIn(t, second)
	require.Len(t, given, 2)
	require.Len(t, again, 2)
	for i := range again {
		require.True(t, again[i].Repeat)
		again[i].Repeat = false
	}
	require.Equal(t, given, again)

	file := filepath.Join(h.base, "receipts.json")
	verify := func(text string) (int, string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, stdout, _ := h.cli("receipt", "verify", file, "--keys", h.registry)
		return code, stdout
	}
	code, stdout := verify(first)
	require.Equal(t, 2, code, stdout)
	require.Contains(t, stdout, "signature: valid")
	forged := strings.Replace(first, given[0].Hash, given[1].Hash, 1)
	code, stdout = verify(forged)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "signature: failed signature_invalid")

	// A checkpoint comes within seconds, and the receipt has its proof then.
	require.Eventually(t, func() bool {
		status, answer, _ := ask(t, c, "GET", "/v1/receipts/"+given[0].EventID+"?proof=1", "")
		require.Equal(t, http.StatusOK, status, answer)
		if !strings.Contains(answer, `"proof_state":"included"`) {
			return false
		}
		code, stdout := verify(answer)
		require.Zero(t, code, stdout)
		require.Contains(t, stdout, "inclusion: valid")
		return true
	}, time.Minute, 200*time.Millisecond)
	require.NoError(t, c.Stop())
	h.requireVerified()
}

// TestAForgedTraceparentAndAnotherOrganizationAreLabeledAndRefused checks what clients
// claim that they are not.
func TestAForgedTraceparentAndAnotherOrganizationAreLabeledAndRefused(t *testing.T) {
	h, c := synchronous(t)
	status, answer, _ := ask(t, c, "POST", "/v1/records", plannedAction("act_1", tokenOfAct1),
		"Traceparent", "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01", "Readtrail-Retention-Class", "treasury_10y")
	require.Equal(t, http.StatusOK, status, answer)
	for _, headers := range [][]string{{"Readtrail-Organization", "umbrella"}, {"Readtrail-Retention-Class", "eternal"}, {"Readtrail-Organization", "../acme"}} {
		status, answer, _ = ask(t, c, "POST", "/v1/records", plannedAction("act_2", tokenOfAct2), headers...)
		require.Equal(t, http.StatusForbidden, status, answer)
		require.Contains(t, answer, `"code":"scope_forbidden"`)
	}
	status, answer, header := ask(t, c, "POST", "/v1/records", plannedAction("act_2", tokenOfAct2), "Authorization", "Bearer wrong")
	require.Equal(t, http.StatusUnauthorized, status, answer)
	require.Equal(t, `Bearer realm="readtrail"`, header.Get("WWW-Authenticate"))
	require.NoError(t, c.Stop())
	h.requireVerified()

	var actions []map[string]any
	for _, line := range h.lines() {
		var e struct {
			Action map[string]any `json:"action_record"`
		}
		require.NoError(t, json.Unmarshal(line, &e))
		if e.Action != nil {
			actions = append(actions, e.Action)
		}
	}
	require.Len(t, actions, 1)
	assert.Equal(t, map[string]any{
		"collector_id": "collector-1", "signal": "api", "upstream_context_source": "authenticated:bearertokenauth",
		"received_context": map[string]any{"trace_id": strings.Repeat("a", 32), "parent_span_id": strings.Repeat("b", 16)},
	}, actions[0]["observed_by"])
	assert.Equal(t, "treasury_10y", actions[0]["scope"].(map[string]any)["retention_class"])
	assert.FileExists(t, filepath.Join(h.journal, "acme", "treasury_10y", "actions", "00000000000000000001.events"))
}

// TestNothingOfARefusedRequestIsShown plants canaries in every place of a request where
// content could be, with the collector's log at debug.
func TestNothingOfARefusedRequestIsShown(t *testing.T) {
	h := newHouse(t, "examples/synchronous.yaml")
	text, err := os.ReadFile(h.config)
	require.NoError(t, err)
	h.config = filepath.Join(h.base, "debug.yaml")
	debug := strings.Replace(string(text), "  telemetry:\n", "  telemetry:\n    logs: {level: debug}\n", 1)
	require.NoError(t, os.WriteFile(h.config, []byte(debug), 0o600))
	c := h.start()
	action := plannedAction("act_1", tokenOfAct1)
	var answers bytes.Buffer
	for _, request := range []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/v1/records", `{"CANARY-1`, nil},
		{"POST", "/v1/records", `CANARY-1`, nil},
		{"POST", "/v1/records", `{"schema_version":"CANARY-1","action_record":{}}`, nil},
		{"POST", "/v1/records", `{"schema_version":"1.0.0","CANARY-1":{"CANARY-2":"CANARY-3"}}`, nil},
		{"POST", "/v1/records", strings.Replace(action, `"method":"POST"`, `"method":"CANARY 1"`, 1), nil},
		{"POST", "/v1/records", strings.Replace(action, `"method":"POST"`, `"method":"POST","body":"CANARY-1"`, 1), nil},
		{"POST", "/v1/records", strings.Replace(action, `"method":"POST"`, `"method":"POST","CANARY-1":1`, 1), nil},
		{"POST", "/v1/records", strings.Replace(action, `"credential_ref":"ops-deploy"`, `"credential_ref":"Bearer CANARY-1"`, 1), nil},
		{"POST", "/v1/records", strings.Replace(action, `"occurred_at":"2026-11-30T09:12:03Z"`, `"occurred_at":"CANARY-1"`, 1), nil},
		{"POST", "/v1/records", strings.Replace(action, `"port":443`, `"port":"CANARY-1"`, 1), nil},
		{"POST", "/v1/records", action, []string{"Content-Type", "CANARY/1"}},
		{"POST", "/v1/records", action, []string{"Content-Encoding", "CANARY-1"}},
		{"POST", "/v1/records", "CANARY-1", []string{"Content-Encoding", "gzip"}},
		{"POST", "/v1/records", action, []string{"Authorization", "Bearer CANARY-1"}},
		{"POST", "/v1/records", action, []string{"Readtrail-Organization", "CANARY-1"}},
		{"POST", "/v1/records", action, []string{"Traceparent", "00-CANARY-1"}},
		{"POST", "/v1/records?CANARY-1", action, []string{"Cookie", "CANARY-1", "User-Agent", "CANARY-1"}},
		{"POST", "/CANARY-1", action, nil},
		{"CANARY", "/v1/records", action, nil},
		{"GET", "/v1/receipts/CANARY-1?CANARY-2", "", nil},
		{"GET", "/v1/receipts/CANARY-1", "", nil},
	} {
		_, answer, header := ask(t, c, request.method, request.path, request.body, request.headers...)
		fmt.Fprintln(&answers, answer, header)
	}
	require.NoError(t, c.Stop())
	h.requireVerified()
	for where, text := range map[string]string{"answers": answers.String(), "output": c.Output(), "journal": string(bytes.Join(h.lines(), []byte("\n")))} {
		require.NotEmpty(t, text, where)
		assert.NotContains(t, text, "CANARY", where)
	}
	require.Contains(t, c.Output(), "debug", "the log is at debug")
}
