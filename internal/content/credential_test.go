// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// tokenOf returns the shortest token of a prefix.
func tokenOf(p credentialPrefix) string { return p.prefix + strings.Repeat("aB3", 20)[:p.rest] }

func TestCredentialsAreKnownByTheirForm(t *testing.T) {
	for _, s := range []string{
		"Bearer abc.def.ghi", "bearer  0123456789abcdef", "Basic dXNlcjpwYXNzd29yZA==", "Digest username=\"Mufasa\", realm=\"x\"",
		"sk-proj-0123456789abcdefABCDEF", "sk-ant-api03-0123456789abcdef", "ghp_0123456789abcdefABCDEF0123", "AKIAIOSFODNN7EXAMPLE", "xoxb-17653672481-pdFZKVeTuE8sk7oOcHrzqytgy",
		"AIzaSyA0123456789abcdefghijklmnopqrstuv", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "-----BEGIN PRIVATE KEY-----\nMII", " 'glpat-0123456789abcdefABCD' ",
		"Bearer abc~def/ghi+jkl==", "Authorization: Bearer abc.def.ghi", "Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==", "token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
		"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=5d67",
	} {
		assert.True(t, LooksLikeCredential(s), s)
	}
	for _, s := range []string{
		"", "lookup_customer", "call_000bkyc", "gpt-4o", "sk-short", "bearer of bad news", "basic", "Basic risk class of the customer", "eyJ", "ASIA", "token",
		"-----BEGIN CERTIFICATE-----\nMII", "claude-sonnet-4-5", "e2ae68dd-c727-4b2c-8fcf-923011455fca", sum("x"),
		"Token counter", "Basic assistant", "Digest builder", "Authorization: required", "Authorization: Authorization: Authorization: x",
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
		"//user:pw@h/x", "redis://:PW@host:6379/0", "postgres://u:p/w@h/db", "https://h/p?accessToken=S", "https://h/p?clientSecret=S", "https://h/p%3Faccess_token%3DS",
		"https://h/p%253Faccess_token%253DS", "https://h/token=S/x", "https://h/?auth[token]=S", "https://hooks.slack.com/services/T0/B0/abc", "https://api.telegram.org/bot1:x/send",
		"https://discord.com/api/webhooks/1/x", "https://x.webhook.office.com/webhookb2/x", "https://h/hf_0123456789abcdefghijklmnop", "https://h/ya29.0123456789abcdefghij",
		"env PGPASSWORD=S psql", "env MYSQL_PWD=S mysql", "sshpass -p S ssh h", "sshpass -pS ssh h", "redis-cli -h h -a S", "docker login -u u -p S", "ldapsearch -x -w S",
		"sqlcmd -U sa -P S", "[\"psql\",\"--password\",\"S\"]", "[\"sshpass\", \"-p\", \"S\"]", "['redis-cli', '-a', 'S']", "curl -H 'Authorization: Bearer ab~cd/ef'",
		"psql user:PW@db.example.com/kyc",
	} {
		assert.True(t, HoldsCredential(s), s)
	}
	for _, s := range []string{
		"", "https://example.com/customers?name=Marta", "http://127.0.0.1:8900/d/openinference/v1/messages", "?name=Marta&q=x", "https://REDACTED:REDACTED@example.com/",
		"/usr/bin/node server.js --port 8080", "kyc://policy/1", "https://example.com/@user/post", "mail to a@b.example",
		"https://h/task-management-for-customers-2", "https://h/?max_tokens=5&page_size=1", "https://h/?token=", "mailto:jane@example.com", "http://auth:3000/login", "https://[::1]:80/@x",
		"https://h/100%", "https://h/a%2Fb%20c", "docker run -p 80:80 nginx:1.25@sha256:4bf5122f344554c5", "ls -a /x",
	} {
		assert.False(t, HoldsCredential(s), s)
	}
}

func TestATokenIsFoundWhateverItsPrefixAndWhereverItStands(t *testing.T) {
	for _, p := range credentialPrefixes {
		token := tokenOf(p)
		for _, s := range []string{token, "tool " + token, "a/" + token + "/b", "https://h/%20" + token, `a\n` + token} {
			assert.True(t, GivesAwayCredential(s), s)
			assert.True(t, HoldsCredential(s), s)
		}
		assert.True(t, LooksLikeCredential(token), token)
		assert.False(t, GivesAwayCredential("x"+token), token)
		assert.False(t, GivesAwayCredential("a/"+p.prefix+strings.Repeat("word-", 5)), p.prefix)
	}
}

func TestAValueInClearGivesNoCredentialAway(t *testing.T) {
	for _, s := range []string{
		"postgres://u:PW@h/db", "redis://:PW@host:6379/0", "https://u:p@h/1", "//u:p@h/1", "https://h/#access_token=T", "a;token=T", "a/secret=T", "a,apiKey=T", "h?sig=T", "x&code=T",
		"u:PW@db.example.com", "u:PW@localhost", "u:PW@db:5432", "u:PW@db/kyc", "eyJjdXN0b21lciI6Ik1hcnRhIn0", "x/eyJjdXN0b21lciI6Ik1hcnRhIn0", "-----BEGIN RSA PRIVATE KEY-----",
	} {
		assert.True(t, GivesAwayCredential(s), s)
		assert.False(t, ShapeIdentifier.Matches(s), s)
		assert.False(t, ShapeName.Matches(s), s)
		assert.False(t, ShapeLocation.Matches(s), s)
	}
	for _, s := range []string{
		"", "call_0013kyc", "code interpreter", "session manager", "token counter", "auth service", "key value store", "kyc://session/1", "https://h/x", "dt=2026-01-01", "a=b", "dG9rZW4=",
		"tool:lookup@1.2.0", "git@github.com:org/repo", "nginx:1.25@sha256:4bf5122f344554c5", "claude-sonnet-4@20250514", "@opentelemetry/instrumentation-openai", "the session key is 5 at https://h/",
		strings.Repeat("x", maxCredential) + "https://u:p@h/",
	} {
		assert.False(t, GivesAwayCredential(s), s)
	}
}

