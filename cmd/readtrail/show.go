// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// defaultRows bounds a table, which is laid out as a whole.
const defaultRows = 1000

func newShowCommand(con *console) *cobra.Command {
	var asJSON, joined bool
	var limit uint
	f := &filter{}
	cmd := &cobra.Command{
		Use:   "show TARGET",
		Short: "Show entries of a journal, without verifying them",
		Long: "Show entries of a journal, without verifying them. TARGET is a root with journals, a\n" +
			"journal, a segment, or segments joined in one file.\n\n" +
			"The table puts the observations of one read together: the outermost leads, the others are\n" +
			"indented, and beneath them stands what the read touched in databases and elsewhere. So it\n" +
			"does with the plan, the approvals and the attempts of one action; one that no entry ended\n" +
			"may have gone out. --json prints the entries as they are stored, one a line; --joined --json\n" +
			"prints one object a read or action, which is a reading of the entries and no evidence.",
		Example: "  readtrail show journal --tool-call call_syn_0193_02\n  readtrail show journal --action act_1\n  readtrail show journal --sequence 10-20 --json",
		Args:    arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(cmd); err != nil {
				return err
			}
			if joined && !asJSON {
				return usagef(cmd, "--joined needs --json: the table is joined anyway")
			}
			if asJSON && !joined && !cmd.Flags().Changed("limit") {
				limit = 0 // lines are printed as they are read
			}
			var p presenter = &entryTable{gathered: gathered{con: con}}
			switch {
			case joined:
				p = newJoinedLines(con)
			case asJSON:
				p = newEntryLines(con)
			}
			return show(con, args[0], f, limit, p)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	f.registerNames(flags)
	flags.UintVar(&limit, "limit", defaultRows, "show at most so many entries, 0 for all; --json shows all unless told")
	flags.BoolVar(&asJSON, "json", false, "print the stored entries, one a line")
	flags.BoolVar(&joined, "joined", false, "with --json: print one object a read or action, with its observations and effects, or its approvals and attempts")
	return cmd
}

func show(con *console, target string, f *filter, limit uint, p presenter) error {
	sources, err := journal.Open(target)
	if len(sources) == 0 {
		return err
	}
	leftOut, partly := errors.AsType[*journal.LeftOutError](err)
	con.note("unverified: run readtrail verify")
	s := &selection{filter: f, limit: limit}
	for i, source := range sources {
		if err := s.read(i, source, p); err != nil {
			return err
		}
		if s.more {
			con.note("more entries match: narrow the selection or raise --limit %d", limit)
			break
		}
	}
	if s.shown == 0 {
		con.note("no entry matches")
	}
	unreadable, err := p.end(sources)
	if err != nil {
		return err
	}
	unreadable = max(unreadable, s.unreadable)
	if partly {
		for _, problem := range leftOut.Problems {
			con.note("readtrail: %v", problem)
		}
	}
	if unreadable > 0 {
		return fmt.Errorf("%s: %s could not be read as entries and are not shown: run readtrail verify", target, count(unreadable, "line"))
	}
	if partly {
		return verdict(exitUnchecked)
	}
	return nil
}

// selection reads the entries that a filter lets through, up to a limit over
// all journals.
type selection struct {
	filter *filter
	limit  uint

	shown      uint
	more       bool
	unreadable int
}

func (s *selection) read(number int, source *journal.Source, p presenter) error {
	// beside are the audit events that were let through: what the journal says of
	// them stands behind them, and comes with them.
	beside := map[string]bool{}
	for line, err := range source.Lines() {
		if err != nil {
			return fmt.Errorf("%s: %w", source.Path, err)
		}
		e, err := journal.ParseLine(line.Bytes)
		if err != nil || line.Torn {
			s.unreadable++
			continue
		}
		if !s.filter.matchesEntry(e) {
			continue
		}
		o := observe(e)
		if !s.filter.matchesBody(o) && !beside[o.ofEvent] {
			continue
		}
		if s.limit > 0 && s.shown == s.limit {
			s.more = true
			return nil
		}
		s.shown++
		if e.Kind == record.KindAuditEvent && o.eventID != "" {
			beside[o.eventID] = true
		}
		if err := p.add(position{number, line.Segment, line.Offset}, e, o); err != nil {
			return err
		}
	}
	return nil
}
