// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

func newCheckpointCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkpoint",
		Short: "Show checkpoints, and the keys that witnesses are told",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newCheckpointShowCommand(con), newCheckpointKeyCommand(con))
	return cmd
}

// readCheckpoint reads a signed note from a file.
func readCheckpoint(path string) (*journal.SignedCheckpoint, error) {
	text, err := durable.ReadWhole(durable.OS{}, path, journal.MaxCheckpointBytes)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	c, err := journal.ParseCheckpoint(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func newCheckpointKeyCommand(con *console) *cobra.Command {
	var keys string
	cmd := &cobra.Command{
		Use:   "key JOURNAL_ID --keys FILE",
		Short: "Print the verifier keys under which a witness knows a journal",
		Long: "Print the keys of a registry as verifier keys of signed notes (c2sp.org/signed-note) under the name of a\n" +
			"journal, one a line. A witness that is told them takes the journal's checkpoints: the origin is the\n" +
			"journal id. Revoked keys are left out.",
		Example: "  readtrail checkpoint key jrn_01M4G7X2Q0N5T8V3B6K9D1F4H7 --keys keys.json",
		Args:    arguments("JOURNAL_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keys == "" {
				return usagef(cmd, "--keys FILE is missing")
			}
			registry, err := journal.ReadRegistry(keys)
			if err != nil {
				return err
			}
			printed := 0
			for _, k := range registry.Keys() {
				if !k.RevokedAt.IsZero() {
					continue
				}
				vkey, err := journal.CheckpointKey(args[0], k.PublicKey)
				if err != nil {
					return usagef(cmd, "%q is not the id of a journal", args[0])
				}
				fmt.Fprintln(con.out, vkey)
				printed++
			}
			if printed == 0 {
				return errors.New(keys + " has no key that is not revoked")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&keys, "keys", "", "the registry of trusted keys, keys.json")
	return cmd
}
