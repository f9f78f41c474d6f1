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

	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/journal"
)

// TestTheExamplesInTheDocsAreWhatTheCommandsPrint runs every ```console block
// of a document, in order, beside an example journal, or the telemetry of
// testdata/lint.txtar and the file that docs/lint.md shows. "…" in an output stands for
// what differs from run to run, as a line for lines that are left out.
func TestTheExamplesInTheDocsAreWhatTheCommandsPrint(t *testing.T) {
	docs, err := filepath.Abs("../../docs")
	require.NoError(t, err)
	_, telemetry, found := strings.Cut(readText(t, "testdata/lint.txtar"), "-- telemetry.jsonl --\n")
	require.True(t, found)
	telemetry, _, _ = strings.Cut(telemetry, "-- ")
	shown := namedBlock.FindStringSubmatch(readText(t, filepath.Join(docs, "lint.md")))
	require.NotNil(t, shown, "docs/lint.md shows a configuration")
	captured := func(t *testing.T) {
		require.NoError(t, os.WriteFile("telemetry.jsonl", []byte(telemetry), 0o644))
		require.NoError(t, os.WriteFile(shown[1], []byte(shown[2]), 0o644))
	}
	for document, prepare := range map[string]func(*testing.T){
		"cli.md": func(t *testing.T) {
			captured(t)
			require.NoError(t, writeFixture(".", "crm.customer.get"))
			require.NoError(t, os.CopyFS("copy", os.DirFS("journal")))
			require.NoError(t, os.WriteFile("revoked.json", []byte(readText(t, "keys.json")), 0o644))
			replaceInFile(t, filepath.FromSlash("copy/demo-bank/kyc/reads/00000000000000000001.events"), `"v41"`, `"v42"`)
			require.NoError(t, os.WriteFile("result.json", []byte("{ \"id\": \"cust_syn_55120\",\n  \"version\": 41 }\n"), 0o644))
			require.NoError(t, writeFixtureCheckpoints("."))
			require.NoError(t, writeReceipt("entry.json", "receipt.json", ""))
			signer, err := journal.NewFileSigner("signing-key.pem")
			require.NoError(t, err)
			require.NoError(t, writeActions(filepath.FromSlash("bank/demo-bank/kyc"), signer))
			require.NoError(t, os.WriteFile("digest.key", []byte("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"), 0o600))
		},
		"bundle.md": func(t *testing.T) {
			require.NoError(t, writeFixture(".", "crm.customer.get"))
			require.NoError(t, writeFixtureCheckpoints("."))
		},
		"context.md": func(t *testing.T) {
			require.NoError(t, writeContextFixture("."))
			require.NoError(t, os.WriteFile("values.json", []byte(`{"e1": "value of e1", "e2": "value of e2"}`), 0o644))
			require.NoError(t, os.WriteFile("changed.json", []byte(`{"e1": "value of e1", "e2": "another"}`), 0o644))
		},
		"evidence.md": func(t *testing.T) { require.NoError(t, writeEvidenceFixture(".")) },
		"lint.md":     captured,
		"archive.md": func(t *testing.T) {
			server := s3test.Start(t)
			s3test.Credentials(t)
			t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
			require.NoError(t, writeFixture(".", "crm.customer.get"))
		},
		"retention.md": func(t *testing.T) { require.NoError(t, writeFixture(".", "crm.customer.get")) },
	} {
		t.Run(document, func(t *testing.T) {
			text := readText(t, filepath.Join(docs, document))
			t.Chdir(t.TempDir())
			prepare(t)
			runExamples(t, document, consoleExamples(text))
		})
	}
}

func runExamples(t *testing.T, document string, examples []consoleExample) {
	t.Helper()
	require.NotEmpty(t, examples)
	code := 0
	for _, e := range examples {
		if e.command == "echo $?" {
			require.Equal(t, strconv.Itoa(code)+"\n", e.output)
			continue
		}
		args, isOurs := strings.CutPrefix(e.command, "readtrail ")
		require.True(t, isOurs, "%s shows another program: %s", document, e.command)
		var got string
		got, code = runForTest(t, strings.Fields(args))
		pattern := strings.ReplaceAll(regexp.QuoteMeta(e.output), "\n…\n", "\n(?s:.*)\n")
		pattern = strings.ReplaceAll(pattern, "…", ".*")
		require.Regexp(t, "^"+pattern+"$", got, e.command)
	}
}

// namedBlock is a block of YAML whose first line is the name of its file.
var namedBlock = regexp.MustCompile("(?ms)^```yaml\n# ([a-z.]+\\.yaml)\n(.*?)^```$")

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	require.NoError(t, err)
	return string(text)
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
