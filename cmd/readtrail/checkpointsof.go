// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
)

// checkCheckpoints refuses a directory that is not there: a disk that is not mounted is
// not one without checkpoints.
func (f *retentionFlags) checkCheckpoints() error {
	if f.checkpoints == "" || strings.HasPrefix(f.checkpoints, archive.Scheme) {
		return nil
	}
	info, err := os.Stat(f.checkpoints)
	why := "is no directory"
	switch {
	case err == nil && info.IsDir():
		return nil
	case errors.Is(err, fs.ErrNotExist):
		why = "does not exist"
	case err != nil:
		why = err.Error()
	}
	return fmt.Errorf("--checkpoints %s: %s; name the directory of a sink, and mount it if it is elsewhere", f.checkpoints, why)
}

// covering returns what finds the checkpoints that retention goes by: in a directory,
// in a bucket, or nowhere.
func (f *retentionFlags) covering(ctx context.Context) (ledger.Checkpoints, error) {
	switch {
	case f.checkpoints == "":
		return func(string, uint64) (*journal.SignedCheckpoint, error) { return nil, nil }, nil
	case !strings.HasPrefix(f.checkpoints, archive.Scheme):
		return checkpointsIn(f.checkpoints).covering, nil
	}
	bucket, err := f.bucket.open(ctx, f.checkpoints)
	if err != nil {
		return nil, err
	}
	return func(journalID string, entries uint64) (*journal.SignedCheckpoint, error) {
		return bucket.Covering(ctx, journalID, entries)
	}, nil
}

// checkpointsIn finds the checkpoints of journals in a directory that they are
// kept in, as the collector lays it out.
type checkpointsIn string

// covering implements ledger.Checkpoints.
func (dir checkpointsIn) covering(journalID string, entries uint64) (*journal.SignedCheckpoint, error) {
	of := filepath.Dir(filepath.Join(string(dir), filepath.FromSlash(checkpoint.CheckpointName(journalID, 1))))
	files, err := durable.OS{}.List(of)
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	names := map[uint64]string{}
	for _, f := range files {
		digits, found := strings.CutSuffix(f.Name, filepath.Ext(checkpoint.CheckpointName(journalID, 1)))
		n, err := strconv.ParseUint(digits, 10, 64)
		if found && err == nil && filepath.Base(checkpoint.CheckpointName(journalID, n)) == f.Name {
			names[n] = f.Name
		}
	}
	size := checkpoint.Covering(maps.Keys(names), entries)
	if size == 0 {
		return nil, nil
	}
	path := filepath.Join(of, names[size])
	note, err := durable.ReadWhole(durable.OS{}, path, journal.MaxCheckpointBytes)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	c, err := journal.ParseCheckpoint(note)
	if err != nil || c.Origin != journalID || c.Size != size {
		return nil, fmt.Errorf("%s is not the checkpoint that its name says; examine who wrote it", path)
	}
	return c, nil
}
