// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
)

func newKeysBeginCommand(con *console) *cobra.Command {
	var path string
	var first []string
	cmd := &cobra.Command{
		Use:   "begin KEYID --keys FILE --first-sequence JOURNAL=SEQUENCE",
		Short: "Say where in a journal a key begins, so that it needs no bridge there",
		Long: "Say at which sequence of a journal a key begins to sign. Between two keys a journal has a bridge: an\n" +
			"entry of the outgoing key names the incoming one. Where the outgoing key was revoked before that entry,\n" +
			"the bridge proves nothing, and the owner of the registry says where the new key begins.\n\n" +
			"A key id that begins with - stands behind --, after all options.",
		Example: "  readtrail keys begin --keys keys.json --first-sequence jrn_01M4G7X2Q0N5T8V3B6K9D1F4H7=4712 -- UDDReOZl1ipXAfp9wYsm13sDBMK5og--QWdBjzuf6o4",
		Args:    arguments("KEYID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if path == "" {
				return usagef(cmd, "--keys FILE is missing")
			}
			sequences, err := parseSequences(first)
			switch {
			case err != nil:
				return usagef(cmd, "--first-sequence %w", err)
			case len(sequences) == 0:
				return usagef(cmd, "--first-sequence JOURNAL=SEQUENCE is missing")
			}
			return beginKey(con, path, args[0], sequences)
		},
	}
	registryFlag(cmd, &path)
	cmd.Flags().StringArrayVar(&first, "first-sequence", nil, "JOURNAL=SEQUENCE, the first entry of the key; may be repeated")
	return cmd
}

func beginKey(con *console, path, id string, sequences map[string]uint64) error {
	journals := slices.Sorted(maps.Keys(sequences))
	err := changeRegistry(path, func(r *journal.Registry) error {
		for _, journalID := range journals {
			if err := r.Begin(id, journalID, sequences[journalID]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "key_id: %s\n", id)
	for _, journalID := range journals {
		fmt.Fprintf(con.out, "first_sequence: %s=%d\n", escape(journalID), sequences[journalID])
	}
	fmt.Fprintf(con.out, "\nGive %s to everybody who verifies.\n", escape(path))
	return nil
}