func FuzzCredentials(f *testing.F) {
	for _, s := range []string{
		"Bearer abc~def/ghi", "Digest a=b", "//u:p@h", "a:b@c:1", "?token=%3Fx%3D", "%", "%a", "%%41", "sk-sk-sk-", "[\"-p\",\"S\"]", "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy", "4d61727461204578656d70656c",
		"jane@example.com", "@", "a@", "data:x", "-----BEGIN ", "eyJ", "APIKey=1", "=", "\"=", "a.b/c.D",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if LooksLikeCredential(s) {
			require.True(t, GivesAwayCredential(s))
		}
		if GivesAwayCredential(s) {
			require.True(t, HoldsCredential(s))
			for _, shape := range shapes {
				require.False(t, shape.Matches(s), shape)
			}
		}
		if NamesSecret(s) {
			require.True(t, NamesSecretParameter(s))
		}
	})
}

func TestSecretsAreKnownByTheirNamesInEverySpelling(t *testing.T) {
	for _, key := range []string{
		"api_key", "Api-Key", "apiKey", "APIKey", "x.accessToken", "clientSecret", "x-api-key", "set-cookie", "db.user_password", "OAuthAccessToken", "github_token", "genkit:privateKey",
		"a.very_long_name_that_ends_after_more_than_sixty_four_bytes_with_a_password",
	} {
		assert.True(t, NamesSecret(key), key)
		assert.True(t, NamesSecretParameter(key), key)
	}
	for _, key := range []string{
		"", ".", "_", "name", "key", "code", "tokens", "input_tokens", "next_token", "pageToken", "time_to_first_token", "tokenizer", "secretary", "passport", "keyboard", "credential_id", "cwd",
	} {
		assert.False(t, NamesSecret(key), key)
	}
	for _, name := range []string{"key", "sig", "X-Amz-Signature", "PGPASSWORD", "accesstoken", "--token", "sessionId.sid"} {
		assert.True(t, NamesSecretParameter(name), name)
	}
	for _, name := range []string{"", "--", "max_tokens", "keys", "monkey", "zipcode", "passport", "author"} {
		assert.False(t, NamesSecretParameter(name), name)
	}
}

// Ids are made at random and names are made of words; both can hold what begins
// a token, and a read that loses its call id or its tool cannot be joined.
func TestIDsAndNamesThatHoldTheBeginningOfATokenStay(t *testing.T) {
	for _, id := range []string{"call_eyJ7yOAtVThENpS3RFQPjU37", "YfaP6GNGyif_sk-fklc1i2t9b5OqpQKi", "eyJ7yOAtVThENpS3RFQPjU37", "chatcmpl-eyJ7yOAtVThENpS3RFQPjU37aaaaa"} {
		assert.True(t, ShapeIdentifier.Matches(id), id)
	}
	for _, name := range []string{
		"sk-transport-timetable-2025", "hf_text_generation_inference_v2", "Token BudgetManager", "xai-grok-4-fast-reasoning-latest", "hf_Meta-Llama-3.1-8B-Instruct",
		"Digest DailyNewsSummary", "npm_install_dependencies_and_run_tests1", "xapp-launcher-1", "pplx-llama-3.1-sonar-large-128k-online", "glpat-rotation-service-2",
		"Basic CustomerLookupAgent", "Negotiate ContractTerms", "Token Counter2",
	} {
		assert.True(t, ShapeName.Matches(name), name)
	}
	for _, s := range []string{"execute_tool Bearer abcdefghij", "Basic dXNlcjpwYXNz", "jdbc:oracle:thin:scott/tiger@host:1521/x", "Token 9944b09199c62bcf9418ad846dd0e4bb", "hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"} {
		assert.True(t, GivesAwayCredential(s), s)
	}
	for _, s := range []string{"I am Marta and I have cancer", "A person is very ill", "SELECT a b c d e f g h"} {
		assert.False(t, ShapeQuerySummary.Matches(s), s)
	}
}

// What a search skips by the marks of a text it would not have found.
func TestMarksSkipNoCredential(t *testing.T) {
	parts := []string{
		"ghp_", "sk-", "eyJ", "hbGciOiJIUzI1NiIsInR5", "a1b2c3d4e5f6g7h8", "-----BEGIN PRIVATE KEY", "bearer ", "Bearer", "%20", "%3D", "@", "//", "/", "=",
		"password", "user:", "host.com", "jdbc:", " ", "\\n", "\"", "_", "-", ".", "b", "word",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(t, "parts"), "")
		unmarked := func(s string) bool { return holdsUserInfo(s) || holdsParameter(s, "=") || holdsToken(s, marksOf(s)) }
		want := LooksLikeCredential(s) || inAnySpelling(s, unmarked) || holdsAuthorization(s, "bearer")
		if got := GivesAwayCredential(s); got != want {
			t.Fatalf("%q: %v", s, got)
		}
	})
}
