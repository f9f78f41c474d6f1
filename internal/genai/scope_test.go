// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// scopesOfTheTable are the instrumentation scopes by which rows are found.
func scopesOfTheTable() []string {
	var scopes []string
	for _, r := range rows() {
		scopes = append(scopes, r.when.on.scopes...)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// TestALibraryThatTurnsToTheConventionsIsStillHeard: libraries move to the
// conventions from one version to the next and keep the names of their scopes.
func TestALibraryThatTurnsToTheConventionsIsStillHeard(t *testing.T) {
	l := newTestLifter(t)
	scopes := scopesOfTheTable()
	assert.NotEmpty(t, scopes)
	for _, scope := range scopes {
		scope := strings.ReplaceAll(scope, "*", "x")
		for op, want := range map[string]Class{
			"execute_tool": ClassTool, "retrieval": ClassRetrieval, "search_memory": ClassMemory,
			"chat": ClassInference, "embeddings": ClassEmbedding, "invoke_agent": ClassAgent,
		} {
			o := l.Span(testSpan{scope: scope, name: op, attrs: map[string]any{
				"gen_ai.operation.name": op, "gen_ai.tool.name": "f", "gen_ai.request.model": "m",
				"gen_ai.tool.call.arguments": `{"a":1}`, "gen_ai.retrieval.query.text": "q", "gen_ai.memory.query.text": "q",
			}}.input(t))
			assert.Equal(t, want, o.Class, "%s of scope %s", op, scope)
			if o.Read != nil {
				assert.Equal(t, "captured", string(o.Read.Capture.Request), "%s of scope %s", op, scope)
			}
		}
	}
}

// TestALibrarysMCPIsMCP: servers and clients of MCP are traced under the scope
// of the library that they are built into.
func TestALibrarysMCPIsMCP(t *testing.T) {
	l := newTestLifter(t)
	for _, scope := range scopesOfTheTable() {
		for method, want := range map[string]Class{"tools/call": ClassTool, "resources/read": ClassDocument, "tools/list": ClassMCP} {
			o := l.Span(testSpan{scope: strings.ReplaceAll(scope, "*", "x"), name: method + " f", attrs: map[string]any{
				"mcp.method.name": method, "mcp.resource.uri": "kyc://case/1",
			}}.input(t))
			assert.Equal(t, want, o.Class, "%s of scope %s", method, scope)
		}
	}
}
