// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/contexts"
)

func newContextOriginCommand(con *console) *cobra.Command {
	f := &contextFilter{}
	var entry string
	cmd := &cobra.Command{
		Use:   "origin TARGET --execution ID --entry ID",
		Short: "Follow a summary back to the entries that it comes from",
		Long: "Follow derived_from of an entry, through summaries of summaries, to the entries that it comes from in\n" +
			"the end.\n\n" +
			"Exit codes: 0 all of them are known; 2 some are in no context of the execution, or derived from\n" +
			"themselves, or not all of the journal could be read; 64 the command line is wrong.",
		Example: "  readtrail context origin journal --execution run-7 --entry s1",
		Args:    arguments("TARGET"),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := readContexts(con, args[0], &contextFilter{execution: f.execution})
			return showOrigin(con, found, entry, err)
		},
	}
	cmd.Flags().StringVar(&entry, "entry", "", "the id of an entry")
	f.register(cmd, "execution", "entry")
	return cmd
}

func showOrigin(con *console, found []*keptContext, entry string, unread error) error {
	t := &table{columns: []column{
		{title: "ENTRY", least: 10},
		{title: "IS"},
		{title: "OBJECT", least: 10},
		{title: "TYPE", least: 8},
		{title: "PROPERTY", least: 10},
		{title: "ORIGIN", least: 8},
		{title: "RECORDED", rank: 1},
		{title: "SEQUENCE", rank: 2},
	}}
	known, lost := false, 0
	for _, x := range executionsOf(found) {
		if !x.shown(entry) {
			continue
		}
		known = true
		origins := contexts.OriginsOf(entry, x.derivedFrom)
		for _, id := range origins.Originals {
			e := x.entries[id][0]
			t.rows = append(t.rows, tableRow{indented: -1, cells: []string{
				id, "original", e.ObjectID, e.ObjectType, e.Property, originText(e.Origin), milliseconds(e.RecordTime), strconv.FormatUint(e.in.sequence, 10),
			}})
		}
		for _, id := range origins.Unknown {
			t.rows = append(t.rows, lostRow(id, "in no context"))
		}
		for _, id := range origins.Circular {
			t.rows = append(t.rows, lostRow(id, "derived from itself"))
		}
		lost += len(origins.Unknown) + len(origins.Circular)
	}
	if known {
		width, _ := terminalWidth(con.outFile)
		if err := t.write(con.out, width); err != nil {
			return err
		}
	}
	switch {
	case unread != nil:
		return unread
	case !known:
		return fmt.Errorf("entry %s is in no context of the execution", entry)
	case lost > 0:
		return fmt.Errorf("%s that %s is derived from could not be followed", count(lost, "entry"), entry)
	}
	return nil
}

func lostRow(id, why string) tableRow {
	return tableRow{indented: -1, cells: []string{id, why, "", "", "", "", "", ""}}
}
