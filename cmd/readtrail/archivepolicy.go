// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/journal"
)

// policyFlags say how objects are locked.
type policyFlags struct {
	keep      []string
	mode      string
	legalHold bool
}

func (f *policyFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.keep, "keep", nil, "how long the objects of a retention class are locked: CLASS=DAYS")
	flags.StringVar(&f.mode, "mode", string(archive.Compliance), "COMPLIANCE or GOVERNANCE")
	flags.BoolVar(&f.legalHold, "legal-hold", false, "also set the legal hold of every object")
}

// policy reads the flags. Errors are about the command line.
func (f *policyFlags) policy(cmd *cobra.Command) (archive.Policy, error) {
	p := archive.Policy{Mode: archive.Mode(strings.ToUpper(f.mode)), Keep: map[string]time.Duration{}, LegalHold: f.legalHold}
	for _, keep := range f.keep {
		class, text, found := strings.Cut(keep, "=")
		days, err := strconv.ParseUint(strings.TrimSuffix(text, "d"), 10, 16)
		if !found || err != nil || class == "" {
			return p, usagef(cmd, "--keep %q is not CLASS=DAYS", keep)
		}
		p.Keep[class] = time.Duration(days) * 24 * time.Hour
	}
	if len(p.Keep) == 0 {
		return p, usagef(cmd, "--keep CLASS=DAYS is missing: it says how long objects are locked")
	}
	if err := p.Check(); err != nil {
		return p, usagef(cmd, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return p, nil
}

// archiveRun walks the journals of a root for push and status.
type archiveRun struct {
	con           *console
	archive       *archive.Archive
	target        string
	store, asJSON bool
	// checkpoints is a directory with checkpoints, "" for none.
	checkpoints string

	results []*archivedJournal
	errors  []string
}

// run returns a verdict; its reasons were printed.
func (a *archiveRun) run(ctx context.Context) error {
	sources, err := journal.Open(a.target)
	for _, source := range sources {
		a.journal(ctx, source)
	}
	if leftOut, partly := errors.AsType[*journal.LeftOutError](err); partly {
		a.fail(leftOut.Problems...)
	} else if err != nil {
		a.fail(err)
	}
	code := a.exitCode()
	if a.asJSON {
		if err := a.writeJSON(code); err != nil {
			return err
		}
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

// journal archives one journal, or looks how it stands. Its segments go first: a
// tile or a checkpoint without them proves little.
func (a *archiveRun) journal(ctx context.Context, source *journal.Source) {
	j, err := archive.ReadJournal(source)
	if err != nil {
		a.fail(err)
		return
	}
	walk := a.archive.Look
	if a.store {
		walk = a.archive.Push
	}
	status, err := walk(ctx, j)
	result := newArchivedJournal(a.archive.Bucket(), source.Path, status)
	a.results = append(a.results, result)
	if status.Ahead != nil {
		a.fail(status.Ahead)
	}
	if err == nil && a.store && !status.Contradicted() {
		err = a.push(ctx, j, result)
	}
	if !a.asJSON {
		a.write(result)
	}
	for _, f := range status.Files {
		if f.Err != nil && !errors.Is(err, f.Err) {
			a.fail(f.Err)
		}
	}
	if err != nil {
		a.fail(err)
	}
}

// push stores what stands beside the segments.
func (a *archiveRun) push(ctx context.Context, j archive.Journal, result *archivedJournal) error {
	tiles, err := a.archive.PushTiles(ctx, j)
	result.Stored += tiles
	if err != nil || a.checkpoints == "" {
		return err
	}
	checkpoints, err := a.archive.PushCheckpoints(ctx, j, j.CheckpointsIn(a.checkpoints))
	result.Stored += checkpoints
	return err
}

func (a *archiveRun) fail(errs ...error) {
	for _, err := range errs {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			a.errors = append(a.errors, line)
			a.con.note("readtrail: %v", line)
		}
	}
}

func (a *archiveRun) exitCode() int {
	for _, r := range a.results {
		if r.Waiting > 0 {
			return exitUnchecked
		}
	}
	if len(a.errors) > 0 {
		return exitUnchecked
	}
	return exitOK
}

// write prints the status of a journal, one fact a line.
func (a *archiveRun) write(r *archivedJournal) {
	line := func(name string, value any) { fmt.Fprintf(a.con.out, "%s: %s\n", name, escape(fmt.Sprint(value))) }
	if len(a.results) > 1 {
		fmt.Fprintln(a.con.out)
	}
	line("journal", r.JournalID)
	line("path", r.Path)
	line("archive", r.Archive)
	line("segments_archived", r.Archived)
	line("segments_waiting", r.Waiting)
	if r.Waiting > 0 {
		line("oldest_waiting", r.OldestWaiting)
	}
	if r.Archived > 0 {
		line("locked_until", r.LockedUntil)
	}
	if a.store {
		line("objects_stored", r.Stored)
	}
	for _, f := range r.Files {
		if f.State != archive.Archived {
			line(string(f.State), f.Name)
		}
		if f.Later > 0 {
			line("later_versions", fmt.Sprintf("%s: %d newer versions or delete markers stand over it", f.Name, f.Later))
		}
	}
}
