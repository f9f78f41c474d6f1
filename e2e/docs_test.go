// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is an indented line of a document that runs the CLI.
var command = regexp.MustCompile(`(?m)^    ((?:bin/)?readtrail .*)$`)

// TestTheCommandsOfTheDocumentsRun runs every CLI command that README and docs/
// show, in the order shown, in a directory where the collector has run as the
// README says.
func TestTheCommandsOfTheDocumentsRun(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(root, "bin"), filepath.Join(dir, "bin")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "result.json"), []byte(`{"country": "FR"}`), 0o600))
	// The README's telemetry, and the configuration that it is linted with.
	require.NoError(t, os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root, "examples"))))
	telemetry, err := os.ReadFile(filepath.Join(root, "testdata/kyc/kyc.traces.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "telemetry.jsonl"), telemetry, 0o600))
	run := func(line string) {
		t.Helper()
		args := strings.Fields(line)
		cmd := exec.Command(cliBin, args[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if args[1] == "lint" && cmd.ProcessState.ExitCode() == 1 {
			return // there is something to look at, as there always is
		}
		require.NoError(t, err, "%s\n%s", line, out)
	}
	run("readtrail keys new --out keys")

	// An auditor has checkpoints from two places that the writer told of them, demands
	// that they cover the journal, was given one entry by itself, and no artifacts yet.
	config, err := os.ReadFile(filepath.Join(root, "examples/kyc.yaml"))
	require.NoError(t, err)
	for _, place := range []string{"from-the-witness", "from-the-archive", "from-the-bank"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, place), 0o700))
	}
	elsewhere := "    checkpoints: {sinks: {directory: {witness: {path: " + filepath.Join(dir, "from-the-witness") + "}, archive: {path: " + filepath.Join(dir, "from-the-archive") + "}}}}\n"
	withCheckpoints := strings.Replace(string(config), "  audit_journal:\n", "  audit_journal:\n"+elsewhere, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kyc.yaml"), []byte(withCheckpoints), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy.json"), []byte(`{"demand": ["tail", "first_link", "schema"]}`), 0o600))

	h := &house{t: t, base: dir, config: filepath.Join(dir, "kyc.yaml"), journal: filepath.Join(dir, "journal"), key: filepath.Join(dir, "keys", "signing-key.pem"), tracing: filepath.Join(dir, "tracing.jsonl")}
	c := h.start()
	require.NoError(t, c.Replay(t.Context(), filepath.Join(root, "testdata/kyc/kyc.traces.jsonl")))
	require.NoError(t, c.Stop())
	registry, err := os.ReadFile(filepath.Join(dir, "keys", "keys.json"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "keys.json"), registry, 0o600))

	segments, err := filepath.Glob(filepath.Join(dir, "journal", "*", "*", "reads", "*.events"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	entries, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(entries), "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "entry.json"), []byte(first), 0o600))

	// The README's collector writes to data/journal, an auditor has a copy.
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "journal", "bank_eu"), filepath.Join(dir, "data", "journal")))

	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	commands := 0
	for _, document := range append(documents, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "keys new") {
				continue // run above; it never overwrites a key
			}
			run(m[1])
			commands++
		}
	}
	require.Greater(t, commands, 6)
}
