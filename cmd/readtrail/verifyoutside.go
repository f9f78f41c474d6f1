// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/readtrail/readtrail/journal"
)

// readOptions reads what is given from outside, checkpoints last and all of it
// before a journal is opened: none is newer than what is read then.
func (v *verification) readOptions(ctx context.Context) (err error) {
	o := &v.options
	o.SkipSchema = v.skipSchema
	if v.keysGiven {
		if o.Registry, err = journal.ReadRegistry(v.keys); err != nil {
			return err
		}
	}
	if v.policy != "" {
		if o.Policy, err = journal.ReadPolicy(v.policy); err != nil {
			return err
		}
	}
	if v.since != "" {
		if o.Since, err = journal.ReadOwnCheckpoint(v.since, o.Registry); err != nil {
			return err
		}
	}
	if len(v.checkpoints) > 0 {
		var problems []error
		o.Checkpoints, problems = v.bucket.readCheckpoints(ctx, v.checkpoints, o.Registry, o.Policy)
		v.fail(problems...)
	}
	return nil
}

// missing says which journals the outside knows and the target has not: one that was
// removed as a whole is missed by nothing else. Of checkpoints that is said only if
// the target is a root, since a store holds those of many journals.
func (v *verification) missing(target string, sources []*journal.Source) {
	there := map[string]bool{}
	for _, r := range v.reports {
		there[r.JournalID] = true
	}
	if v.options.Policy != nil {
		for _, id := range slices.Sorted(maps.Keys(v.options.Policy.Journals)) {
			if !there[id] {
				v.fail(fmt.Errorf("journal %s of the policy is not in %s", id, target))
				there[id] = true
			}
		}
	}
	if len(sources) == 1 && sources[0].Path == target {
		return
	}
	for _, id := range v.options.Checkpoints.Origins() {
		if !there[id] {
			v.fail(fmt.Errorf("there are checkpoints of journal %s, which is not in %s", id, target))
		}
	}
}
