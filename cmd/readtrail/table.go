// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// column is one column of a table.
type column struct {
	title string
	// least is the width that a narrow terminal may shrink the column to; 0
	// means that it is never shrunk.
	least int
	// rank orders the columns that a narrow terminal leaves out: the highest
	// first; 0 means never.
	rank int
}

// maxCell bounds the characters of a cell, so that one hostile entry cannot
// make every line of a table endless.
const maxCell = 96

// columnGap separates columns. Cells never contain it, see escapeCell.
const columnGap = "  "

// table lays out rows in columns. Its cells are text that was not escaped yet;
// leading spaces that indent a cell go into the row's indent.
type table struct {
	columns []column
	rows    []tableRow
}

type tableRow struct {
	// indent is the number of spaces before the cell of the column indented.
	indent   int
	indented int
	cells    []string
}

// write prints the table; an empty cell is shown as "-". width is that of the
// terminal, 0 for a file, which gets every column in full.
func (t *table) write(w io.Writer, width int) error {
	cells := make([][]string, 0, len(t.rows)+1)
	header := make([]string, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.title
	}
	cells = append(cells, header)
	for _, r := range t.rows {
		cells = append(cells, r.render())
	}
	widths := make([]int, len(t.columns))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if width > 0 {
		t.fit(widths, width)
	}
	for _, row := range cells {
		if _, err := io.WriteString(w, joinCells(row, widths)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (r tableRow) render() []string {
	cells := make([]string, len(r.cells))
	for i, cell := range r.cells {
		if cell == "" {
			cell = "-"
		}
		cells[i] = cut(escapeCell(cell), maxCell)
		if i == r.indented {
			cells[i] = strings.Repeat(" ", r.indent) + cells[i]
		}
	}
	return cells
}

// fit narrows the columns to the width of a terminal. Columns are left out
// (width 0) until the others fit when shrunk; then these are shrunk, the widest
// first, no more than needed.
func (t *table) fit(widths []int, width int) {
	for total(t.shrunk(widths)) > width {
		last := -1
		for i, c := range t.columns {
			if widths[i] > 0 && c.rank > 0 && (last < 0 || c.rank > t.columns[last].rank) {
				last = i
			}
		}
		if last < 0 {
			copy(widths, t.shrunk(widths))
			return
		}
		widths[last] = 0
	}
	for total(widths) > width {
		widest := -1
		for i, c := range t.columns {
			if c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		widths[widest]--
	}
}

// shrunk returns the least widths of the columns that are there.
func (t *table) shrunk(widths []int) []int {
	out := slices.Clone(widths)
	for i, c := range t.columns {
		if c.least > 0 {
			out[i] = min(out[i], c.least)
		}
	}
	return out
}

func total(widths []int) int {
	sum := -len(columnGap)
	for _, w := range widths {
		if w > 0 {
			sum += w + len(columnGap)
		}
	}
	return sum
}

func joinCells(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		cell = cut(cell, widths[i])
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		b.WriteString(columnGap)
	}
	return strings.TrimRight(b.String(), " ")
}

// cut shortens s to at most n characters; an ellipsis says that it did.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + "…"
}
