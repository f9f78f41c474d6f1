// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package provenance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/provenance"
	"github.com/readtrail/readtrail/record"
)

// contextOf makes a context of an execution with entries of these ids.
func contextOf(execution string, ids ...string) *record.Context {
	c := &record.Context{Header: record.Header{Correlation: record.Correlation{ExecutionID: execution}}}
	for _, id := range ids {
		c.Entries = append(c.Entries, record.ContextEntry{EntryID: id})
	}
	return c
}

func TestAClaimIsSupportedByEntriesThatAreAllInContextsOfItsExecution(t *testing.T) {
	c := contextOf("run_1", "own")
	for _, cites := range [][]string{{"own"}, {"own", "before"}, {"elsewhere"}, {}, {"own", "nowhere"}, nil} {
		c.Claims = append(c.Claims, record.Claim{EntryIDs: cites, Supported: true})
	}
	need := provenance.OfContext(c)
	require.Equal(t, "run_1", need.Execution())
	need.See(entry(t, record.KindContext, contextOf("run_1", "before")))
	need.See(entry(t, record.KindContext, contextOf("run_2", "elsewhere")))
	need.See(entry(t, record.KindRead, contextOf("run_1", "nowhere")))
	need.See(conflicting(t, entry(t, record.KindContext, contextOf("run_1", "nowhere"))))
	require.False(t, need.Met())
	require.Equal(t, 2, need.Mark())
	var supported []bool
	for _, claim := range c.Claims {
		supported = append(supported, claim.Supported)
	}
	require.Equal(t, []bool{true, true, false, false, false, false}, supported)
}

func TestClaimsThatAreAllSupportedWaitForNothing(t *testing.T) {
	c := contextOf("run_1", "a", "b")
	c.Claims = []record.Claim{{EntryIDs: []string{"a", "b"}}, {}}
	need := provenance.OfContext(c)
	require.True(t, need.Met())
	require.Equal(t, 1, need.Mark(), "one that cites nothing")
	c.Claims = c.Claims[:1]
	require.Equal(t, -1, provenance.OfContext(c).Mark())
}
