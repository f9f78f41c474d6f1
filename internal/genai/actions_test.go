// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// TestAToolsRecordNamesTheActionsItLedTo is requirement D2: the wrapper's record names
// the action, whatever the wrapper's own outcome was.
func TestAToolsRecordNamesTheActionsItLedTo(t *testing.T) {
	lift := func(value any) *Observation {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "execute_tool", "readtrail.action.id": value}}.input(t))
		require.NotNil(t, o.Read)
		return &o
	}
	one := lift("act_5f17")
	require.Equal(t, []string{"act_5f17"}, one.Read.ActionIDs)
	require.Equal(t, record.BasisAttribute, one.Read.Basis["action_ids"])
	require.Equal(t, "act_5f17", one.Skeleton.ActionID)

	several := lift([]any{"act_1", "no id", "act_2", "act_1", "sha256:x"})
	require.Equal(t, []string{"act_1", "act_2"}, several.Read.ActionIDs)
	require.Empty(t, several.Skeleton.ActionID, "a span has one action or none")

	none := lift("no id")
	require.Empty(t, none.Read.ActionIDs)
	require.NotContains(t, none.Read.Basis, "action_ids")
}
