// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const auditEvents = "schema/audit-event"

// withoutEach takes the members of a document away one at a time, and returns which
// ones Ajv, which is not ours, misses then.
func withoutEach(t *testing.T, schema, document string) (whole bool, missed map[string][]string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed; the check by another validator was not performed")
	}
	if _, err := os.Stat(filepath.Join("verifier", "node_modules")); err != nil {
		t.Skip("the packages of e2e/verifier are not installed (make e2e installs them); the check by another validator was not performed")
	}
	out, err := exec.CommandContext(t.Context(), node, filepath.Join("verifier", "members.mjs"), schema, document).Output()
	require.NoError(t, err)
	var said struct {
		Whole   bool                `json:"whole"`
		Members map[string][]string `json:"members"`
	}
	require.NoError(t, json.Unmarshal(out, &said))
	return said.Whole, said.Members
}

func TestAnotherValidatorMissesEveryMemberThatTheDictionaryDemands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "testdata", "audit-event-optional.txt"))
	require.NoError(t, err)
	optional, element := strings.Fields(string(text)), regexp.MustCompile(`/[0-9]+`)
	schema := filepath.Join(root, auditEvents, "1.0.0", "schema.json")
	for _, name := range []string{"complete-execution", "denied-action", "tamper-failure"} {
		whole, missed := withoutEach(t, schema, filepath.Join(root, auditEvents, "1.0.0", "examples", name+".json"))
		require.True(t, whole, "%s fits the schema", name)
		for member, all := range missed {
			if slices.Contains(optional, element.ReplaceAllString(member, "/0")) {
				require.Empty(t, all, "%s: %s", name, member)
				continue
			}
			require.Contains(t, all, member, name)
		}
		require.Greater(t, len(missed), 80)
	}
	whole, _ := withoutEach(t, filepath.Join(root, auditEvents, "1.1.0", "schema.json"), filepath.Join(root, auditEvents, "1.1.0", "examples", "complete-execution.json"))
	require.True(t, whole)
}

func TestAnotherValidatorRefusesWhatBreaksARule(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(root, auditEvents, "1.0.0", "examples", "invalid", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, examples)
	for _, name := range examples {
		if strings.HasPrefix(filepath.Base(name), "rule.") {
			continue // which no schema says
		}
		whole, _ := withoutEach(t, filepath.Join(root, auditEvents, "1.0.0", "schema.json"), name)
		require.False(t, whole, name)
	}
}

func TestThePublishedExamplesAreJudgedByTheCommandLine(t *testing.T) {
	examples := filepath.Join(root, auditEvents, "1.0.0", "examples")
	h := &house{t: t}
	for name, code := range map[string]int{"complete-execution": 0, "denied-action": 0, "tamper-failure": 1, "invalid/blocked_but_executed": 1} {
		got, stdout, stderr := h.cli("verify", "--keys", filepath.Join(examples, "keys.json"), "--envelope", filepath.Join(examples, name+".json"))
		require.Equal(t, code, got, "%s: %s%s", name, stdout, stderr)
		switch name {
		case "tamper-failure":
			require.Contains(t, stdout, "code: record_hash_mismatch")
			require.Contains(t, stdout, "hash: failed")
		case "invalid/blocked_but_executed":
			require.Contains(t, stdout, "code: schema_invalid")
		default:
			require.Contains(t, stdout, "signature: valid")
		}
	}
	got, stdout, _ := h.cli("verify", "--envelope", filepath.Join(examples, "complete-execution.json"))
	require.Equal(t, 2, got, "a key that an envelope carries proves nothing: %s", stdout)
}
