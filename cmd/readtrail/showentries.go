// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/readtrail/readtrail/journal"
)

// presenter shows what a filter let through.
type presenter interface {
	add(at position, e *journal.Entry, o *observation) error
	// end is called after the last entry. It returns how many lines it could not
	// read itself.
	end(sources []*journal.Source) (unreadable int, err error)
}

// entryLines prints entries as they are stored, one a line.
type entryLines struct {
	out      io.Writer
	terminal bool
}

func newEntryLines(con *console) *entryLines {
	_, terminal := terminalWidth(con.outFile)
	return &entryLines{out: con.out, terminal: terminal}
}

func (p *entryLines) add(_ position, e *journal.Entry, _ *observation) error {
	return p.write(e.Line)
}

func (p *entryLines) write(line []byte) error {
	if p.terminal {
		// Of equal value; a file or a pipe gets the stored bytes.
		line = escapeJSON(line)
	}
	_, err := fmt.Fprintf(p.out, "%s\n", line)
	return err
}

func (p *entryLines) end([]*journal.Source) (int, error) { return 0, nil }

func newShownEntry(at position, e *journal.Entry, o *observation) *shownEntry {
	s := &e.Header.Scope
	return &shownEntry{
		observation: o, position: at, journalID: e.Header.JournalID, organization: s.OrganizationRef,
		scope: s.OrganizationRef + "/" + s.RetentionClass,
	}
}

// gathered keeps the entries until all are known, since a read is shown with
// what stands anywhere in the journals.
type gathered struct {
	con    *console
	bodies bool
	rows   []*shownEntry
}

func (p *gathered) add(at position, e *journal.Entry, o *observation) error {
	row := newShownEntry(at, e, o)
	if p.bodies && o.joins != nil {
		row.body = bytes.Clone(e.Body)
	}
	p.rows = append(p.rows, row)
	return nil
}
