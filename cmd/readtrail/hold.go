// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newHoldCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hold",
		Short: "Set, lift and list the legal holds of a journal",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(
		newHoldChangeCommand(con, "set", "Set a legal hold: nothing of the journal is pruned until it is lifted", record.EventHoldSet, writer.SetHold),
		newHoldChangeCommand(con, "lift", "Lift a legal hold", record.EventHoldLifted, writer.LiftHold),
		newHoldListCommand(con),
	)
	return cmd
}

// oneJournal returns the only journal of a target.
func oneJournal(target string) (*journal.Source, error) {
	sources, err := journal.Open(target)
	if err != nil {
		return nil, err
	}
	if len(sources) != 1 || sources[0].Path == sources[0].Segments[0].Path {
		return nil, fmt.Errorf("%s is not the directory of one journal; name one", target)
	}
	return sources[0], nil
}

func newHoldChangeCommand(con *console, name, short, eventType string, change func(writer, context.Context, control.HoldRequest) (journal.Receipt, error)) *cobra.Command {
	var o operation
	var hold record.Hold
	cmd := &cobra.Command{
		Use:     name + " JOURNAL --id ID",
		Short:   short,
		Long:    short + ".\nThe journal says so itself, in an entry of its own.\n\n" + operationHelp,
		Example: "  readtrail hold " + name + " journal/bank_eu/kyc/reads --id case-7 --reason \"litigation, file 7\"",
		Args:    arguments("JOURNAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			hold.RequestedBy = o.requestedBy
			if err := ledger.CheckHold(hold); err != nil {
				return usagef(cmd, "%w", err)
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			return changeHold(ctx, con, &o, args[0], eventType, hold, change)
		},
	}
	o.add(cmd.Flags())
	cmd.Flags().StringVar(&hold.HoldID, "id", "", "what names the hold: letters, digits and ._:/@#+=-")
	cmd.Flags().StringVar(&hold.Reason, "reason", "", "why, as it stands in the journal")
	return cmd
}

func changeHold(ctx context.Context, con *console, o *operation, target, eventType string, hold record.Hold,
	change func(writer, context.Context, control.HoldRequest) (journal.Receipt, error),
) (err error) {
	source, err := oneJournal(target)
	if err != nil {
		return err
	}
	id, err := ledger.JournalID(durable.OS{}, source.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", source.Path, err)
	}
	w, end, err := o.reach(ctx, source.Path, id)
	if err != nil {
		return err
	}
	receipt, err := change(w, ctx, control.HoldRequest{JournalID: id, Hold: hold})
	if err == nil {
		// Who answers on a socket is not who signs: only the journal itself says it.
		err = ledger.ConfirmHold(durable.OS{}, source.Path, receipt, eventType, hold)
		if errors.Is(err, ledger.ErrUnconfirmed) {
			err = fmt.Errorf("%w: whoever was asked says so, but nothing shows that it is true; find out who listens on %s", err, control.SocketName)
		}
	}
	if closeErr := end(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", source.Path, err)
	}
	fmt.Fprintf(con.out, "journal: %s\nhold_id: %s\nsequence: %d\nevent_id: %s\n", escape(id), escape(hold.HoldID), receipt.Sequence, escape(receipt.EventID))
	return nil
}

// heldJournal is a journal and its holds, as hold list prints them.
type heldJournal struct {
	JournalID string        `json:"journal_id"`
	Path      string        `json:"path"`
	Holds     []record.Hold `json:"holds"`
}

func newHoldListCommand(con *console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list TARGET",
		Short: "List the legal holds that are set",
		Long: "Read every entry of the journals of TARGET, and list the legal holds that are set and not lifted.\n" +
			"Nothing is verified: run readtrail verify for that.",
		Example: "  readtrail hold list journal",
		Args:    arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sources, err := journal.Open(args[0])
			if err != nil {
				return err
			}
			return listHolds(cmd.Context(), con, sources, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func listHolds(ctx context.Context, con *console, sources []*journal.Source, asJSON bool) error {
	document := struct {
		Journals []heldJournal `json:"journals"`
	}{[]heldJournal{}}
	t := &table{columns: []column{{title: "HOLD"}, {title: "REQUESTED BY", least: 8}, {title: "REASON", least: 8}, {title: "JOURNAL", least: 8}}}
	for _, source := range sources {
		if source.Path == source.Segments[0].Path {
			return fmt.Errorf("%s is a file; name the directory of a journal", source.Path)
		}
		id, err := ledger.JournalID(durable.OS{}, source.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", source.Path, err)
		}
		s, err := ledger.ReadStanding(ctx, durable.OS{}, source.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", source.Path, err)
		}
		document.Journals = append(document.Journals, heldJournal{id, source.Path, append([]record.Hold{}, s.Holds...)})
		for _, h := range s.Holds {
			t.rows = append(t.rows, tableRow{cells: []string{h.HoldID, h.RequestedBy, h.Reason, source.Path}})
		}
	}
	if asJSON {
		return writeJSON(con.out, document)
	}
	con.note("unverified: run readtrail verify")
	if len(t.rows) == 0 {
		fmt.Fprintln(con.out, "no legal hold is set")
		return nil
	}
	width, _ := terminalWidth(con.outFile)
	return t.write(con.out, width)
}
