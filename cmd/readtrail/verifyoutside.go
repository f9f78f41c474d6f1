// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
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
	if v.artifacts != "" {
		info, err := os.Stat(v.artifacts)
		if err != nil {
			return fmt.Errorf("artifacts: %w", err)
		}
		if !info.IsDir() {
			return fmt.Errorf("artifacts: %s is not a directory; name one with files that are named by the hex digits of their SHA-256", v.artifacts)
		}
	}
	o.Reconcile = journal.NewReconciliation(v.artifacts)
	if len(v.checkpoints) > 0 {
		var problems []error
		o.Checkpoints, problems = v.bucket.readCheckpoints(ctx, v.checkpoints, o.Registry, o.Policy)
		v.fail(problems...)
	}
	return nil
}

// missing says which journals the outside knows and the target has not: one that was
// removed as a whole is missed by nothing else. Of checkpoints that is said only if
// the target is a root, since a store holds those of many journals. Where a journal
// could not be judged, it may be one of them.
func (v *verification) missing(target string, sources []*journal.Source) {
	there := map[string]bool{}
	for _, r := range v.reports {
		there[r.JournalID] = true
	}
	absent := "is not in " + target
	if len(v.reports) < len(sources) {
		absent = "was not verified in " + target
	}
	if v.options.Policy != nil {
		for _, id := range slices.Sorted(maps.Keys(v.options.Policy.Journals)) {
			if !there[id] {
				v.fail(fmt.Errorf("journal %s of the policy %s", id, absent))
				there[id] = true
			}
		}
	}
	if len(sources) == 1 && sources[0].Path == target {
		return
	}
	v.notArchived(target, there)
	for _, id := range v.expected {
		if !there[id] {
			v.fail(fmt.Errorf("there are checkpoints of journal %s, which %s", id, absent))
		}
	}
}

// repeated says which journals stand twice below a root: each copy may be valid, and
// they may be two histories of which only one can be true.
func (v *verification) repeated() {
	paths := map[string]string{}
	for _, r := range v.reports {
		if r.JournalID == "" {
			continue
		}
		if first, found := paths[r.JournalID]; found {
			v.fail(fmt.Errorf("journal %s stands twice, in %s and in %s; find out which is the journal, compare them, and verify it alone", r.JournalID, first, r.Path))
			continue
		}
		paths[r.JournalID] = r.Path
	}
}
