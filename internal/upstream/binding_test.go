// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/readtrail/readtrail/record"
)

func TestABindingIsOfOneClientOrOfAll(t *testing.T) {
	bindings := Bindings{
		{Subject: "a", OrganizationRef: "bank", RetentionClass: "kyc"},
		{Subject: "b", OrganizationRef: "bank"},
		{Subject: "b", OrganizationRef: "insurer"},
	}
	assert.Equal(t, bindings[:1], bindings.Of(Client{Subject: "a"}))
	assert.Equal(t, bindings[1:], bindings.Of(Client{Subject: "b"}))
	for _, stranger := range []Client{{}, {Source: "authenticated:a"}, {Subject: "*"}, {Subject: "A"}, {Subject: "a "}} {
		assert.Empty(t, bindings.Of(stranger), stranger)
	}
	withAll := append(bindings[:1:1], Binding{Subject: AnyClient, OrganizationRef: "insurer"})
	assert.Equal(t, withAll, withAll.Of(Client{Subject: "a"}))
	assert.Equal(t, withAll[1:], withAll.Of(Client{}))
}

func TestABindingCoversItsOrganizationAndClass(t *testing.T) {
	bindings := Bindings{{Subject: "a", OrganizationRef: "bank", RetentionClass: "kyc"}, {Subject: "a", OrganizationRef: "insurer"}}
	for scope, want := range map[record.Scope]bool{
		{OrganizationRef: "bank", RetentionClass: "kyc"}:                         true,
		{OrganizationRef: "bank", RetentionClass: "kyc", Environment: "staging"}: true,
		{OrganizationRef: "bank", RetentionClass: "long"}:                        false,
		{OrganizationRef: "bank"}:                                                false,
		{OrganizationRef: "insurer", RetentionClass: "long"}:                     true,
		{OrganizationRef: "insurer "}:                                            false,
		{}:                                                                       false,
	} {
		assert.Equal(t, want, bindings.Cover(scope), scope)
	}
	assert.False(t, Bindings(nil).Cover(record.Scope{}))
}

func TestBindingsThatCannotBeMeantAreNamedByTheirPlace(t *testing.T) {
	long := make([]byte, MaxSubject+1)
	for i := range long {
		long[i] = 'a'
	}
	assert.Empty(t, Bindings(nil).Check())
	for _, subject := range []string{"CN=agents eu,O=Bank", "spiffe://bank/agents", "sha256:00", "agents@bank.example"} {
		assert.Empty(t, Bindings{{Subject: subject, OrganizationRef: "bank"}}.Check())
	}
	assert.Empty(t, Bindings{{Subject: "*", OrganizationRef: "bank"}, {Subject: "*", OrganizationRef: "bank", RetentionClass: "kyc"}}.Check())
	for want, bindings := range map[string]Bindings{
		"clients is empty, which could mean everybody or nobody: list who writes for whom, or leave it out": {},
		`clients::0::subject must be set: the authenticator's subject or the certificate's, or "*" for every client` + "\n" +
			"clients::0::organization_ref must be set": {{RetentionClass: "kyc"}},
		"clients::0::subject has 257 bytes, more than 256":                    {{Subject: string(long), OrganizationRef: "bank"}},
		"clients::1::retention_class contains U+0009, which is not printable": {{Subject: "a", OrganizationRef: "bank"}, {Subject: "b", OrganizationRef: "bank", RetentionClass: "k\tyc"}},
		"clients::0::subject is one that no client has: an authenticator's is taken only if it has no other bytes than letters, digits and ._:/@#+=- and begins with one of the first two; " +
			"have the provider tell another, or bind a certificate": {{Subject: "auth0|5f7c", OrganizationRef: "bank"}},
		"clients::1 is the same as clients::0: remove one": {{Subject: "a", OrganizationRef: "bank"}, {Subject: "a", OrganizationRef: "bank"}},
	} {
		assert.EqualError(t, errors.Join(bindings.Check()...), want)
	}
}
