// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"
)

func newContextCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "context",
		Short: "Read what went into model calls, and check it against the source",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(
		newContextListCommand(con),
		newContextDigestCommand(con),
		newContextOriginCommand(con),
		newContextClaimsCommand(con),
	)
	return cmd
}

// contextFilter says which context records are read.
type contextFilter struct{ execution, context string }

func (f *contextFilter) matches(c *keptContext) bool {
	return (f.execution == "" || f.execution == c.Correlation.ExecutionID) && (f.context == "" || f.context == c.ContextID)
}

// register makes the flags. Those that are named are required.
func (f *contextFilter) register(cmd *cobra.Command, required ...string) {
	cmd.Flags().StringVar(&f.execution, "execution", "", "an execution id")
	cmd.Flags().StringVar(&f.context, "context", "", "a context id")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range required {
			if !cmd.Flags().Changed(name) {
				return usagef(cmd, "--%s is missing", name)
			}
		}
		for _, name := range []string{"execution", "context", "entry", "source"} {
			if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed && flag.Value.String() == "" {
				return usagef(cmd, "--%s is empty", name)
			}
		}
		return nil
	}
}
