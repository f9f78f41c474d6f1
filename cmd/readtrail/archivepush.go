// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/archive"
)

func newArchivePushCommand(con *console) *cobra.Command {
	run := &archiveRun{con: con, store: true}
	cmd := newArchiveWalk(run)
	cmd.Use = "push DIR s3://BUCKET/PREFIX --keep CLASS=DAYS"
	cmd.Short = "Store sealed segments, tiles and checkpoints, locked"
	cmd.Long = "Store every sealed segment of the journals below DIR that the archive does not hold, with a lock, and\n" +
		"make sure of all of them: digest, mode and date are read back from the server. The segment that is\n" +
		"written to is never stored. Full tiles go too, and checkpoints with --checkpoints. Nothing is\n" +
		"overwritten or deleted. Interrupted, it is run again.\n\n" +
		"A lock in COMPLIANCE mode cannot be undone before its date, by nobody.\n\n" + bucketHelp + "\n\n" +
		"Exit codes: 0 every sealed segment is archived; 2 not; 64 the command line is wrong."
	cmd.Example = "  readtrail archive push journal s3://evidence/readtrail --keep kyc_10y=3660"
	cmd.Flags().StringVar(&run.checkpoints, "checkpoints", "", "a directory of checkpoints, each journal's in one named by its id")
	return cmd
}

func newArchiveStatusCommand(con *console) *cobra.Command {
	cmd := newArchiveWalk(&archiveRun{con: con})
	cmd.Use = "status DIR s3://BUCKET/PREFIX --keep CLASS=DAYS"
	cmd.Short = "Say how far the archive of journals is"
	cmd.Long = "Say of every sealed segment of the journals below DIR whether the archive holds the same bytes and\n" +
		"whether the server locks them as demanded. Nothing is stored or changed.\n\n" + bucketHelp + "\n\n" +
		"Exit codes: 0 every sealed segment is archived; 2 not; 64 the command line is wrong."
	cmd.Example = "  readtrail archive status journal s3://evidence/readtrail --keep kyc_10y=3660"
	return cmd
}

// newArchiveWalk is what push and status have in common.
func newArchiveWalk(run *archiveRun) *cobra.Command {
	var bucket bucketFlags
	var policy policyFlags
	cmd := &cobra.Command{
		Args: arguments("DIR", "s3://BUCKET/PREFIX"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := policy.policy(cmd)
			if err != nil {
				return err
			}
			b, err := bucket.open(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			run.target = args[0]
			if run.archive, err = archive.New(b, p); err != nil {
				return err
			}
			return run.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	bucket.add(flags)
	policy.add(flags)
	flags.BoolVar(&run.asJSON, "json", false, "print one JSON document")
	return cmd
}
