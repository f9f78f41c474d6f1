// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/upstream"
)

func TestAnExecutorDoesNotDecideItsOwnApprovals(t *testing.T) {
	r := newRig(t, func(r *rig, c *Config) {
		withAuthenticator(r, c, false)
		c.Clients = []ClientConfig{
			{Binding: upstream.Binding{Subject: "executor", OrganizationRef: "bank"}, EventTypes: []string{"action.planned", "action.sent", "approval.requested"}},
			{Binding: upstream.Binding{Subject: "approvals", OrganizationRef: "bank"}, EventTypes: []string{"approval.decided"}},
			{Binding: upstream.Binding{Subject: "approvals", OrganizationRef: "insurer"}},
			{Binding: upstream.Binding{Subject: "runtime", OrganizationRef: "bank"}},
		}
	})
	approval := `{"schema_version":"1.0.0","approval_record":{"approval_id":"apr_1","request_id":"req_1","kind":"decided","occurred_at":"2026-11-30T09:12:04Z",` +
		`"correlation":{"execution_id":"run_1"},"binds":{"action_id":"act_1","credential_ref":"ops-deploy","actor_identity":"executor-eu",` +
		`"target":{"channel":"http","protocol":"https","host":"deploy.example.com","port":443,"method":"POST"}},"reviewer":{"identity":"j.doe","role":"four_eyes"},"decision":"approved"}}`
	planned := plannedAction("act_1", nil)
	for _, test := range []struct {
		subject, organization, body string
		status                      int
	}{
		{"executor", "bank", planned, http.StatusOK},
		{"executor", "bank", approval, http.StatusForbidden},
		{"executor", "bank", "[" + planned + "," + approval + "]", http.StatusForbidden},
		{"approvals", "bank", approval, http.StatusOK},
		{"approvals", "bank", planned, http.StatusForbidden},
		{"approvals", "insurer", planned, http.StatusOK},
		{"runtime", "bank", approval, http.StatusOK},
	} {
		a := r.records(test.body, "Authorization", test.subject, organizationHeader, test.organization)
		require.Equal(t, test.status, a.status, "%s: %s", test.subject, a.body)
		if test.status != http.StatusForbidden {
			continue
		}
		pointer := map[bool]string{true: "#/1/approval_record", false: "#/approval_record"}[strings.HasPrefix(test.body, "[")]
		if test.subject == "approvals" {
			pointer = "#/action_record"
		}
		requireProblem(t, a, http.StatusForbidden, "event_type_forbidden", pointer)
	}
	written := len(r.journal.drafts)
	a := r.send(http.MethodPost, "/v1/audit", "{}", "Content-Type", mediaJSON, "Authorization", "executor")
	require.Equal(t, http.StatusForbidden, a.status, a.body)
	require.Contains(t, a.body, "event_type_forbidden")
	require.Len(t, r.journal.drafts, written)
}

func TestEventTypesThatThereAreNotAreRefused(t *testing.T) {
	for want, types := range map[string][]string{
		`event_types::1 is "approval.decide": write one of action.planned, `: {"action.sent", "approval.decide"},
		"event_types is empty": {},
	} {
		c := ClientConfig{Binding: upstream.Binding{Subject: "a", OrganizationRef: "bank"}, EventTypes: types}
		require.ErrorContains(t, c.Validate(), want)
	}
	require.NoError(t, (&ClientConfig{Binding: upstream.Binding{Subject: "a", OrganizationRef: "bank"}, EventTypes: eventTypes}).Validate())
}
