// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// knownSurvivors are the attributes with content that mode known leaves: who
// asked, names that an application gave, and what nothing tells.
var knownSurvivors = []string{
	"user.id", "user.email", "enduser.id", "gen_ai.user.id", "gen_ai.memory.user_id", "llm.user", // who asked
	"langfuse.trace.name",          // a name that an application gave
	"fastmcp.component.key",        // a resource's URI, where a tool's name belongs
	"str_or_query_bundle", "nodes", // LlamaIndex's old mode, whose keys are any
}

var survivor = regexp.MustCompile(`"key":"([^"]*)","value":\{"[a-zA-Z]+":"(?:[^"\\]|\\.)*CANARY`)

// TestKnownModeLeavesOnlyWhatTheDocumentsNameAsUnknown holds docs/dialects.md
// for the dialects of EXPECT-a.tsv and EXPECT-d.tsv, but for the file of spans
// that no dialect knows.
func TestKnownModeLeavesOnlyWhatTheDocumentsNameAsUnknown(t *testing.T) {
	var files []string
	for _, name := range []string{"EXPECT-a.tsv", "EXPECT-d.tsv"} {
		key, err := os.Open("../../testdata/dialects/" + name)
		require.NoError(t, err)
		defer key.Close()
		r := csv.NewReader(key)
		r.Comma, r.LazyQuotes = '\t', true
		rows, err := r.ReadAll()
		require.NoError(t, err)
		for _, row := range rows[1:] {
			if row[0] != "judge-generic.traces.jsonl" {
				files = append(files, strings.TrimSuffix(row[0], ".traces.jsonl"))
			}
		}
	}
	slices.Sort(files)
	stripper, err := New(Options{Mode: Known})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, name := range slices.Compact(files) {
		paths, err := filepath.Glob("../../testdata/dialects/" + name + ".*.jsonl")
		require.NoError(t, err)
		for _, path := range paths {
			lines, err := os.ReadFile(path)
			require.NoError(t, err)
			for line := range bytes.Lines(lines) {
				for _, m := range survivor.FindAllSubmatch(stripLine(t, stripper, path, line)[0], -1) {
					seen[string(m[1])] = true
					assert.Contains(t, knownSurvivors, string(m[1]), path)
				}
			}
		}
	}
	for _, key := range knownSurvivors {
		assert.True(t, seen[key], "%s does not survive", key)
	}
}
