// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

func bank() *ScopeConfig {
	return &ScopeConfig{
		OrganizationRef: "bank", Environment: "production", RetentionClass: "kyc_10y", Region: "eu-central",
		Routes: []RouteConfig{
			{Attribute: "service.namespace", Value: "treasury", RetentionClass: "treasury_7y"},
			{Attribute: "service.name", Value: "agent", OrganizationRef: "other", Region: "eu-west"},
		},
	}
}

func TestRouteInheritsWhatItDoesNotSet(t *testing.T) {
	r := newRouter(bank(), false)
	assert.Equal(t, map[journalName]record.Scope{
		{"bank", "kyc_10y", reads}:     {OrganizationRef: "bank", Environment: "production", RetentionClass: "kyc_10y", Region: "eu-central"},
		{"bank", "treasury_7y", reads}: {OrganizationRef: "bank", Environment: "production", RetentionClass: "treasury_7y", Region: "eu-central"},
		{"other", "kyc_10y", reads}:    {OrganizationRef: "other", Environment: "production", RetentionClass: "kyc_10y", Region: "eu-west"},
	}, r.scopes())
}

func TestTelemetryChoosesAmongScopesAndNeverCreatesOne(t *testing.T) {
	r := newRouter(bank(), false)
	for name, test := range map[string]struct {
		resource carrier.Resource
		want     journalName
	}{
		"the route that matches":               {carrier.Resource{"service.name": "agent"}, journalName{"other", "kyc_10y", reads}},
		"the first of two that match":          {carrier.Resource{"service.name": "agent", "service.namespace": "treasury"}, journalName{"bank", "treasury_7y", reads}},
		"the base for a value of no route":     {carrier.Resource{"service.namespace": "../../evil"}, journalName{"bank", "kyc_10y", reads}},
		"the base for a scope that it claims":  {carrier.Resource{"organization_ref": "evil"}, journalName{"bank", "kyc_10y", reads}},
		"the base for a resource without keys": {nil, journalName{"bank", "kyc_10y", reads}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, nameOf(r.scopeFor(test.resource), reads)) })
	}
}
