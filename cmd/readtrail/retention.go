// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newRetentionCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Plan and apply what may be removed at the beginning of journals",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newRetentionPlanCommand(con), newRetentionApplyCommand(con))
	return cmd
}

// maxRulesFile bounds a file of rules, in bytes.
const maxRulesFile = 1 << 20

// retentionFlags say what plan and apply go by.
type retentionFlags struct {
	keep            []string
	keepFile        string
	checkpoints     string
	requireArchived string
	bucket          bucketFlags
	lock            string
	asJSON          bool
}

func (f *retentionFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.keep, "keep", nil, "for how many days entries of a retention class are kept: CLASS=DAYS; may be repeated")
	flags.StringVar(&f.keepFile, "keep-file", "", "a file with such rules, one a line")
	flags.StringVar(&f.checkpoints, "checkpoints", "", "a directory of checkpoints, or s3://BUCKET/PREFIX: only what one of them covers may go")
	flags.StringVar(&f.requireArchived, "require-archived", "", "only what is locked in this archive may go: s3://BUCKET/PREFIX")
	flags.StringVar(&f.lock, "lock", string(archive.Compliance), "the mode in which copies must be locked: COMPLIANCE or GOVERNANCE")
	f.bucket.add(flags)
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document")
}

// rules reads the flags. Errors are about the command line or the file.
func (f *retentionFlags) rules(cmd *cobra.Command) (retention.Rules, error) {
	rules := retention.Rules{}
	if f.keepFile != "" {
		file, err := os.Open(f.keepFile)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, maxRulesFile+1))
		if err == nil && len(text) > maxRulesFile {
			err = fmt.Errorf("is larger than %d bytes", maxRulesFile)
		}
		if err == nil {
			rules, err = retention.ParseRules(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.keepFile, err)
		}
	}
	for _, rule := range f.keep {
		if err := rules.Add(rule); err != nil {
			return nil, usagef(cmd, "--keep %q %w", rule, err)
		}
	}
	if len(rules) == 0 {
		return nil, usagef(cmd, "--keep CLASS=DAYS is missing: it says how long entries of a retention class are kept")
	}
	return rules, nil
}

// archive opens the archive that copies are demanded in, nil if they are not. Its
// policy asks for locks that last at this moment: how long they have to is for
// whoever archives.
func (f *retentionFlags) archive(ctx context.Context, rules retention.Rules) (*archive.Archive, error) {
	if f.requireArchived == "" {
		return nil, nil
	}
	bucket, err := f.bucket.open(ctx, f.requireArchived)
	if err != nil {
		return nil, err
	}
	p := archive.Policy{Mode: archive.Mode(f.lock), Keep: map[string]time.Duration{}}
	for class, days := range rules {
		p.Keep[class] = time.Duration(max(days, 1)) * retention.Day
	}
	return archive.New(bucket, p)
}

// retentionRun plans, and applies if it has an operation.
type retentionRun struct {
	con       *console
	flags     retentionFlags
	rules     retention.Rules
	archive   *archive.Archive
	operation *operation
	now       time.Time

	results []*plannedJournal
	errors  []string
}

func (r *retentionRun) prepare(cmd *cobra.Command) (err error) {
	if r.rules, err = r.flags.rules(cmd); err != nil {
		return err
	}
	if err := r.flags.checkCheckpoints(); err != nil {
		return err
	}
	r.archive, err = r.flags.archive(cmd.Context(), r.rules)
	r.now = time.Now()
	return err
}

// run returns a verdict; its reasons were printed.
func (r *retentionRun) run(ctx context.Context, target string) error {
	sources, err := journal.Open(target)
	for _, source := range sources {
		result, err := r.journal(ctx, source)
		if result != nil {
			r.results = append(r.results, result)
			if !r.flags.asJSON {
				result.write(r.con.out, len(r.results) == 1)
			}
		}
		if err != nil {
			r.fail(fmt.Errorf("%s: %w", source.Path, err))
		}
	}
	if err != nil {
		r.fail(err)
	}
	code := exitOK
	if len(r.errors) > 0 {
		code = exitUnchecked
	}
	if r.flags.asJSON {
		document := struct {
			Planned  record.Time       `json:"planned_at"`
			ExitCode int               `json:"exit_code"`
			Journals []*plannedJournal `json:"journals"`
			Errors   []string          `json:"errors,omitempty"`
		}{record.NewTime(r.now), code, append([]*plannedJournal{}, r.results...), r.errors}
		if err := writeJSON(r.con.out, document); err != nil {
			return err
		}
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

func (r *retentionRun) fail(err error) {
	r.errors = append(r.errors, err.Error())
	r.con.note("readtrail: %v", err)
}

// journal plans one journal and applies the plan if it should. A result may come
// with an error.
func (r *retentionRun) journal(ctx context.Context, source *journal.Source) (*plannedJournal, error) {
	if source.Path == source.Segments[0].Path {
		return nil, fmt.Errorf("is a file; name the directory of a journal")
	}
	checkpoints, err := r.flags.covering(ctx)
	if err != nil {
		return nil, err
	}
	inventory, err := ledger.TakeInventory(ctx, durable.OS{}, source.Path, r.rules, r.now, checkpoints)
	if err != nil {
		return nil, err
	}
	var held *copies
	var why []error
	var archived func(retention.Segment) bool
	if r.archive != nil {
		if held, err = copiesIn(r.archive, source); err != nil {
			return nil, err
		}
		archived = func(s retention.Segment) bool {
			err := held.held(ctx, segment.Name(s.First))
			if err != nil {
				why = append(why, err)
			}
			return err == nil
		}
	}
	plan := inventory.Plan(r.rules, r.now, archived)
	result := newPlannedJournal(source.Path, inventory, plan, r.rules)
	for _, err := range why {
		r.con.note("readtrail: %s: %v", source.Path, err)
	}
	if r.operation == nil || result.nothing() {
		return result, nil
	}
	return result, r.apply(ctx, source, inventory, plan, held, result)
}

// apply has the plan carried out by whoever writes the journal.
func (r *retentionRun) apply(ctx context.Context, source *journal.Source, i *ledger.Inventory, plan retention.Plan, held *copies, result *plannedJournal) error {
	o := *r.operation
	if held != nil {
		o.archived = held.archived
	}
	w, end, err := o.reach(ctx, source.Path, i.JournalID)
	if err != nil {
		return err
	}
	request := control.PruneRequest{
		JournalID: i.JournalID, FirstSequence: plan.FirstSequence(), KeepDays: r.rules[i.Class],
		RequestedBy: o.requestedBy, RequireArchived: r.archive != nil,
	}
	if i.Checkpoint != nil {
		request.Checkpoint = string(i.Checkpoint.Note)
	}
	done, err := w.Prune(ctx, request)
	if failure, ok := err.(*control.Error); ok && failure.Done != nil {
		done = *failure.Done
	}
	if closeErr := end(); err == nil {
		err = closeErr
	}
	result.Done = &done
	return err
}
