// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/evidence"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newEvidenceCheckCommand(con *console) *cobra.Command {
	c := &copyCheck{con: con}
	cmd := &cobra.Command{
		Use:   "check TARGET --store DIR",
		Short: "Check that every copy that a journal names is there and is what it was",
		Long: "Look up every copy that the read records of a journal name, open it with the identities given and\n" +
			"recompute its digest. TARGET is a root with journals, a journal, a segment, or segments joined in\n" +
			"one file. The journal itself is not verified: run readtrail verify. Nothing is ever changed.\n\n" +
			"Exit codes: 0 every copy is valid, or none is named; 1 a copy is missing or is not what it was; 2\n" +
			"some could not be checked, for instance because no identity given opens them; 64 the command line\n" +
			"is wrong.",
		Example: "  readtrail evidence check journal --store evidence --identity evidence-key.txt",
		Args:    arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			c.reader, err = c.options.reader(cmd.Context(), cmd)
			if _, usage := errors.AsType[usageError](err); usage {
				return err
			}
			if err != nil {
				c.fail(err)
				return c.finish(args[0])
			}
			return c.run(cmd.Context(), args[0])
		},
	}
	c.options.register(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON document")
	return cmd
}

// copyCheck checks the copies that the journals of one target name.
type copyCheck struct {
	con     *console
	options readerOptions
	json    bool
	reader  *evidence.Reader

	// known are the outcomes of copies that were looked up, since the same content
	// is often read again.
	known    map[copyKey]error
	journals []*copyReport
	errors   []string
}

type copyKey struct{ organization, class, digest string }

// maxKnown bounds known.
const maxKnown = 1 << 16

func (c *copyCheck) run(ctx context.Context, target string) error {
	sources, err := journal.Open(target)
	if len(sources) > 0 {
		c.con.note("only copies are checked: run readtrail verify for the journal itself")
	}
	for _, source := range sources {
		c.check(ctx, source)
	}
	if leftOut, partly := errors.AsType[*journal.LeftOutError](err); partly {
		c.fail(leftOut.Problems...)
	} else if err != nil {
		c.fail(err)
	}
	return c.finish(target)
}

// fail says what could not be checked.
func (c *copyCheck) fail(errs ...error) {
	for _, err := range errs {
		c.errors = append(c.errors, err.Error())
		c.con.note("readtrail: %v", err)
	}
}

func (c *copyCheck) check(ctx context.Context, source *journal.Source) {
	report := &copyReport{Path: source.Path}
	shown := newProgress(c.con, "checking copies of "+escape(source.Path))
	var done int64
	for line, err := range source.Lines() {
		if err != nil {
			shown.clear()
			c.fail(fmt.Errorf("%s: %w", source.Path, err))
			report.partly = true
			break
		}
		done += line.Size
		shown.report(done, source.Size())
		e, err := journal.ParseLine(line.Bytes)
		if err != nil || line.Torn {
			report.UnreadableLines++
			continue
		}
		c.checkEntry(ctx, report, e)
	}
	shown.clear()
	if n := report.UnreadableLines; n > 0 {
		c.fail(fmt.Errorf("%s: %s could not be read as entries: run readtrail verify", source.Path, count(n, "line")))
	}
	report.judge()
	if !c.json {
		if len(c.journals) > 0 {
			fmt.Fprintln(c.con.out)
		}
		report.write(c.con.out)
	}
	c.journals = append(c.journals, report)
}

func (c *copyCheck) checkEntry(ctx context.Context, report *copyReport, e *journal.Entry) {
	if e.Header.JournalID != "" {
		report.JournalID = e.Header.JournalID
	}
	if e.Kind != record.KindRead {
		return
	}
	at := copyFinding{Sequence: e.Header.Sequence}
	if e.Header.EventType == "" {
		at.Detail = "not interpreted: version " + e.SchemaVersion
		report.add(at, codeCopyNotPerformed)
		return
	}
	named, err := namedCopies(e)
	if err != nil {
		at.Detail = err.Error()
		report.add(at, codeCopyNotPerformed)
		return
	}
	if len(named) > 0 {
		report.RecordsWithCopies++
	}
	for _, n := range named {
		at.Member, at.Digest = n.member, n.digest
		err := c.lookUp(ctx, copyKey{e.Header.Scope.OrganizationRef, e.Header.Scope.RetentionClass, n.digest})
		report.Copies++
		if err == nil {
			report.Valid++
			continue
		}
		at.Detail = err.Error()
		report.add(at, codeOf(err))
	}
}

// lookUp returns nil for a copy that is valid.
func (c *copyCheck) lookUp(ctx context.Context, key copyKey) error {
	if err, found := c.known[key]; found {
		return err
	}
	if len(c.known) >= maxKnown || c.known == nil {
		c.known = map[copyKey]error{}
	}
	digest, err := content.ParseDigest(key.digest)
	if err == nil && (key.organization == "" || key.class == "") {
		err = errors.New("the record has no organization or no retention class, so nobody can say where its copy is")
	}
	if err == nil {
		err = c.reader.Check(ctx, key.organization, key.class, digest)
	}
	c.known[key] = err
	return err
}

// codeOf is what the outcome of a copy that is not valid is called.
func codeOf(err error) journal.Code {
	switch {
	case errors.Is(err, evidence.ErrMissing):
		return codeCopyMissing
	case errors.Is(err, evidence.ErrDamaged), errors.Is(err, evidence.ErrMismatch):
		return codeCopyMismatch
	}
	return codeCopyNotPerformed
}

func (c *copyCheck) finish(target string) error {
	code := exitOK
	if len(c.errors) > 0 {
		code = exitUnchecked
	}
	for _, r := range c.journals {
		if r.ExitCode == exitBroken || code == exitOK {
			code = r.ExitCode
		}
		if code == exitBroken {
			break
		}
	}
	if c.json {
		document := struct {
			Verifier string        `json:"verifier"`
			Target   string        `json:"target"`
			Stores   []string      `json:"stores"`
			ExitCode int           `json:"exit_code"`
			Journals []*copyReport `json:"journals"`
			Errors   []string      `json:"errors,omitempty"`
		}{journal.VerifierVersion, target, c.options.stores, code, c.journals, c.errors}
		if err := writeJSON(c.con.out, document); err != nil {
			return err
		}
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}
