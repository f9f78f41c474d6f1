// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
)

func newVerifyCommand(con *console) *cobra.Command {
	v := &verification{con: con}
	cmd := &cobra.Command{
		Use:   "verify TARGET --keys FILE",
		Short: "Check that a journal stands as it was written",
		Long: "Check every entry of a journal: canonical form, hash, signature, trust in the key, schema,\n" +
			"sequence and chain. TARGET is a root with journals, a journal, a segment, or segments joined\n" +
			"in one file, or an archive, s3://BUCKET/PREFIX, which is read in place: of each object the oldest\n" +
			"version, with the checkpoints beside them; what they cover beyond its end is a note. Nothing is\n" +
			"ever changed or repaired.\n\n" +
			"Get keys.json from its owner, not from the journal's directory: whoever can change both can\n" +
			"forge. Without it no signature is checked and the exit code is 2. The same holds for the\n" +
			"policy, which says what the journal must look like, and for checkpoints.\n\n" +
			"What audit events name is looked up in all journals below TARGET; their artifacts are held against\n" +
			"the files of --artifacts.\n\n" +
			"Exit codes: 0 nothing is broken and every demanded check was made; 1 broken; 2 something could\n" +
			"not be checked; 64 the command line is wrong.",
		Example: "  readtrail verify journal --keys keys.json\n" +
			"  readtrail verify journal --keys keys.json --policy policy.json --checkpoints elsewhere\n" +
			"  readtrail verify --envelope entry.json --keys keys.json",
		Args: cobra.ArbitraryArgs,
		RunE: v.parse,
	}
	flags := cmd.Flags()
	flags.StringVar(&v.keys, "keys", "", "the registry of trusted keys, keys.json")
	flags.StringVar(&v.policy, "policy", "", "what the journals must look like")
	flags.StringArrayVar(&v.checkpoints, "checkpoints", nil, "a directory, a file or s3://BUCKET/PREFIX with checkpoints that were kept elsewhere; may be given again")
	flags.StringVar(&v.artifacts, "artifacts", "", "a directory with the files that audit events name as artifacts, each named by the 64 hex digits of its SHA-256; one that is not there is broken")
	flags.Uint64Var(&v.from, "from", 0, "the first sequence to verify; begins at the segment that holds it")
	flags.Uint64Var(&v.to, "to", 0, "the last sequence to verify; ends with the segment that holds it")
	flags.StringVar(&v.since, "since-checkpoint", "", "a checkpoint up to which you verified the journal before: signatures and schemas up to there are not checked again")
	flags.BoolVar(&v.skipSchema, "skip-schema", false, "do not check entries against their schemas, which takes most of the time")
	flags.StringVar(&v.envelope, "envelope", "", "verify the one entry in this file, which may be pretty-printed, instead of a journal")
	flags.BoolVar(&v.json, "json", false, "print one JSON document")
	v.bucket.add(flags)
	flags.BoolVar(&v.quiet, "quiet", false, "print nothing; the exit code is the answer")
	return cmd
}

// patience is how long verify waits for a line that a collector is about to write.
const patience = time.Second

// pruneRetries is how often a journal is read anew that loses segments meanwhile.
const pruneRetries = 3

// verification verifies the journals of one target and prints the reports.
type verification struct {
	con                     *console
	keys, policy, since     string
	artifacts               string
	checkpoints             []string
	from, to                uint64
	envelope                string
	keysGiven               bool
	skipSchema, json, quiet bool
	bucket                  bucketFlags

	options journal.Options
	reports []*journal.Report
	// printed counts the reports that were printed.
	printed int
	errors  []string
	// expected are the journals of which --checkpoints has checkpoints.
	expected []string
}

func (v *verification) parse(cmd *cobra.Command, args []string) error {
	if v.json && v.quiet {
		return usagef(cmd, "--json and --quiet exclude each other")
	}
	for _, name := range []string{"keys", "policy", "since-checkpoint", "envelope", "artifacts"} {
		if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "" {
			return usagef(cmd, "--%s is empty", name)
		}
	}
	for _, name := range []string{"from", "to"} {
		if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "0" {
			return usagef(cmd, "--%s: sequences begin at 1", name)
		}
	}
	if v.to > 0 && v.from > v.to {
		return usagef(cmd, "--from is behind --to")
	}
	v.keysGiven = v.keys != ""
	if v.envelope != "" {
		for _, name := range []string{"checkpoints", "from", "to", "since-checkpoint", "artifacts"} {
			if cmd.Flags().Changed(name) {
				return usagef(cmd, "--envelope and --%s exclude each other", name)
			}
		}
		if len(args) > 0 {
			return usagef(cmd, "unexpected argument %q beside --envelope", args[0])
		}
		return v.runEnvelope(cmd.Context())
	}
	if err := arguments("TARGET")(cmd, args); err != nil {
		return err
	}
	return v.run(cmd.Context(), args[0])
}

