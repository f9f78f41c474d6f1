// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// knownSurvivors are the attributes with content that mode known leaves: who
// asked, names that an application gave, and what nothing tells.
var knownSurvivors = []string{
	"user.id", "enduser.id", "gen_ai.user.id", "gen_ai.memory.user_id", "llm.user", // who asked
	"user.email", "user.name", "microsoft.agent.user.email",
	"langfuse.trace.name", // a name that an application gave
	"note",                // an attribute of the application's own
	"microsoft.security.policy.name",
	"fastmcp.component.key",        // a resource's URI, where a tool's name belongs
	"str_or_query_bundle", "nodes", // LlamaIndex's old mode, whose keys are any
}

var survivor = regexp.MustCompile(`"key":"([^"]*)","value":\{"[a-zA-Z]+":"(?:[^"\\]|\\.)*CANARY`)

// TestKnownModeLeavesOnlyWhatTheDocumentsNameAsUnknown holds docs/dialects.md
// for every file of testdata/dialects.
func TestKnownModeLeavesOnlyWhatTheDocumentsNameAsUnknown(t *testing.T) {
	files, err := filepath.Glob("../../testdata/dialects/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	stripper, err := New(Options{Mode: Known})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, path := range files {
		lines, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range bytes.Lines(lines) {
			for _, m := range survivor.FindAllSubmatch(stripLine(t, stripper, path, line)[0], -1) {
				seen[string(m[1])] = true
				assert.Contains(t, knownSurvivors, string(m[1]), path)
			}
		}
	}
	for _, key := range knownSurvivors {
		assert.True(t, seen[key], "%s does not survive", key)
	}
}
