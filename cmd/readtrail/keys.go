// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/cobra"

func newKeysCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make, rotate and revoke signing keys, and look at a registry of trusted keys",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newKeysNewCommand(con), newKeysRotateCommand(con), newKeysRevokeCommand(con), newKeysBeginCommand(con), newKeysListCommand(con))
	return cmd
}
