// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func exampleTable() *table {
	return &table{
		columns: []column{{title: "SEQUENCE"}, {title: "TOOL", least: 6}, {title: "SEEN BY", rank: 2}, {title: "CALL", least: 6, rank: 1}},
		rows: []tableRow{
			{cells: []string{"2", "crm.customer.get", "span otel", "call_syn_0193_02"}},
			{cells: []string{"3", "crm.customer.get", "log otel", ""}, indent: 2, indented: 1},
		},
	}
}

func TestATableInAFileHasEveryColumnInFull(t *testing.T) {
	var out strings.Builder
	require.NoError(t, exampleTable().write(&out, 0))
	require.Equal(t, strings.TrimPrefix(`
SEQUENCE  TOOL                SEEN BY    CALL
2         crm.customer.get    span otel  call_syn_0193_02
3           crm.customer.get  log otel   -
`, "\n"), out.String())
}

func TestATableFitsTheTerminal(t *testing.T) {
	for width := 20; width < 70; width++ {
		var out strings.Builder
		require.NoError(t, exampleTable().write(&out, width))
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width)
		}
	}
	var out strings.Builder
	require.NoError(t, exampleTable().write(&out, 32))
	require.Equal(t, strings.TrimPrefix(`
SEQUENCE  TOOL        CALL
2         crm.custo…  call_syn_…
3           crm.cus…  -
`, "\n"), out.String(), "the least important column is left out and the others share what there is")
}

func TestAHostileCellIsCut(t *testing.T) {
	table := exampleTable()
	table.rows[0].cells[1] = strings.Repeat("x", 1<<20)
	var out strings.Builder
	require.NoError(t, table.write(&out, 0))
	require.Less(t, out.Len(), 1<<10)
}
