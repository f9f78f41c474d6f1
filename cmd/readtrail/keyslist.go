// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

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
	registryFlag(cmd, &path)
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
	if err := t.write(con.out, width); err != nil {
		return err
	}
	return listSequences(con, registry, width)
}

// listSequences shows where in which journals keys begin and lose their trust.
func listSequences(con *console, registry *journal.Registry, width int) error {
	t := &table{columns: []column{{title: "KEY ID"}, {title: "JOURNAL"}, {title: "FIRST SEQUENCE"}, {title: "INVALID FROM"}}}
	for _, k := range registry.Keys() {
		journals := maps.Clone(k.FirstSequence)
		if journals == nil {
			journals = map[string]uint64{}
		}
		maps.Copy(journals, k.InvalidFromSequence)
		for _, id := range slices.Sorted(maps.Keys(journals)) {
			t.rows = append(t.rows, tableRow{cells: []string{k.ID, id, sequence(k.FirstSequence[id]), sequence(k.InvalidFromSequence[id])}})
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	fmt.Fprintln(con.out)
	return t.write(con.out, width)
}

// sequence shows a sequence of a registry; none is 0.
func sequence(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
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
