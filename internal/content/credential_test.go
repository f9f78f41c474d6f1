// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCredentialsAreKnownByTheirForm(t *testing.T) {
	for _, s := range []string{
		"Bearer abc.def.ghi", "bearer  0123456789abcdef", "Basic dXNlcjpwYXNzd29yZA==", "Digest username=\"Mufasa\", realm=\"x\"",
		"sk-proj-0123456789abcdefABCDEF", "sk-ant-api03-0123456789abcdef", "ghp_0123456789abcdefABCDEF0123", "AKIAIOSFODNN7EXAMPLE", "xoxb-1234-5678-abcd",
		"AIzaSyA0123456789abcdefghijklmnopqrstuv", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "-----BEGIN PRIVATE KEY-----\nMII", " 'glpat-0123456789abcdefABCD' ",
	} {
		assert.True(t, LooksLikeCredential(s), s)
	}
	for _, s := range []string{
		"", "lookup_customer", "call_000bkyc", "gpt-4o", "sk-short", "bearer of bad news", "basic", "Basic risk class of the customer", "eyJ", "ASIA", "token",
		"-----BEGIN CERTIFICATE-----\nMII", "claude-sonnet-4-5", "e2ae68dd-c727-4b2c-8fcf-923011455fca", sum("x"),
	} {
		assert.False(t, LooksLikeCredential(s), s)
	}
}

func TestCredentialsAreFoundInURLsAndCommandLines(t *testing.T) {
	for _, s := range []string{
		"https://user:pw@example.com/", "https://token@example.com/", "postgres://kyc:pw@db:5432/x", "https://example.com/?api_key=1", "https://example.com/?a=1&API-KEY=1",
		"?access_token=x", "https://b.s3.amazonaws.com/k?X-Amz-Signature=00&X-Amz-Credential=1", "https://h/#id_token=1", "curl -H 'Authorization: Bearer abcdefgh' x",
		"curl -u user:pw x", "mysql -psecret", "tool --password hunter2", "tool --api-key=1", "DB_PASSWORD=x tool", "tool --header \"X-Api-Key: 1\"", "x sk-0123456789abcdef",
		"{\"password\": \"x\"}", "https://h/?q=Bearer%20abcdefgh", strings.Repeat("x", MaxSearched+1),
	} {
		assert.True(t, HoldsCredential(s), s)
	}
	for _, s := range []string{
		"", "https://example.com/customers?name=Marta", "http://127.0.0.1:8900/d/openinference/v1/messages", "?name=Marta&q=x", "https://REDACTED:REDACTED@example.com/",
		"/usr/bin/node server.js --port 8080", "kyc://policy/1", "https://example.com/@user/post", "mail to a@b.example",
	} {
		assert.False(t, HoldsCredential(s), s)
	}
}
