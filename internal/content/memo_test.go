// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestARememberedRuleIsTheOneThatWasFound(t *testing.T) {
	policy, err := NewPolicy([]string{"my.place", "my.places.**"}, []Keep{{Key: "app.*", Shape: ShapeToken}})
	require.NoError(t, err)
	words := []string{"gen_ai", "tool", "call", "result", "prompt", "N", "0", "12345", "app", "my", "place", "places", "http", "request", "header", "cookie", "pii", "x"}
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4), func(w []string) string {
			key := w[0]
			for _, segment := range w[1:] {
				key += "." + segment
			}
			return key
		}), 1, 30).Draw(t, "keys")
		gate := Gate(rapid.IntRange(0, 3).Draw(t, "gate"))
		for range 3 * rememberedOf {
			for _, key := range keys {
				want, got := policy.find(key, gate), policy.Rule(key, gate)
				if want.Class != got.Class || want.Free != got.Free || want.Shape.name != got.Shape.name {
					t.Fatalf("%s under %d: %v is remembered as %v", key, gate, want, got)
				}
			}
		}
	})
}

func TestKeysThatComeAgainAreRememberedAmongKeysMadeAtRandom(t *testing.T) {
	policy, err := NewPolicy(nil, nil)
	require.NoError(t, err)
	long := "db.query.parameter." + strings.Repeat("k", maxMemoKey)
	keys := []string{"service.name", "gen_ai.prompt.0.content", "app.note", "x", ""}
	for i := range 100 * memoSets {
		policy.Rule(fmt.Sprintf("key.%d", i), 0)
		policy.Rule(keys[i%len(keys)], 0)
		policy.Rule(long, 0)
	}
	for _, key := range keys {
		assert.NotNil(t, policy.rules.get(memoHash(key, 0), key, 0), key)
		assert.Zero(t, testing.AllocsPerRun(100, func() { policy.Rule(key, 0) }), key)
	}
	assert.Nil(t, policy.rules.get(memoHash(long, 0), long, 0))
}

func TestAMemoIsSharedByGoroutines(t *testing.T) {
	policy, err := NewPolicy(nil, nil)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 2000 {
				key := fmt.Sprintf("gen_ai.prompt.%d.content", i%300)
				assert.Equal(t, Content, policy.Rule(key, 0).Class)
			}
		})
	}
	group.Wait()
}

// holdsToken looks at no text that is shorter than every token.
func TestNoTokenIsShorterThanTheShortest(t *testing.T) {
	assert.LessOrEqual(t, minToken, minEmbeddedJSON)
	for _, p := range credentialPrefixes {
		assert.LessOrEqual(t, minToken, len(p.prefix)+p.rest, p.prefix)
	}
}
