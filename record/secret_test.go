// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

var secrets = []string{
	"BEARER abc", "x/Bearer%20CANARY", "Basic Q0FOQVJZOnB3", "basic dXNlcjpwYXNz=", "Set-Cookie: sid=CANARY", "cookie=1", "AUTHORIZATION: x", "Authorization=x",
	"PASSWORD=CANARY", "passwd: CANARY", "password:CANARY-44", "ops-deploy@password=CANARY", "PGPASSWORD=CANARY psql", "pwd=x", "MYSQL_PWD=x", "api_key=sk-CANARY-47",
	"X-Api-Key: CANARY", "apikey=x", "secret=x", "client_secret=x", "export AWS_SECRET_ACCESS_KEY=x", "/x/token=CANARY", "TOKEN=x", "tool --password hunter2", "tool --api-key k",
	"ghp_CANARY0", "gho_a1B2c3", "a/github_pat_11ABCDE", "glpat-0123456789abcdefABCD", "AKIAIOSFODNN7EXAMPLE", "x ASIAIOSFODNN7EXAMPLE", "sk-0123456789abcdef",
	"sk-proj-0123456789abcdefABCDEF", "sk-ant-api03-0123456789abcdef", "sk_live_0123456789", "xoxb-1765", "xoxc-abcd", "hvs.CAESI", "SG.0123456789abcdefXYZ",
	"/cb/eyJhbGciOiJIUzI1NiJ9", "eyJhbGciOiJFZERTQSJ9.e30.c2ln", "-----BEGIN PRIVATE KEY-----", "vault://user:pass@host/x", "redis://:PW@host:6379",
	"curl -u admin:CANARY http://h", "curl -s --user admin:CANARY h", "mysql -u root -pCANARY", "mysqldump -pCANARY db", "sshpass -p CANARY ssh h", "sshpass -pCANARY ssh h",
}

// ordinary are ids and names that begin or contain what a secret does.
var ordinary = []string{
	"task-1234567890abcdef1234", "ask-1", "risk-0123456789abcdef01", "disk-ABCDEFGHIJKLMNOPQRST", "sk-transport-timetable-2025", "YfaP6GNGyif_sk-fklc1i2t9b5OqpQKi", "call_eyJ7yOAtVThENpS3RFQPjU37",
	"basic assistant", "Basic CustomerLookupAgent", "bearer", "token", "Token counter", "max_tokens", "tokens=5", "secret: none", "k8s-secret:deploy", "secretary", "passport", "password={ref}",
	"mysql --password={ref}", "mysql --protocol=tcp -P 3306", "mysql -p", "docker run -u 1000:1000 nginx", "curl -s https://h/x", "curl -u {user}:{password} h", "sshpass -p {password} ssh", "ASIA-PACIFIC",
	"MAKIAVELLI", "SG.branch", "xox", "ghp", "tool:lookup@1.2.0", "user:alice@example.com", "nginx:1.25@sha256:4bf5122f344554c5", "https://host:443/path", "https://host/a@b",
	"hmac-sha256:k1:0000000000000000000000000000000000000000000000000000000000000000", "idem_a56da33cdc9baf8ebb87ff82f3bb0173", "arn:aws:iam::123456789012:role/deploy", "cookie_jar", "api-keys",
}

func TestWhatLooksLikeASecretIsFound(t *testing.T) {
	for _, text := range []string{"Bearer a", "bearer 1", "Authorization: x", "authorization:", "eyJx.", "-----BEGIN KEY", "Password=x", "password=1", "x://a:b@c"} {
		value, err := json.Marshal(map[string]any{"a": []string{"harmless", text}})
		require.NoError(t, err)
		at, found := record.SecretIn(value)
		assert.True(t, found, text)
		assert.Equal(t, jsontext.Pointer("/a/1"), at, text)
	}
	for _, text := range secrets {
		assert.True(t, record.LooksLikeSecret(text), text)
	}
	for _, text := range ordinary {
		assert.False(t, record.LooksLikeSecret(text), text)
	}
	_, found := record.SecretIn(jsontext.Value(`["\u0042earer a"]`))
	assert.True(t, found, "escaped")
	for _, text := range []string{"", "bearer", "eyJx", "password={ref}", "https://host:443/path", "https://host/a:b@c"} {
		value, err := json.Marshal([]string{text})
		require.NoError(t, err)
		_, found := record.SecretIn(value)
		assert.False(t, found, text)
	}
}

func TestTheSchemasTakeTheSameForASecret(t *testing.T) {
	for _, name := range []string{"action-record/1.0.0", "approval-record/1.0.0", "decision-record/1.0.0", "audit-event/1.0.0", "audit-event/1.1.0"} {
		takesForASecret(t, name)
	}
}

func takesForASecret(t *testing.T, name string) {
	text, err := os.ReadFile("../schema/" + name + "/schema.json")
	require.NoError(t, err)
	var s struct {
		Defs struct {
			NoSecret struct {
				Not struct {
					Pattern string `json:"pattern"`
				} `json:"not"`
			} `json:"noSecret"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &s))
	assert.Equal(t, record.SecretPattern, s.Defs.NoSecret.Not.Pattern)
}

// FuzzLooksLikeSecret holds that what is quickly said to be none is none.
func FuzzLooksLikeSecret(f *testing.F) {
	for _, text := range append(secrets, ordinary...) {
		f.Add(text)
	}
	pattern := regexp.MustCompile(record.SecretPattern)
	f.Fuzz(func(t *testing.T, text string) {
		require.Equal(t, pattern.MatchString(text), record.LooksLikeSecret(text))
	})
}
