// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	toolSource     = `{"source":"tool","tool_call_id":"call_1","path":"$"}`
	documentSource = `{"source":"document","document_id":"doc_1","checksum_sha256":"8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f"}`
)

// citing is a decision whose field has a source.
func citing(source string) string {
	text := strings.Replace(decisionText, `{"source":"model","marked_for_reviewer":true}`, source, 1)
	return strings.Replace(text, `{"execution_id":"run_1"}`, `{"execution_id":"run_1","step_id":"s1"}`, 1)
}

func TestAnIDThatTelemetryDoesNotKeepIsRefused(t *testing.T) {
	decision, digest := citing(toolSource), "sha256:"+strings.Repeat("8f", 32)
	for _, id := range []string{"my run 7", "Müller_1", "what?", "/mnt/kyc/1.pdf", "jane@bank.example", "a|b"} {
		for old, c := range map[string]struct{ text, pointer string }{
			`"run_1"`:  {decision, "/decision_record/correlation/execution_id"},
			`"s1"`:     {decision, "/decision_record/correlation/step_id"},
			`"call_1"`: {decision, "/decision_record/field_provenance/?/tool_call_id"},
			`"doc_1"`:  {citing(documentSource), "/decision_record/field_provenance/?/document_id"},
			`["e1"]`:   {contextText, "/context_record/claims/0/entry_ids/0"},
		} {
			quoted := `"` + id + `"`
			if old[0] == '[' && (id[0] == '/' || id == "a|b") {
				continue // which telemetry keeps of an entry
			}
			if old[0] == '[' {
				quoted = "[" + quoted + "]"
			}
			_, p := decodeJSON(strings.Replace(c.text, old, quoted, 1))
			require.NotNil(t, p, "%s as %s", id, c.pointer)
			assert.Equal(t, []any{CodeID, c.pointer, 400}, []any{p.Code, p.Pointer, p.Status}, id)
		}
	}
	for _, text := range []string{
		decision, citing(documentSource), strings.Replace(decision, `"run_1"`, `"trace:4bf92f3577b34da6a3ce929d0e0e4736"`, 1),
		strings.Replace(citing(documentSource), "doc_1", digest, 1),
		strings.Replace(contextText, `["e1"]`, `["`+digest+`"]`, 1), strings.Replace(contextText, `["e1"]`, `["hmac-sha256:k1:`+digest[7:]+`"]`, 1),
	} {
		_, p := decodeJSON(text)
		assert.Nil(t, p, "%v", p)
	}
	_, p := decodeJSON(strings.Replace(decision, "call_1", digest, 1))
	require.NotNil(t, p, "telemetry gives no digest of a call")
}
