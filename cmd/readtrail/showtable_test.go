// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANarrowTableKeepsThatNobodyKnowsWhoseWordItIs(t *testing.T) {
	row := func(seenBy string) *shownEntry {
		return &shownEntry{observation: &observation{
			sequence: 2, event: "action.planned", what: "act_1, crm.customer.update as PATCH /customers/{id}, credential vault:crm/writer",
			status: "may have gone out", system: "https crm.bank.example:443", occurredAt: "2026-10-09T09:12:03.418Z", capture: "values_left_out",
			request: "9f86d081884c", seenBy: seenBy, toolCall: "call_1",
		}}
	}
	for _, width := range []int{100, 110, 160} {
		for seenBy, kept := range map[string]bool{"api unverified_input, by worker spiffe://bank.example/crm": true, "api authenticated:crm-executor": false} {
			rows := []*shownEntry{row(seenBy)}
			tab := &table{columns: columnsFor(rows), rows: []tableRow{rows[0].row(0)}}
			var out bytes.Buffer
			require.NoError(t, tab.write(&out, width))
			if kept {
				require.Contains(t, out.String(), "api unverified_input", out.String())
			} else if width == 100 {
				require.NotContains(t, out.String(), "SEEN BY")
			}
		}
	}
}
