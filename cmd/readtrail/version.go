// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newVersionCommand(con *console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program and of the entries it understands",
		Args:  arguments(),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(con.out, "%s (entries %s, %s)\n", strings.Replace(journal.VerifierVersion, "/", " ", 1), record.SchemaVersion, runtime.Version())
			return nil
		},
	}
}
