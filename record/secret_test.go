// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func TestWhatLooksLikeASecretIsFound(t *testing.T) {
	for _, text := range []string{"Bearer a", "bearer 1", "Authorization: x", "authorization:", "eyJx.", "-----BEGIN KEY", "Password=x", "password=1", "x://a:b@c"} {
		value, err := json.Marshal(map[string]any{"a": []string{"harmless", text}})
		require.NoError(t, err)
		at, found := record.SecretIn(value)
		assert.True(t, found, text)
		assert.Equal(t, jsontext.Pointer("/a/1"), at, text)
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
	text, err := os.ReadFile("../schema/action-record/1.0.0/schema.json")
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
