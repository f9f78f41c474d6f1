// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/contexts"
	"github.com/readtrail/readtrail/record"
)

func newContextClaimsCommand(con *console) *cobra.Command {
	f := &contextFilter{}
	cmd := &cobra.Command{
		Use:   "claims TARGET --execution ID",
		Short: "Show which claims of an execution are supported by its contexts",
		Long: "Show the claims of an execution. A claim is supported if it cites an entry, and if each entry that it\n" +
			"cites stands in a context of the execution, of the same organization. That the model read the entries\n" +
			"rightly is another question.\n\n" +
			"Exit codes: 0 every claim is supported, or there is none; 1 a claim is unsupported; 2 not all of the\n" +
			"journal could be read; 64 the command line is wrong. The journal itself is not verified: run\n" +
			"readtrail verify.",
		Example: "  readtrail context claims journal --execution run-7",
		Args:    arguments("TARGET"),
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := readContexts(con, args[0], &contextFilter{execution: f.execution})
			if len(found) == 0 && err == nil {
				con.note("no context matches")
			}
			return showClaims(con, found, f.context, err)
		},
	}
	f.register(cmd, "execution")
	return cmd
}

// showClaims prints the claims of executions, or those of one context alone.
func showClaims(con *console, found []*keptContext, ofContext string, unread error) error {
	t := &table{columns: []column{
		{title: "SEQUENCE", rank: 1},
		{title: "CONTEXT", least: 12, rank: 2},
		{title: "CLAIM", least: 8},
		{title: "VERDICT"},
		{title: "CITES", least: 12},
		{title: "WHY", least: 12},
	}}
	unsupported := false
	for _, x := range executionsOf(found) {
		for _, c := range x.contexts {
			if ofContext != "" && c.ContextID != ofContext {
				continue
			}
			for i := range c.Claims {
				claim := &c.Claims[i]
				says := "supported"
				if !contexts.Supported(claim.EntryIDs, x.shown) {
					says, unsupported = "unsupported", true
				}
				t.rows = append(t.rows, tableRow{indented: -1, cells: []string{
					strconv.FormatUint(c.sequence, 10), c.ContextID, claim.ClaimID, says, strings.Join(claim.EntryIDs, " "), whyUnsupported(claim, x),
				}})
			}
		}
	}
	if len(t.rows) == 0 {
		con.note("no context names a claim")
	} else {
		width, _ := terminalWidth(con.outFile)
		if err := t.write(con.out, width); err != nil {
			return err
		}
	}
	switch {
	case unread != nil:
		return unread
	case unsupported:
		return verdict(exitOther)
	}
	return nil
}

func whyUnsupported(claim *record.Claim, x *execution) string {
	if len(claim.EntryIDs) == 0 {
		return "cites nothing"
	}
	if missing := contexts.Unsupported(claim.EntryIDs, x.shown); len(missing) > 0 {
		return "in no context of the execution: " + strings.Join(missing, " ")
	}
	return ""
}
