// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/journal"
)

func newArchiveCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Keep journals in an S3 bucket with Object Lock, and get them back",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newArchivePushCommand(con), newArchiveStatusCommand(con), newArchiveRestoreCommand(con))
	return cmd
}

// bucketHelp ends the help of every command that talks to a bucket.
const bucketHelp = "The bucket is s3://BUCKET/PREFIX. Credentials and region come from the default chain of the AWS SDK\n" +
	"(AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION and so on)."

// bucketFlags say how a bucket is reached.
type bucketFlags struct {
	endpoint, region string
	pathStyle        bool
	timeout          time.Duration
}

func (f *bucketFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "endpoint", "", "the URL of an S3 server other than that of AWS")
	flags.StringVar(&f.region, "region", "", "the region of the bucket")
	flags.BoolVar(&f.pathStyle, "path-style", false, "address the bucket in the path, not in the host name")
	flags.DurationVar(&f.timeout, "timeout", archive.DefaultTimeout, "how long a call may take that moves no segment")
}

func (f *bucketFlags) open(ctx context.Context, address string) (*archive.Bucket, error) {
	bucket, prefix, err := archive.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return archive.Open(ctx, archive.Settings{
		Bucket: bucket, Prefix: prefix, Endpoint: f.endpoint, Region: f.region, PathStyle: f.pathStyle, Timeout: f.timeout,
	})
}

// openTarget finds the journals of a target, which may be an archive. It also
// returns what an auditor has to know about that.
func (f *bucketFlags) openTarget(ctx context.Context, target string) (sources []*journal.Source, notes []string, err error) {
	if !strings.HasPrefix(target, archive.Scheme) {
		sources, err = journal.Open(target)
		return sources, nil, err
	}
	bucket, err := f.open(ctx, target)
	if err != nil {
		return nil, nil, err
	}
	return bucket.Sources(ctx)
}

// readCheckpoints reads checkpoints from directories, files and buckets. It also
// returns what could not be read: one place that fails keeps no other from being read.
func (f *bucketFlags) readCheckpoints(ctx context.Context, places []string, registry *journal.Registry, policy *journal.Policy) (*journal.Checkpoints, []error) {
	var paths, buckets []string
	for _, place := range places {
		if strings.HasPrefix(place, archive.Scheme) {
			buckets = append(buckets, place)
		} else {
			paths = append(paths, place)
		}
	}
	checkpoints := journal.ReadCheckpoints(paths, registry, policy)
	var failed []error
	for _, address := range buckets {
		bucket, err := f.open(ctx, address)
		if err == nil {
			err = checkpoints.Add(address, bucket.Checkpoints(ctx))
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return checkpoints, append(checkpoints.Problems(), failed...)
}
