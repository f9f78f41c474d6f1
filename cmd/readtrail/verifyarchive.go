// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/journal"
)

// readArchived takes the checkpoints that an archive holds beside its segments, as if
// they had been named. Of a journal that is written an archive never has the end: what
// a checkpoint covers beyond it is not missing.
func (v *verification) readArchived(ctx context.Context, target string) {
	v.expected = v.options.Checkpoints.Origins()
	if !strings.HasPrefix(target, archive.Scheme) {
		return
	}
	v.options.OpenEnd = true
	if slices.Contains(v.checkpoints, target) {
		return
	}
	bucket, err := v.bucket.open(ctx, target)
	if err != nil {
		return // opening the target says so
	}
	var all []journal.KeptCheckpoint
	for kept, err := range bucket.Checkpoints(ctx) {
		if err != nil {
			v.fail(fmt.Errorf("checkpoints of the archive: %w", err))
			return
		}
		all = append(all, kept)
	}
	if len(all) == 0 {
		return
	}
	o := &v.options
	if o.Checkpoints == nil {
		o.Checkpoints = journal.NewCheckpoints(o.Registry, o.Policy)
	}
	said := len(o.Checkpoints.Problems())
	err = o.Checkpoints.Add(target, func(yield func(journal.KeptCheckpoint, error) bool) {
		for _, kept := range all {
			if !yield(kept, nil) {
				return
			}
		}
	})
	v.fail(o.Checkpoints.Problems()[said:]...)
	if err != nil {
		v.fail(err)
	}
}

// notArchived says of which journals an archive has checkpoints and no segment yet.
func (v *verification) notArchived(target string, there map[string]bool) {
	for _, id := range v.options.Checkpoints.Origins() {
		if !there[id] && !slices.Contains(v.expected, id) {
			v.con.note("readtrail: %s has checkpoints of journal %s and no segment of it; nothing of it was verified", target, id)
		}
	}
}
