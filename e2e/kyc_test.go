// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheKYCRunGivesTheExampleRecord demands every member of the example
// record of testdata/kyc, by name, nesting and value (contract 9).
func TestTheKYCRunGivesTheExampleRecord(t *testing.T) {
	h := newHouse(t, "examples/kyc.yaml")
	c := h.start()
	require.NoError(t, c.Replay(t.Context(), filepath.Join(root, "testdata/kyc/kyc.traces.jsonl")))
	require.NoError(t, c.Stop())
	h.requireVerified()

	want := map[string]any{}
	data, err := os.ReadFile(filepath.Join(root, "testdata/kyc/read_syn_0193_02.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &want))

	var got map[string]any
	for _, line := range h.lines() {
		var e struct {
			Read map[string]any `json:"read_record"`
		}
		require.NoError(t, json.Unmarshal(line, &e))
		if e.Read["read_id"] == "read_syn_0193_02" {
			require.Nil(t, got, "the read is recorded once")
			got = e.Read
		}
	}
	require.NotNil(t, got)
	requireMembers(t, "", want, got)

	eventTypes := map[string]int{}
	for _, r := range h.reads() {
		eventTypes[r.EventType]++
	}
	// The CRM call was seen three times: by the framework, the MCP client and
	// the MCP server.
	assert.Equal(t, map[string]int{"read.tool": 4, "read.document": 1, "read.retrieval": 1, "read.memory": 1}, eventTypes)
}

// requireMembers demands each member of want in got, with the same nesting.
func requireMembers(t *testing.T, path string, want, got map[string]any) {
	for name, value := range want {
		here := path + "." + name
		if nested, ok := value.(map[string]any); ok {
			inner, _ := got[name].(map[string]any)
			require.NotNil(t, inner, here)
			requireMembers(t, here, nested, inner)
			continue
		}
		assert.Equal(t, value, got[name], here)
	}
}
