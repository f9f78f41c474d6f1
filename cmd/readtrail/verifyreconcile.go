// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/durable"
)

// reconcile looks up what the audit events of all journals name. Whole says that every
// journal below the target was verified.
func (v *verification) reconcile(ctx context.Context, target string, whole bool) {
	if v.waiting() == len(v.reports) {
		return
	}
	shown := newProgress(v.con, "looking up what audit events name")
	defer shown.clear()
	options := v.options
	options.Progress = shown.report
	options.Reconcile.Resolve(ctx, options, func(organization string) string {
		switch {
		case strings.HasPrefix(target, archive.Scheme):
			return "what is not archived yet"
		case !whole:
			return "journals that are missing or could not be verified"
		case !v.isAbove(target, organization):
			return "journals of the organization that are not below the target"
		}
		return ""
	})
}

// isAbove reports whether a target is the directory of an organization or above it, as
// contract 7 lays them out: then all journals of the organization are below it.
func (v *verification) isAbove(target, organization string) bool {
	directory, name := durable.PathElement(organization), ""
	if path, err := filepath.Abs(target); err == nil {
		name = filepath.Base(path)
	}
	for _, r := range v.reports {
		below := strings.Split(strings.Trim(filepath.ToSlash(strings.TrimPrefix(r.Path, target)), "/"), "/")
		last := len(below) - 2 // what follows is the class and the kind
		if last >= 0 && (name == directory || slices.Contains(below[:last], directory)) {
			return true
		}
	}
	return false
}
