// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/readtrail/readtrail/journal"
)

// entryLines prints entries as they are stored, one a line.
type entryLines struct {
	out      io.Writer
	terminal bool
}

func newEntryLines(con *console) *entryLines {
	_, terminal := terminalWidth(con.outFile)
	return &entryLines{out: con.out, terminal: terminal}
}

func (p *entryLines) add(e *journal.Entry, _ *observation) error {
	line := e.Line
	if p.terminal {
		// Of equal value; a file or a pipe gets the stored bytes.
		line = escapeJSON(line)
	}
	_, err := fmt.Fprintf(p.out, "%s\n", line)
	return err
}

func (p *entryLines) end(string) error { return nil }

// entryTable shows the entries of each journal as a table.
type entryTable struct {
	con     *console
	several bool
	// printed says that a table stands above this one.
	printed bool
	rows    []*observation
	journal string
}

// entryColumns are in the order of the table; a terminal that is too narrow
// loses the highest rank first.
var entryColumns = []column{
	{title: "SEQUENCE"},
	{title: "TIME", rank: 1},
	{title: "EVENT"},
	{title: "WHAT", least: 16},
	{title: "STATUS"},
	{title: "SYSTEM", least: 10, rank: 3},
	{title: "REQUEST", rank: 5},
	{title: "RESULT", rank: 4},
	{title: "CAPTURE", rank: 6},
	{title: "SEEN BY", least: 8, rank: 7},
	{title: "CALL", least: 10, rank: 2},
}

// eventColumn is the one that shows by its indent what belongs together.
const eventColumn = 2

func (p *entryTable) add(e *journal.Entry, o *observation) error {
	p.journal = e.Header.JournalID
	p.rows = append(p.rows, o)
	return nil
}

func (p *entryTable) end(path string) error {
	if len(p.rows) == 0 {
		return nil
	}
	if p.printed {
		fmt.Fprintln(p.con.out)
	}
	if p.several {
		fmt.Fprintf(p.con.out, "journal: %s (%s)\n", escape(p.journal), escape(path))
	}
	t := &table{columns: entryColumns}
	for _, j := range join(p.rows) {
		t.rows = append(t.rows, j.head.row(0))
		for _, o := range j.others {
			t.rows = append(t.rows, o.row(2))
		}
	}
	p.rows, p.printed = nil, true
	width, _ := terminalWidth(p.con.outFile)
	return t.write(p.con.out, width)
}

func (o *observation) row(indent int) tableRow {
	return tableRow{indent: indent, indented: eventColumn, cells: []string{
		strconv.FormatUint(o.sequence, 10), o.occurredAt, o.event, o.what, o.status, o.system,
		o.request, o.result, o.capture, o.seenBy, o.toolCall,
	}}
}
