// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheExamplesInTheDocsAreWhatTheCommandsPrint runs every ```console block
// of docs/cli.md, in order, beside the example journal. "…" in an output stands
// for what differs from run to run.
func TestTheExamplesInTheDocsAreWhatTheCommandsPrint(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../docs/cli.md"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, writeFixture(".", "crm.customer.get"))
	require.NoError(t, os.CopyFS("copy", os.DirFS("journal")))
	replaceInFile(t, filepath.FromSlash("copy/demo-bank/kyc/reads/00000000000000000001.events"), `"v41"`, `"v42"`)
	require.NoError(t, os.WriteFile("result.json", []byte("{ \"id\": \"cust_syn_55120\",\n  \"version\": 41 }\n"), 0o644))
	require.NoError(t, os.WriteFile("digest.key", []byte("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"), 0o600))

	examples := consoleExamples(string(text))
	require.NotEmpty(t, examples)
	code := 0
	for _, e := range examples {
		if e.command == "echo $?" {
			require.Equal(t, strconv.Itoa(code)+"\n", e.output)
			continue
		}
		args, isOurs := strings.CutPrefix(e.command, "readtrail ")
		require.True(t, isOurs, "docs/cli.md shows another program: %s", e.command)
		var got string
		got, code = runForTest(t, strings.Fields(args))
		pattern := strings.ReplaceAll(regexp.QuoteMeta(e.output), "…", ".*")
		require.Regexp(t, "^"+pattern+"$", got, e.command)
	}
}

type consoleExample struct{ command, output string }

func consoleExamples(markdown string) []consoleExample {
	var out []consoleExample
	inside := false
	for line := range strings.Lines(markdown) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```console"
		case inside && isCommand:
			out = append(out, consoleExample{command: strings.TrimSpace(command)})
		case inside:
			out[len(out)-1].output += line
		}
	}
	return out
}

// runForTest runs a command line and returns what it prints, in the order of
// the prints, and its exit code.
func runForTest(t *testing.T, args []string) (string, int) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	require.NoError(t, err)
	code := run(t.Context(), args, strings.NewReader(""), file, file)
	require.NoError(t, file.Close())
	printed, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return string(printed), code
}

func replaceInFile(t *testing.T, path, before, after string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), before)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), before, after, 1)), 0o644))
}
