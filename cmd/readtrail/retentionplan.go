// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

const retentionHelp = "A journal is pruned from its beginning only, by whole sealed segments, when the youngest entry of a\n" +
	"segment was recorded at least as many days ago as --keep says for the journal's retention class, no\n" +
	"legal hold is set, and a checkpoint in --checkpoints covers it and is that of the journal."

func newRetentionPlanCommand(con *console) *cobra.Command {
	r := &retentionRun{con: con}
	cmd := &cobra.Command{
		Use:   "plan DIR --keep CLASS=DAYS --checkpoints DIR",
		Short: "Say what would go of each journal, and why the rest stays",
		Long: "Say what would go of each journal below DIR, and why the rest stays. Nothing is changed, and a\n" +
			"collector may be running.\n\n" + retentionHelp + "\n\n" +
			"Exit codes: 0 planned; 2 something could not be read or does not match; 64 the command line is wrong.",
		Example: "  readtrail retention plan journal --keep kyc=3650 --checkpoints checkpoints",
		Args:    arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.prepare(cmd); err != nil {
				return err
			}
			return r.run(cmd.Context(), args[0])
		},
	}
	r.flags.add(cmd.Flags())
	return cmd
}

func newRetentionApplyCommand(con *console) *cobra.Command {
	r := &retentionRun{con: con, operation: &operation{}}
	cmd := &cobra.Command{
		Use:   "apply DIR --keep CLASS=DAYS --checkpoints DIR",
		Short: "Remove what may go of each journal, after saying so in it",
		Long: "Plan as `readtrail retention plan` does and do it. A journal.pruned entry is durable before the first\n" +
			"segment is removed; a legal hold that is set before that entry wins over the plan. Interrupted, it is\n" +
			"run again: what was announced and not removed goes then, or when the collector starts.\n\n" + retentionHelp + "\n\n" +
			operationHelp + "\n\n" +
			"Exit codes: 0 done, also if there was nothing to do; 2 not all of it; 64 the command line is wrong.",
		Example: "  readtrail retention apply journal --keep kyc=3650 --checkpoints checkpoints",
		Args:    arguments("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.operation.check(cmd); err != nil {
				return err
			}
			if err := r.prepare(cmd); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			return r.run(ctx, args[0])
		},
	}
	r.flags.add(cmd.Flags())
	r.operation.add(cmd.Flags())
	return cmd
}
