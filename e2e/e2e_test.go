// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the built collector and CLI from outside: processes, OTLP,
// files and exit codes.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

var (
	root         = mustAbs("..")
	collectorBin = filepath.Join(root, "bin", "readtrail-collector")
	cliBin       = filepath.Join(root, "bin", "readtrail")
)

func mustAbs(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return abs
}

// TestMain demands the binaries when `make test` runs the suite and leaves it
// out of a plain `go test ./...` before a build.
func TestMain(m *testing.M) {
	for _, bin := range []string{collectorBin, cliBin} {
		if _, err := os.Stat(bin); err != nil {
			if os.Getenv("READTRAIL_E2E") != "" {
				fmt.Fprintln(os.Stderr, "e2e: run `make build` first:", err)
				os.Exit(1)
			}
			fmt.Println("e2e: skipped, nothing is built yet; `make e2e` builds and runs it")
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// house is where one test keeps the files of a collector.
type house struct {
	t                           *testing.T
	journal, keyDir, tracing    string
	registry, key, config, base string
	// extraEnv is what the collector gets besides.
	extraEnv []string
}

// newHouse makes a key and places for everything below a temporary directory.
func newHouse(t *testing.T, config string) *house {
	t.Helper()
	dir := t.TempDir()
	h := &house{
		t: t, base: dir, config: filepath.Join(root, config),
		journal: filepath.Join(dir, "journal"), keyDir: filepath.Join(dir, "keys"), tracing: filepath.Join(dir, "tracing.jsonl"),
	}
	h.key, h.registry = filepath.Join(h.keyDir, "signing-key.pem"), filepath.Join(h.keyDir, "keys.json")
	code, _, stderr := h.cli("keys", "new", "--out", h.keyDir)
	require.Zero(t, code, stderr)
	h.makeKeys()
	return h
}

func (h *house) rigConfig() rig.Config {
	return rig.Config{
		Command:    []string{collectorBin},
		ConfigFile: h.config,
		Env: append([]string{
			"READTRAIL_JOURNAL=" + h.journal, "READTRAIL_KEY=" + h.key, "READTRAIL_TRACING=" + h.tracing, "READTRAIL_CAPTURE=" + h.capture(),
			"READTRAIL_TOKEN=e2e-token", "READTRAIL_KEYS=" + h.keyDir, "READTRAIL_EVIDENCE=" + h.evidence(),
			"READTRAIL_CHECKPOINTS=" + filepath.Join(h.base, "checkpoints"),
			"READTRAIL_TSA_ROOTS=" + filepath.Join(root, "e2e", "testdata", "tsa-roots.pem"),
		}, h.extraEnv...),
	}
}

// capture is where examples/capture.yaml writes.
func (h *house) capture() string { return filepath.Join(h.base, "telemetry.jsonl") }

func (h *house) start() *rig.Collector {
	h.t.Helper()
	c, err := rig.Start(h.t.Context(), h.rigConfig())
	require.NoError(h.t, err)
	h.t.Cleanup(c.Kill)
	return c
}

// cli runs the readtrail command and returns exit code, stdout and stderr.
func (h *house) cli(args ...string) (int, string, string) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(cliBin, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(h.t, err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// requireVerified demands that the journal verifies with exit code 0.
func (h *house) requireVerified() string {
	h.t.Helper()
	code, stdout, stderr := h.cli("verify", h.journal, "--keys", h.registry)
	require.Zero(h.t, code, stdout+stderr)
	require.Contains(h.t, stdout, "chain: valid")
	require.Contains(h.t, stdout, "signature: valid")
	return stdout
}

// entry is a journal line as a stranger would read it.
type entry struct {
	Read    *readRecord    `json:"read_record"`
	Lineage map[string]any `json:"lineage_record"`
	Journal *journalRecord `json:"journal_record"`
}

type header struct {
	EventID     string            `json:"event_id"`
	EventType   string            `json:"event_type"`
	Sequence    int               `json:"sequence"`
	Correlation map[string]string `json:"correlation"`
	ObservedBy  map[string]any    `json:"observed_by"`
}

type readRecord struct {
	header
	ReadID        string `json:"read_id"`
	ToolCallID    string `json:"tool_call_id"`
	ConflictsWith string `json:"conflicts_with"`
	Source        struct {
		ToolID string `json:"tool_id"`
		Kind   string `json:"kind"`
	} `json:"source"`
	Retrieval *struct {
		Chunks []any `json:"chunks"`
	} `json:"retrieval"`
	Memory *struct {
		Entries []any `json:"entries"`
	} `json:"memory"`
	Capture map[string]string `json:"capture"`
}

type journalRecord struct {
	header
	Detail map[string]any `json:"detail"`
}

// lines returns the raw lines of all segments of all journals in order.
func (h *house) lines() [][]byte {
	h.t.Helper()
	segments, err := filepath.Glob(filepath.Join(h.journal, "*", "*", "*", "*.events"))
	require.NoError(h.t, err)
	slices.Sort(segments)
	var lines [][]byte
	for _, segment := range segments {
		data, err := os.ReadFile(segment)
		require.NoError(h.t, err)
		for line := range bytes.Lines(data) {
			lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return lines
}

func (h *house) entries() []entry {
	h.t.Helper()
	var entries []entry
	for _, line := range h.lines() {
		var e entry
		require.NoError(h.t, json.Unmarshal(line, &e))
		entries = append(entries, e)
	}
	return entries
}

func (h *house) reads() []*readRecord {
	var reads []*readRecord
	for _, e := range h.entries() {
		if e.Read != nil {
			reads = append(reads, e.Read)
		}
	}
	return reads
}

// toolSpan is one OTLP/JSON export request with one execute_tool span.
func toolSpan(traceID, spanID, callID, arguments string) []byte {
	return exportSpan(traceID, spanID, map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "crm.customer.get", "gen_ai.tool.call.id": callID,
		"gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": `{"country":"FR"}`,
	})
}

func exportSpan(traceID, spanID string, attributes map[string]string) []byte {
	var list []string
	for k, v := range attributes {
		key, _ := json.Marshal(k)
		value, _ := json.Marshal(v)
		list = append(list, fmt.Sprintf(`{"key":%s,"value":{"stringValue":%s}}`, key, value))
	}
	return fmt.Appendf(nil, `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"kyc"}}]},"scopeSpans":[{"scope":{"name":"kyc"},"spans":[`+
		`{"traceId":%q,"spanId":%q,"name":"execute_tool crm.customer.get","kind":1,"startTimeUnixNano":"1791533523000000000","endTimeUnixNano":"1791533523418000000","attributes":[%s]}]}]}]}`,
		traceID, spanID, strings.Join(list, ","))
}

// corpusFiles returns the captured telemetry and that of the dialects, traces and
// logs.
func corpusFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata", "[cd]*", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// replayAll sends files through the collector.
func replayAll(ctx context.Context, t *testing.T, c *rig.Collector, files []string) {
	t.Helper()
	for _, file := range files {
		require.NoError(t, c.Replay(ctx, file))
	}
}
