// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newKeysListCommand(con *console) *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list --keys FILE",
		Short:   "List the keys of a registry",
		Example: "  readtrail keys list --keys keys.json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usagef(cmd, "--keys FILE is missing")
			}
			registry, err := journal.ReadRegistry(path)
			if err != nil {
				return err
			}
			if asJSON {
				return writeRegistry(con, registry)
			}
			return listKeys(con, registry)
		},
	}
	cmd.Flags().StringVar(&path, "keys", "", "the registry, keys.json")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the registry as JSON")
	return cmd
}

func listKeys(con *console, registry *journal.Registry) error {
	t := &table{columns: []column{
		{title: "KEY ID"}, {title: "VALID FROM"}, {title: "VALID UNTIL"}, {title: "REVOKED"}, {title: "REASON", least: 8},
	}}
	for _, k := range registry.Keys() {
		t.rows = append(t.rows, tableRow{cells: []string{
			k.ID, seconds(k.ValidFrom), seconds(k.ValidUntil), seconds(k.RevokedAt), k.RevocationReason,
		}})
	}
	width, _ := terminalWidth(con.outFile)
	return t.write(con.out, width)
}

func writeRegistry(con *console, registry *journal.Registry) error {
	text, err := registry.Marshal()
	if err != nil {
		return err
	}
	if _, err := con.out.Write(escapeJSON(text)); err != nil {
		return fmt.Errorf("print registry: %w", err)
	}
	return nil
}

// seconds shows a time of a registry in full, but for a fraction of zero.
func seconds(t record.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Std().Format("2006-01-02T15:04:05.999999999Z07:00")
}
