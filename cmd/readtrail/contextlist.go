// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/record"
)

func newContextListCommand(con *console) *cobra.Command {
	f := &contextFilter{}
	cmd := &cobra.Command{
		Use:   "list TARGET",
		Short: "List contexts, or the entries of one",
		Long: "List the contexts of a journal, without verifying it; with --context the entries of one. TARGET is\n" +
			"a root with journals, a journal, a segment, or segments joined in one file. readtrail show --kind\n" +
			"context_record --json prints the entries of the journal as they are stored.",
		Example: "  readtrail context list journal --execution run-7\n  readtrail context list journal --context ctx_1",
		Args:    arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := readContexts(con, args[0], f)
			if len(found) == 0 && err == nil {
				con.note("no context matches")
				return nil
			}
			t := contextTable(found)
			if f.context != "" {
				t = contextEntryTable(found)
			}
			width, _ := terminalWidth(con.outFile)
			if printErr := t.write(con.out, width); printErr != nil {
				return printErr
			}
			return err
		},
	}
	f.register(cmd)
	return cmd
}

func contextTable(found []*keptContext) *table {
	t := &table{columns: []column{
		{title: "SEQUENCE"},
		{title: "TIME", rank: 2},
		{title: "CONTEXT", least: 12},
		{title: "EXECUTION", least: 10, rank: 1},
		{title: "MODEL", least: 10},
		{title: "ENTRIES"},
		{title: "LEFT OUT", rank: 4},
		{title: "DIGEST", rank: 3},
		{title: "INPUT", rank: 5},
		{title: "CALLS", least: 10, rank: 6},
	}}
	for _, c := range found {
		model := c.Model.Response
		if model == "" {
			model = c.Model.Request
		}
		var calls []string
		for _, call := range c.ToolCallsRequested {
			calls = append(calls, call.ToolID)
		}
		t.rows = append(t.rows, tableRow{indented: -1, cells: []string{
			strconv.FormatUint(c.sequence, 10), milliseconds(c.OccurredAt), c.ContextID, c.Correlation.ExecutionID, model,
			strconv.Itoa(len(c.Entries)), leftOutText(c.Selection), strings.TrimSpace(string(c.ContextForm) + " " + shortDigest(c.ContextDigest)),
			inputText(c.Capture), strings.Join(calls, " "),
		}})
	}
	return t
}

func leftOutText(s *record.Selection) string {
	if s == nil || s.LeftOut == nil {
		return ""
	}
	return strconv.FormatInt(*s.LeftOut, 10)
}

func inputText(c *record.ContextCapture) string {
	if c == nil {
		return "given"
	}
	return string(c.Input)
}

func contextEntryTable(found []*keptContext) *table {
	t := &table{columns: []column{
		{title: "SEQUENCE", rank: 6},
		{title: "ENTRY", least: 10},
		{title: "OBJECT", least: 10},
		{title: "TYPE", least: 8},
		{title: "PROPERTY", least: 10},
		{title: "SIDE"},
		{title: "ORIGIN", least: 8},
		{title: "VALID", rank: 4},
		{title: "RECORDED", rank: 2},
		{title: "ONTOLOGY", rank: 5},
		{title: "DERIVED FROM", least: 12, rank: 3},
	}}
	for _, c := range found {
		for i := range c.Entries {
			e := &c.Entries[i]
			object := e.ObjectID
			if e.Pseudonym {
				object += " (pseudonym)"
			}
			t.rows = append(t.rows, tableRow{indented: -1, cells: []string{
				strconv.FormatUint(c.sequence, 10), e.EntryID, object, e.ObjectType, e.Property, string(e.Side), originText(e.Origin),
				milliseconds(e.ValidTime), milliseconds(e.RecordTime), e.OntologyVersion, strings.Join(e.DerivedFrom, " "),
			}})
		}
	}
	return t
}

func originText(o record.Origin) string {
	if o.Line == 0 {
		return o.Source
	}
	return o.Source + ":" + strconv.FormatInt(o.Line, 10)
}
