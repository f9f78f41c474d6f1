// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/upstream"
)

func TestAReceiptIsGivenAgainWithItsProofOnceThereIsOne(t *testing.T) {
	r := newRig(t, nil)
	require.Equal(t, http.StatusOK, r.decide("a b").status)

	got := r.send("GET", "/v1/receipts/evt_1", "")
	require.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, `{"event_id":"evt_1","journal_id":"jrn_1","sequence":1,"record_hash":"","key_id":""}`+"\n", got.body)

	proven := unmarshal[map[string]any](t, r.send("GET", "/v1/receipts/evt_1?proof=1", "").body)
	assert.Equal(t, "included", proven["proof_state"])
	assert.Equal(t, "note\n", proven["checkpoint"])
	assert.Equal(t, "c2sp.org/tlog-proof@v1\nindex 0\n\nnote\n", proven["proof"])

	pending := unmarshal[map[string]any](t, r.send("GET", "/v1/receipts/evt_2?proof=1", "").body)
	assert.Equal(t, "pending", pending["proof_state"])
	assert.NotContains(t, pending, "proof")
	assert.NotContains(t, pending, "checkpoint")
}

func TestAReceiptThatCannotBeGivenIsAProblem(t *testing.T) {
	r := newRig(t, nil)
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"evt_CANARY":                  {404, "not_found"},
		"":                            {404, "not_found"},
		"%00/CANARY?proof=1":          {404, "not_found"},
		"evt_pruned":                  {410, "pruned"},
		"evt_unreadable":              {503, "journal_unavailable"},
		"evt_1?CANARY":                {400, "malformed"},
		"evt_1?proof=1&proof=1":       {400, "malformed"},
		"../records":                  {404, "not_found"},
		"evt_1/../evt_CANARY?proof=1": {404, "not_found"},
	} {
		t.Run(path, func(t *testing.T) {
			got := r.send("GET", "/v1/receipts/"+path, "")
			requireProblem(t, got, want.status, want.code, "")
			assert.NotContains(t, got.body, "CANARY")
			assert.NotContains(t, got.body, "/var/lib")
		})
	}
}

func TestAClientGetsReceiptsOfItsOrganizationsOnly(t *testing.T) {
	r := newRig(t, func(r *rig, c *Config) {
		withAuthenticator(r, c, false)
		c.Clients = []ClientConfig{
			{Binding: upstream.Binding{Subject: "a", OrganizationRef: "bank"}},
			{Binding: upstream.Binding{Subject: "b", OrganizationRef: "insurer"}},
			{Binding: upstream.Binding{Subject: "both", OrganizationRef: "insurer"}},
			{Binding: upstream.Binding{Subject: "both", OrganizationRef: "bank"}},
		}
	})
	require.Equal(t, http.StatusOK, r.decide("x", "Authorization", "a").status)
	require.Equal(t, http.StatusOK, r.decide("x", "Authorization", "a", retentionClassHeader, "long").status)
	get := func(event, subject string, headers ...string) answer {
		return r.send("GET", "/v1/receipts/"+event, "", append([]string{"Authorization", subject}, headers...)...)
	}
	require.Equal(t, http.StatusOK, get("evt_1", "a").status)
	require.Equal(t, http.StatusOK, get("evt_1", "both").status, "in any of its organizations")
	requireProblem(t, get("evt_2", "a"), http.StatusNotFound, "not_found", "")
	require.Equal(t, http.StatusOK, get("evt_2", "a", retentionClassHeader, "long").status)

	theirs, none := get("evt_1", "b"), get("evt_7", "b")
	requireProblem(t, theirs, http.StatusNotFound, "not_found", "")
	assert.Equal(t, none.body, theirs.body, "nobody learns what another organization has")
	requireProblem(t, get("evt_1", "b", organizationHeader, "bank"), http.StatusForbidden, "scope_forbidden", "")
	requireProblem(t, get("evt_1", "nobody"), http.StatusForbidden, "scope_forbidden", "")
}
