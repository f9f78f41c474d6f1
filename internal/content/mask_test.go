// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestAMaskedKeyShowsOnlyWordsOfTheTables(t *testing.T) {
	for key, want := range map[string]string{
		"gen_ai.prompt.0.content":                  "gen_ai.prompt.0.content",
		"metadata.marta":                           "metadata.*",
		"gen_ai.prompt.0.11111.22222":              "gen_ai.prompt.*.*.*",
		"http.request.header.x-vault-token":        "http.request.header.*_token",
		"http.request.header.authorization":        "http.request.header.authorization",
		"marta.dbPassword":                         "*.*_password",
		"mcp.request.argument.DE89370400440532013": "mcp.request.argument.*",
		"": "*",
		strings.Repeat("content.", 1000) + "content": strings.Repeat("content.", maxMasked) + "*",
	} {
		assert.Equal(t, want, MaskKey(key), key)
	}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[ §A-Z]{1,8}`).Draw(t, "secret")
		if _, known := tableWords[secret]; known {
			t.Skip("a word of the tables")
		}
		masked := MaskKey("metadata." + secret + ".content")
		assert.Equal(t, "metadata.*.content", masked)
	})
}
