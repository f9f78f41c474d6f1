// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An id is no better place for a secret than a name: the list is one for all texts of
// all bodies.
func TestNoTextOfABodyMayLookLikeASecret(t *testing.T) {
	action, part := plannedText(), strings.ReplaceAll(part, "\n", "")
	for text, place := range map[string]string{
		strings.Replace(action, "publish_release", "ghp_CANARY0", 1):              "/action_record/requested/tool_id",
		strings.Replace(action, "run_1", "AKIAIOSFODNN7EXAMPLE", 1):               "/action_record/correlation/execution_id",
		strings.Replace(action, "ops-deploy", "password:CANARY-44", 1):            "/action_record/action/credential_ref",
		strings.Replace(action, "executor-eu", "api_key=sk-CANARY-47", 1):         "/action_record/actor/identity",
		strings.Replace(approvalText, "req_1", "Basic Q0FOQVJZOnB3", 1):           "/approval_record/request_id",
		strings.Replace(decisionText, "refer", "glpat-0123456789abcdefABCD", 1):   "/decision_record/outcome/name",
		strings.Replace(contextText, `"object_id":"o"`, `"object_id":"PWD=1"`, 1): "/context_record/entries/0/object_id",
		strings.Replace(part, `"policy_id":"p"`, `"policy_id":"hvs.CAESI"`, 1):    "/audit_event_part/policy/policy_id",
		strings.Replace(auditTexts(t)[0], "run_syn_0193", "xoxc-CANARY", 1):       "/audit_event/correlation/execution_id",
	} {
		_, p := decodeJSON(text)
		require.NotNil(t, p, text)
		assert.Equal(t, []any{CodeInvalid, place, 400}, []any{p.Code, p.Pointer, p.Status})
		assert.Contains(t, p.Detail, "not")
	}
}
