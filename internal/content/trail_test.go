// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestATrailSaysWhatThePolicySays(t *testing.T) {
	policy, err := NewPolicy([]string{"acme.input"}, nil)
	require.NoError(t, err)
	keys := []string{"", "http.route", "gen_ai.tool.name", "acme.input", "input", "api_key", "acme.tenant", strings.Repeat("k", maxMemoKey+1)}
	texts := []string{
		"", "crm.customer.get", "crm.customer.put", "/orders/{id}", "[REDACTED]", "Bearer 0123456789abcdef", "call Marta, please",
		strings.Repeat("a", maxJudged+1), strings.Repeat("b", maxJudged+1),
	}
	rapid.Check(t, func(t *rapid.T) {
		var trail Trail
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			trail.Begin()
			for range rapid.IntRange(0, 2*maxTrail).Draw(t, "keys") {
				key := rapid.SampledFrom(keys).Draw(t, "key")
				gate := rapid.SampledFrom([]Gate{0, GateGeneric, GateWhole}).Draw(t, "gate")
				text := rapid.SampledFrom(texts).Draw(t, "text")
				rule := policy.find(key, gate)
				step := trail.Next(policy, key, gate)
				require.Equal(t, rule.Class, step.Rule.Class)
				require.Equal(t, rule.Judge(text), step.Judge(text), "%q=%q", key, text)
			}
		}
	})
}
