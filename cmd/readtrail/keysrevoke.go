// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newKeysRevokeCommand(con *console) *cobra.Command {
	var path, reason, at string
	var invalidFrom []string
	cmd := &cobra.Command{
		Use:   "revoke KEYID --keys FILE --reason TEXT",
		Short: "Take trust in a key away, from a time and from a sequence of each journal on",
		Long: "Take trust in a key away. What is revoked stays revoked: a second revocation can only take more away.\n\n" +
			"Entries of the key from --at on do not count, and in the journals of --invalid-from none from that\n" +
			"sequence on, whatever time they name: who has the key can date an entry back, but cannot go back in a\n" +
			"journal that others have seen.\n\n" +
			"A key id that begins with - stands behind --, after all options.",
		Example: "  readtrail keys revoke --keys keys.json --reason 'stolen with the host' --at 2027-03-01T00:00:00Z \\\n" +
			"    --invalid-from jrn_01M4G7X2Q0N5T8V3B6K9D1F4H7=4711 -- UDDReOZl1ipXAfp9wYsm13sDBMK5og--QWdBjzuf6o4",
		Args: arguments("KEYID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case path == "":
				return usagef(cmd, "--keys FILE is missing")
			case strings.TrimSpace(reason) == "":
				return usagef(cmd, "--reason TEXT is missing: the auditor reads it")
			}
			v := journal.Revocation{Reason: reason}
			if cmd.Flags().Changed("at") {
				t, err := parseSeconds(at)
				if err != nil {
					return usagef(cmd, "--at %q %w", at, err)
				}
				v.At = record.NewTime(t)
			}
			var err error
			if v.InvalidFromSequence, err = parseSequences(invalidFrom); err != nil {
				return usagef(cmd, "--invalid-from %w", err)
			}
			return revokeKey(con, path, args[0], v)
		},
	}
	registryFlag(cmd, &path)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the auditor")
	cmd.Flags().StringVar(&at, "at", "", "from when on, RFC 3339 in whole seconds (default now, or as it was)")
	cmd.Flags().StringArrayVar(&invalidFrom, "invalid-from", nil, "JOURNAL=SEQUENCE, the first entry that does not count; may be repeated")
	return cmd
}

func revokeKey(con *console, path, id string, v journal.Revocation) error {
	var key journal.Key
	err := changeRegistry(path, func(r *journal.Registry) error {
		if before, found := r.Key(id); found && v.At.IsZero() {
			v.At = before.RevokedAt
		}
		if v.At.IsZero() {
			v.At = record.NewTime(time.Now().Truncate(time.Second))
		}
		if err := r.Revoke(id, v); err != nil {
			return err
		}
		key, _ = r.Key(id)
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "key_id: %s\nrevoked_at: %s\nrevocation_reason: %s\n", key.ID, seconds(key.RevokedAt), escape(key.RevocationReason))
	for _, journalID := range slices.Sorted(maps.Keys(key.InvalidFromSequence)) {
		fmt.Fprintf(con.out, "invalid_from_sequence: %s=%d\n", escape(journalID), key.InvalidFromSequence[journalID])
	}
	fmt.Fprintf(con.out, "\nGive %s to everybody who verifies. A collector that still signs with the key must get another: readtrail keys rotate.\n", escape(path))
	if len(key.InvalidFromSequence) == 0 {
		fmt.Fprintln(con.out, "No --invalid-from was given: an entry that is dated back before revoked_at is still trusted, unless a checkpoint outside proves its time.")
	}
	return nil
}

// parseSequences reads JOURNAL=SEQUENCE of each journal once.
func parseSequences(texts []string) (map[string]uint64, error) {
	sequences := map[string]uint64{}
	for _, text := range texts {
		cut := strings.LastIndexByte(text, '=')
		if cut <= 0 {
			return nil, fmt.Errorf("%q is not JOURNAL=SEQUENCE", text)
		}
		n, err := strconv.ParseUint(text[cut+1:], 10, 64)
		if err != nil || n == 0 || n > record.MaxInteger {
			return nil, fmt.Errorf("%q does not end in a sequence from 1 to 2^53-1", text)
		}
		journalID := text[:cut]
		if _, twice := sequences[journalID]; twice {
			return nil, errors.New("names journal " + journalID + " twice")
		}
		sequences[journalID] = n
	}
	return sequences, nil
}
