// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

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
			"version. Nothing is ever changed or repaired.\n\n" +
			"Get keys.json from its owner, not from the journal's directory: whoever can change both can\n" +
			"forge. Without it no signature is checked and the exit code is 2.\n\n" +
			"Exit codes: 0 nothing is broken and every demanded check was made; 1 broken; 2 something could\n" +
			"not be checked; 64 the command line is wrong.",
		Example: "  readtrail verify journal --keys keys.json",
		Args:    arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.json && v.quiet {
				return usagef(cmd, "--json and --quiet exclude each other")
			}
			v.keysGiven = cmd.Flags().Changed("keys")
			if v.keysGiven && v.keys == "" {
				return usagef(cmd, "--keys is empty")
			}
			return v.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&v.keys, "keys", "", "the registry of trusted keys, keys.json")
	flags.BoolVar(&v.json, "json", false, "print one JSON document")
	v.bucket.add(flags)
	flags.BoolVar(&v.quiet, "quiet", false, "print nothing; the exit code is the answer")
	return cmd
}

// verification verifies the journals of one target and prints the reports.
type verification struct {
	con         *console
	keys        string
	keysGiven   bool
	json, quiet bool
	bucket      bucketFlags

	reports []*journal.Report
	errors  []string
}

// run returns a verdict; its reasons were printed, also if there was nothing to
// judge.
func (v *verification) run(ctx context.Context, target string) error {
	v.verifyAll(ctx, target)
	code := v.exitCode()
	if v.json {
		if err := v.writeJSON(target, code); err != nil {
			return err
		}
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

func (v *verification) verifyAll(ctx context.Context, target string) {
	var options journal.Options
	if v.keysGiven {
		var err error
		if options.Registry, err = journal.ReadRegistry(v.keys); err != nil {
			v.fail(err)
			return
		}
	}
	sources, notes, err := v.bucket.openTarget(ctx, target)
	for _, note := range notes {
		v.con.note("readtrail: %s", note)
	}
	for _, source := range sources {
		v.verify(ctx, source, options)
	}
	if leftOut, partly := errors.AsType[*journal.LeftOutError](err); partly {
		v.fail(leftOut.Problems...)
	} else if err != nil {
		v.fail(err)
	}
}

// verify judges one journal. One that cannot be judged does not keep the
// others from being so.
func (v *verification) verify(ctx context.Context, source *journal.Source, options journal.Options) {
	shown := newProgress(v.con, "verifying "+escape(source.Path))
	options.Progress = shown.report
	report, err := journal.Verify(ctx, source, options)
	shown.clear()
	if err != nil {
		v.fail(err)
		return
	}
	if !v.json && !v.quiet {
		if len(v.reports) > 0 {
			fmt.Fprintln(v.con.out)
		}
		writeReport(v.con.out, report)
	}
	v.reports = append(v.reports, report)
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
