// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"fmt"
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
		for range 3 {
			for _, key := range keys {
				want, got := policy.find(key, gate), policy.Rule(key, gate)
				if want.Class != got.Class || want.Free != got.Free || want.Shape.name != got.Shape.name {
					t.Fatalf("%s under %d: %v is remembered as %v", key, gate, want, got)
				}
			}
		}
	})
}

func TestKeysMadeAtRandomAreNotRemembered(t *testing.T) {
	m := newMemo()
	nothing := func(string, Gate) Rule { return Rule{} }
	m.rule("service.name", 0, nothing)
	m.rule("service.name", 0, nothing)
	for i := range 10 * memoSlots {
		m.rule(fmt.Sprintf("key.%d", i), 0, nothing)
	}
	held := 0
	for i := range m.slots {
		if m.slots[i].held.Load() != nil {
			held++
		}
	}
	assert.Equal(t, 1, held)
	assert.Zero(t, testing.AllocsPerRun(100, func() { m.rule("service.name", 0, nothing) }))
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
