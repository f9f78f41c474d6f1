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
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
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

// sent is a published example as its producer sends it, with changes to the event.
func sent(t *testing.T, name string, change func(event map[string]any)) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, auditEvents, "1.0.0", "examples", name+".json"))
	require.NoError(t, err)
	var envelope map[string]any
	require.NoError(t, json.Unmarshal(text, &envelope))
	event := envelope["audit_event"].(map[string]any)
	for _, own := range []string{"recorded_at", "scope", "sequence"} {
		delete(event, own)
	}
	delete(envelope, "integrity")
	change(event)
	text, err = json.Marshal(envelope)
	require.NoError(t, err)
	return string(text)
}

// partOf is a part of the audit event of an action, with members of the published one.
func partOf(t *testing.T, action string, names ...string) string {
	t.Helper()
	var envelope map[string]map[string]any
	text := sent(t, "complete-execution", func(map[string]any) {})
	require.NoError(t, json.Unmarshal([]byte(strings.Replace(text, `"schema_version":"1.0.0"`, `"schema_version":{}`, 1)), &envelope))
	part := map[string]any{"action_id": action, "correlation": envelope["audit_event"]["correlation"]}
	for _, name := range names {
		part[name] = envelope["audit_event"][name]
	}
	out, err := json.Marshal(map[string]any{"schema_version": "1.0.0", "audit_event_part": part})
	require.NoError(t, err)
	return string(out)
}

// An audit event is given whole, in parts over a crash, and in parts of which one never
// comes: the journal tells each as it was, and both verifiers agree.
func TestAuditEventsGoThroughTheCollector(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(root, "examples", "synchronous.yaml"))
	require.NoError(t, err)
	h := newHouse(t, "examples/synchronous.yaml")
	h.config = filepath.Join(h.base, "assembly.yaml")
	require.NoError(t, os.WriteFile(h.config, []byte(strings.Replace(string(example), "  audit_event:\n", "  audit_event:\n    assembly: {enabled: true, deadline: 2s}\n", 1)), 0o600))
	c := h.start()
	denied := sent(t, "denied-action", func(event map[string]any) { event["policy"].(map[string]any)["decision"] = "deny" })
	for range 2 {
		status, answer, _ := ask(t, c, "POST", "/v1/records", denied)
		require.Equal(t, 200, status, answer)
	}
	status, answer, _ := ask(t, c, "POST", "/v1/records", sent(t, "complete-execution", func(event map[string]any) { delete(event, "tool_calls") }))
	require.Equal(t, 400, status, answer)
	require.Contains(t, answer, "#/audit_event/tool_calls")

	rest := []string{"actors", "components", "requested_action", "policy", "approval", "tool_calls", "lineage", "evidence", "privacy", "occurred_at"}
	// What the event is composed of, the collector says itself.
	whole := regexp.MustCompile(`"event_ids":\[[^]]*\],`).ReplaceAllString(partOf(t, "act_whole", rest...), "")
	status, answer, _ = ask(t, c, "POST", "/v1/records", whole)
	require.Equal(t, 200, status, answer)
	c.Kill()
	c = h.start()
	status, answer, _ = ask(t, c, "POST", "/v1/records", "["+partOf(t, "act_whole", "execution")+","+partOf(t, "act_half", append(rest[:3:3], "execution")...)+"]")
	require.Equal(t, 200, status, answer)
	composed := record.ComposedEventID("run_syn_0193", "act_whole")
	require.Eventually(t, func() bool {
		status, _, _ := ask(t, c, "GET", "/v1/receipts/"+composed, "")
		return status == 200
	}, time.Minute, 50*time.Millisecond)
	actions := filepath.Join(h.journal, "acme", "standard", "actions")
	require.Eventually(t, func() bool {
		lines, err := filepath.Glob(filepath.Join(actions, "*.events"))
		require.NoError(t, err)
		for _, name := range lines {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			if strings.Contains(string(text), `"event_type":"audit_event.incomplete"`) {
				return true
			}
		}
		return false
	}, time.Minute, 50*time.Millisecond)
	require.NoError(t, c.Stop())

	code, shown, stderr := h.cli("show", "--json", actions)
	require.Zero(t, code, stderr)
	require.Equal(t, 1, strings.Count(shown, `"event_id":"evt_01JZ8V7C0T4E9H2J5K6M8N1P3Q"`), "the second was a repeat")
	require.Contains(t, shown, `"normalized":[{"from":"deny","pointer":"/policy/decision","to":"block"}]`)
	require.Equal(t, 1, strings.Count(shown, `"event_id":"`+composed+`"`))
	require.Contains(t, shown, `"missing":["/evidence","/lineage/lineage_ref","/occurred_at","/policy","/privacy","/tool_calls"]`)
	require.Equal(t, 2, strings.Count(shown, `"event_type":"audit_event.received"`))
	ours := judgedByUs(t, "--keys", h.registry, actions)
	require.Equal(t, 0, ours.ExitCode)
	require.Equal(t, ours, judgedByNode(t, "--keys", h.registry, actions))

	// Of what the composed event names, nobody recorded action and call; of the other one, nobody
	// recorded anything.
	code, shown, stderr = h.cli("verify", "--json", "--keys", h.registry, h.journal)
	require.Zero(t, code, stderr)
	var said struct {
		Journals []struct {
			Reconciled *journal.Reconciled `json:"reconciled"`
			Findings   []journal.Finding   `json:"findings"`
		} `json:"journals"`
	}
	require.NoError(t, json.Unmarshal([]byte(shown), &said))
	var missed []string
	for _, j := range said.Journals {
		require.Equal(t, j.Reconciled != nil, slices.ContainsFunc(j.Findings, func(f journal.Finding) bool { return f.Code == journal.CodeReconcileNotPerformed }))
		for _, f := range j.Findings {
			if f.Code == journal.CodeLineageUnresolved {
				missed = append(missed, f.Detail[strings.LastIndex(f.Detail, " ")+1:])
			}
		}
		if j.Reconciled != nil {
			require.Equal(t, uint64(2), j.Reconciled.AuditEvents)
			require.NotZero(t, j.Reconciled.Found, "the parts")
			require.Equal(t, j.Reconciled.IDs, j.Reconciled.Found+uint64(len(missed)))
		}
	}
	require.Equal(t, []string{"/lineage/event_ids/0", "/lineage/event_ids/1", "/action_ids/0", "/tool_calls/0/call_id"}, missed)
}
