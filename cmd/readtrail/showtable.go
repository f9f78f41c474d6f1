// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/action"
	"github.com/readtrail/readtrail/internal/lineage"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// entryTable shows the entries of each journal as a table.
type entryTable struct {
	gathered
	// marked says that a row has the mark that is explained below the tables.
	marked bool
	// leads holds for each read the row under which the whole read is shown. Rows
	// of the read in the tables of other journals only say where that is.
	leads map[*lineage.Read]*shownEntry
}

// entryColumns are in the order of the table; a terminal that is too narrow
// loses the highest rank first.
var entryColumns = []column{
	{title: "SEQUENCE"},
	{title: "TIME", rank: 3},
	{title: "EVENT"},
	{title: "WHAT", least: 30},
	{title: "STATUS"},
	{title: "SYSTEM", least: 10, rank: 1},
	{title: "REQUEST", rank: 5},
	{title: "RESULT", rank: 4},
	{title: "CAPTURE", rank: 6},
	{title: "SEEN BY", least: 8, rank: 7},
	{title: "CALL", least: 10, rank: 2},
}

// columnsFor keeps SEEN BY, and its first words whole, longer than any column that can
// be left out if it says of an entry that nobody knows whose word it is.
func columnsFor(rows []*shownEntry) []column {
	if !slices.ContainsFunc(rows, func(row *shownEntry) bool { return strings.Contains(row.seenBy, record.UnverifiedInput) }) {
		return entryColumns
	}
	columns := slices.Clone(entryColumns)
	columns[seenByColumn].rank, columns[seenByColumn].least = 1, len("span "+record.UnverifiedInput)+1
	columns[systemColumn].rank = 2
	columns[callColumn].rank = 3
	return columns
}

// eventColumn is the one that shows by its indent what belongs together.
const eventColumn = 2

// uncheckable marks a read whose digests nobody can recompute later.
const (
	uncheckable        = " *"
	uncheckableMeaning = "* digest only, without a version or as-of time and a content location: nobody can check it later"
)

// end prints a table for each journal.
func (p *entryTable) end(sources []*journal.Source) (int, error) {
	joined, err := join(p.con, sources, p.rows)
	if err != nil {
		return 0, err
	}
	p.leads = leads(p.rows, joined)
	for rows := p.rows; len(rows) > 0; {
		n := 1
		for n < len(rows) && rows[n].source == rows[0].source {
			n++
		}
		if rows[0] != p.rows[0] {
			fmt.Fprintln(p.con.out)
		}
		if len(sources) > 1 {
			fmt.Fprintf(p.con.out, "journal: %s (%s)\n", escape(idOf(rows[:n])), escape(sources[rows[0].source].Path))
		}
		if err := p.write(rows[:n], joined); err != nil {
			return 0, err
		}
		rows = rows[n:]
	}
	if p.marked {
		fmt.Fprintf(p.con.out, "\n%s\n", uncheckableMeaning)
	}
	if n := joined.graph.Loose(); n > 0 {
		p.con.note("%s of these traces under no read that is recorded: see show --kind lineage_record --json", count(n, "effect"))
	}
	return joined.unreadable, nil
}

// idOf returns the id of the journal of some rows: an audit event names none.
func idOf(rows []*shownEntry) string {
	for _, row := range rows {
		if row.journalID != "" {
			return row.journalID
		}
	}
	return "not named by these entries"
}

// write prints the rows of one journal: a read where its first row stands, with
// the others and what was touched beneath.
func (p *entryTable) write(rows []*shownEntry, joined *joining) error {
	t := &table{columns: columnsFor(rows)}
	groups := map[*lineage.Read][]*shownEntry{}
	deeds := map[*action.Action][]*shownEntry{}
	for _, row := range rows {
		if r := joined.of[row.joins]; r != nil {
			groups[r] = append(groups[r], row)
		}
		if a := joined.actionOf(row); a != nil {
			deeds[a] = append(deeds[a], row)
		}
		joined.nameActions(row)
	}
	for _, row := range rows {
		if a := joined.actionOf(row); a != nil {
			t.rows = append(t.rows, actionRows(a, deeds[a], joined)...)
			delete(deeds, a)
			continue
		}
		r := joined.of[row.joins]
		if r == nil {
			t.rows = append(t.rows, row.row(0))
			continue
		}
		group := groups[r]
		delete(groups, r)
		if len(group) == 0 {
			continue // it stands above
		}
		p.writeRead(t, r, outermostFirst(r, group))
	}
	width, _ := terminalWidth(p.con.outFile)
	return t.write(p.con.out, width)
}

func (p *entryTable) writeRead(t *table, r *lineage.Read, group []*shownEntry) {
	for i, o := range group {
		if by := o.joins.Upstream; by != group[0].joins.Upstream {
			o.what = toldBy(o.what, by)
		}
		if edge := string(o.joins.EdgeType); edge != "" {
			o.seenBy += ", " + edge
		}
		t.rows = append(t.rows, o.row(min(2*i, 2)))
	}
	head := &t.rows[len(t.rows)-len(group)]
	if lead := p.leads[r]; lead != group[0] {
		head.cells[whatColumn] += fmt.Sprintf(" (same read as %d of %s)", lead.sequence, lead.scope)
		return
	}
	if r.Uncheckable() {
		p.marked = true
		head.cells[statusColumn] += uncheckable
	}
	t.rows = append(t.rows, effectRows(r, group[0])...)
}

// leads finds the outermost row of each read.
func leads(rows []*shownEntry, joined *joining) map[*lineage.Read]*shownEntry {
	all := map[*lineage.Read][]*shownEntry{}
	for _, row := range rows {
		if r := joined.of[row.joins]; r != nil {
			all[r] = append(all[r], row)
		}
	}
	out := map[*lineage.Read]*shownEntry{}
	for r, group := range all {
		out[r] = outermostFirst(r, group)[0]
	}
	return out
}

// outermostFirst puts the row that leads the read first.
func outermostFirst(r *lineage.Read, group []*shownEntry) []*shownEntry {
	for _, o := range r.Observations {
		i := slices.IndexFunc(group, func(row *shownEntry) bool { return row.joins == o })
		if i >= 0 {
			out := append([]*shownEntry{group[i]}, group[:i]...)
			return append(out, group[i+1:]...)
		}
	}
	return group
}

// The columns that rows are completed in.
const (
	whatColumn   = 3
	statusColumn = 4
	systemColumn = 5
	seenByColumn = 9
	callColumn   = 10
)

func (o *observation) row(indent int) tableRow {
	sequence := ""
	if o.sequence > 0 {
		sequence = strconv.FormatUint(o.sequence, 10)
	}
	return tableRow{indent: indent, indented: eventColumn, cells: []string{
		sequence, o.occurredAt, o.event, o.what, o.status, o.system,
		o.request, o.result, o.capture, o.seenBy, o.toolCall,
	}}
}
