// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAClaimIsSupportedByEntriesOfItsExecutionOnly(t *testing.T) {
	shown := func(id string) bool { return id == "e1" || id == "e2" }
	assert.True(t, Supported([]string{"e1"}, shown))
	assert.True(t, Supported([]string{"e1", "e2"}, shown))
	assert.False(t, Supported([]string{"e1", "of_another_execution"}, shown))
	assert.False(t, Supported(nil, shown), "a claim that cites nothing")
	assert.Equal(t, []string{"of_another_execution"}, Unsupported([]string{"e1", "of_another_execution"}, shown))
	assert.Empty(t, Unsupported(nil, shown))
}

func TestASummaryLeadsBackToTheOriginals(t *testing.T) {
	derived := map[string][]string{"s2": {"s1", "e3"}, "s1": {"e1", "e2"}, "e1": nil, "e2": nil, "e3": nil}
	of := func(id string) ([]string, bool) { ids, known := derived[id]; return ids, known }
	assert.Equal(t, Origins{Originals: []string{"e1", "e2", "e3"}}, OriginsOf("s2", of))
	assert.Equal(t, Origins{Originals: []string{"e1"}}, OriginsOf("e1", of))
	assert.Equal(t, Origins{Unknown: []string{"e9"}}, OriginsOf("e9", of))
	derived["s3"] = []string{"s2", "e9"}
	assert.Equal(t, Origins{Originals: []string{"e1", "e2", "e3"}, Unknown: []string{"e9"}}, OriginsOf("s3", of))
}

func TestSummariesOfEachOtherEnd(t *testing.T) {
	derived := map[string][]string{"a": {"b"}, "b": {"a", "e"}, "e": nil, "self": {"self"}}
	of := func(id string) ([]string, bool) { ids, known := derived[id]; return ids, known }
	assert.Equal(t, Origins{Originals: []string{"e"}, Circular: []string{"a"}}, OriginsOf("a", of))
	assert.Equal(t, Origins{Circular: []string{"self"}}, OriginsOf("self", of))
}

func TestAChainOfSummariesOfAnyLengthIsFollowed(t *testing.T) {
	of := func(id string) ([]string, bool) {
		n, _ := strconv.Atoi(id)
		if n == 0 {
			return nil, true
		}
		return []string{strconv.Itoa(n - 1)}, true
	}
	assert.Equal(t, Origins{Originals: []string{"0"}}, OriginsOf("90000", of))
	assert.Empty(t, OriginsOf("200000", of).Originals, "beyond what is followed nothing is claimed")
	assert.NotEmpty(t, OriginsOf("200000", of).Unknown)
}
