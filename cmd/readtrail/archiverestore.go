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

func newArchiveRestoreCommand(con *console) *cobra.Command {
	var bucket bucketFlags
	cmd := &cobra.Command{
		Use:   "restore s3://BUCKET/PREFIX DIR",
		Short: "Write what an archive holds to a directory",
		Long: "Write what an archive holds below DIR: ORGANIZATION/CLASS/KIND/JOURNAL/ with the segments, and\n" +
			"checkpoints/ and tiles/ below. The oldest version of each object is taken, whatever was put over it,\n" +
			"and its digest is checked. No file is overwritten. Interrupted, it is run again. Then run\n" +
			"readtrail verify DIR.\n\n" + bucketHelp,
		Example: "  readtrail archive restore s3://evidence/readtrail restored",
		Args:    arguments("s3://BUCKET/PREFIX", "DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := bucket.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			copies, notes, err := b.Copies(cmd.Context())
			for _, note := range notes {
				con.note("readtrail: %s", note)
			}
			if err == nil && len(copies) == 0 {
				err = fmt.Errorf("%w in %s", journal.ErrNoJournal, b)
			}
			if err != nil {
				return err
			}
			var errs []error
			for _, c := range copies {
				done, err := b.Restore(cmd.Context(), durable.OS{}, args[1], c)
				errs = append(errs, err)
				line := func(name string, value any) { fmt.Fprintf(con.out, "%s: %s\n", name, escape(fmt.Sprint(value))) }
				line("journal", done.JournalID)
				line("path", done.Dir)
				line("files_written", done.Files)
				line("files_present", done.Present)
				line("bytes_written", done.Bytes)
			}
			return errors.Join(errs...)
		},
	}
	bucket.add(cmd.Flags())
	return cmd
}