// run returns a verdict; its reasons were printed, also if there was nothing to
// judge.
func (v *verification) run(ctx context.Context, target string) error {
	v.verifyAll(ctx, target)
	code := v.exitCode()
	switch {
	case v.json:
		if err := v.writeJSON(target, code); err != nil {
			return err
		}
	case !v.quiet && len(v.reports) > 1:
		writeTotal(v.con.out, v.reports)
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

func (v *verification) verifyAll(ctx context.Context, target string) {
	if err := v.readOptions(ctx); err != nil {
		v.fail(err)
		return
	}
	v.readArchived(ctx, target)
	sources, notes, err := v.bucket.openTarget(ctx, target)
	for _, note := range notes {
		v.con.note("readtrail: %s", note)
	}
	for _, source := range sources {
		v.verify(ctx, source)
	}
	whole := err == nil && len(v.reports) == len(sources)
	if leftOut, partly := errors.AsType[*journal.LeftOutError](err); partly {
		v.fail(leftOut.Problems...)
	} else if err != nil {
		v.fail(err)
	}
	failed := len(v.errors)
	v.missing(target, sources)
	v.repeated()
	v.reconcile(ctx, target, whole && len(v.errors) == failed)
	v.print(len(v.reports))
}

// verify judges one journal. One that cannot be judged does not keep the
// others from being so.
func (v *verification) verify(ctx context.Context, source *journal.Source) {
	report, err := v.judge(ctx, source)
	for range pruneRetries {
		if !errors.Is(err, fs.ErrNotExist) || source.Segments[0].Open != nil {
			break
		}
		// A writer may have pruned the journal meanwhile: what is left is read anew.
		var again []*journal.Source
		if again, err = journal.Open(source.Path); err == nil {
			report, err = v.judge(ctx, again[0])
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; a segment was removed while it was read, perhaps by retention: verify again", err)
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.reports = append(v.reports, report)
	v.print(v.waiting())
}

// waiting returns the index of the first report to which the other journals may add.
func (v *verification) waiting() int {
	for i, r := range v.reports {
		if r.Reconciled != nil {
			return i
		}
	}
	return len(v.reports)
}

// print prints the reports before an index that were not printed yet.
func (v *verification) print(end int) {
	if v.json || v.quiet {
		return
	}
	for ; v.printed < end; v.printed++ {
		if v.printed > 0 {
			fmt.Fprintln(v.con.out)
		}
		writeReport(v.con.out, v.reports[v.printed])
		v.writeRange()
	}
}

func (v *verification) judge(ctx context.Context, source *journal.Source) (*journal.Report, error) {
	source, err := source.Between(v.from, v.to)
	if err != nil {
		return nil, fmt.Errorf("verify %w", err)
	}
	shown := newProgress(v.con, "verifying "+escape(source.Path))
	defer shown.clear()
	options := v.options
	options.Progress, options.Patience = shown.report, patience
	return journal.Verify(ctx, source, options)
}

// writeRange says what a part of a journal leaves out.
func (v *verification) writeRange() {
	if v.from == 0 && v.to == 0 {
		return
	}
	asked := fmt.Sprintf("from %d", max(v.from, 1))
	if v.to > 0 {
		asked += fmt.Sprintf(" to %d", v.to)
	}
	fmt.Fprintf(v.con.out, "range: %s, in whole segments; what stands before and behind them was not read\n", asked)
}

// fail says what could not be verified.
func (v *verification) fail(errs ...error) {
	for _, err := range errs {
		v.errors = append(v.errors, err.Error())
		v.con.note("readtrail: %v", err)
	}
}

// exitCode is the worst of all: broken, then unchecked.
func (v *verification) exitCode() int {
	code := exitOK
	if len(v.errors) > 0 {
		code = exitUnchecked
	}
	for _, r := range v.reports {
		switch r.ExitCode() {
		case exitOK:
		case exitBroken:
			return exitBroken
		default:
			code = exitUnchecked
		}
	}
	return code
}

// verifiedJournal is a report as verify --json prints it.
type verifiedJournal struct {
	*journal.Report
	// Next says what an auditor does next about the first damage.
	Next     string `json:"next,omitzero"`
	ExitCode int    `json:"exit_code"`
}

func (v *verification) writeJSON(target string, code int) error {
	document := struct {
		Verifier string            `json:"verifier"`
		Target   string            `json:"target"`
		ExitCode int               `json:"exit_code"`
		Journals []verifiedJournal `json:"journals"`
		Errors   []string          `json:"errors,omitempty"`
	}{Verifier: journal.VerifierVersion, Target: target, ExitCode: code, Errors: v.errors}
	for _, r := range v.reports {
		j := verifiedJournal{Report: r, ExitCode: r.ExitCode()}
		if r.FirstBad != nil {
			j.Next = r.FirstBad.Code.Doc().Next
		}
		document.Journals = append(document.Journals, j)
	}
	return writeJSON(v.con.out, document)
}
