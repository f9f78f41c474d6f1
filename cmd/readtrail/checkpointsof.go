// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// checkpointsIn finds the checkpoints of journals in a directory that they are
// kept in, as the collector lays it out.
type checkpointsIn string

// covering implements ledger.Checkpoints.
func (dir checkpointsIn) covering(journalID string, size uint64) (*journal.SignedCheckpoint, error) {
	if dir == "" {
		return nil, nil
	}
	of := filepath.Dir(filepath.Join(string(dir), filepath.FromSlash(checkpoint.CheckpointName(journalID, 1))))
	files, err := durable.OS{}.List(of)
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	best, name := uint64(0), ""
	for _, f := range files {
		digits, found := strings.CutSuffix(f.Name, filepath.Ext(checkpoint.CheckpointName(journalID, 1)))
		n, err := strconv.ParseUint(digits, 10, 64)
		if !found || err != nil || filepath.Base(checkpoint.CheckpointName(journalID, n)) != f.Name {
			continue
		}
		if best < size && n > best || n >= size && n < best {
			best, name = n, f.Name
		}
	}
	if name == "" {
		return nil, nil
	}
	path := filepath.Join(of, name)
	note, err := durable.ReadWhole(durable.OS{}, path, journal.MaxCheckpointBytes)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	c, err := journal.ParseCheckpoint(note)
	if err != nil || c.Origin != journalID || c.Size != best {
		return nil, fmt.Errorf("%s is not the checkpoint that its name says; examine who wrote it", path)
	}
	return c, nil
}
