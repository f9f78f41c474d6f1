// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/lint"
)

func newLintCommand(con *console) *cobra.Command {
	c := &linting{con: con}
	cmd := &cobra.Command{
		Use:   "lint TELEMETRY.jsonl...",
		Short: "Show what the collector would do with captured telemetry",
		Long: "Show what the collector would do with captured telemetry: what it recognizes, which reads it\n" +
			"records, what it takes for content, what leaves in clear, and which keys no rule knows. No\n" +
			"content is printed.\n\n" +
			"TELEMETRY.jsonl holds OTLP/JSON, traces or logs, one request a line, as the collector's file\n" +
			"exporter writes it; - is standard input, which may go on: the report is printed when it ends, or\n" +
			"at an interrupt.\n\n" +
			"Exit codes: 0 a rule knows everything; 1 there is something to look at; 2 not all could be\n" +
			"read; 64 the command line is wrong.",
		Example: "  readtrail lint telemetry.jsonl --config collector.yaml\n  tail -n +1 -F telemetry.jsonl | readtrail lint - --each",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(cmd, "TELEMETRY.jsonl is missing")
			}
			if i := slices.Index(args, standardInput); i >= 0 && slices.Contains(args[i+1:], standardInput) {
				return usagef(cmd, "standard input can only be read once")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"config", "processor", "mode"} {
				if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
					return usagef(cmd, "--%s is empty", name)
				}
			}
			if c.settings.processor != "" && c.settings.config == "" {
				return usagef(cmd, "--processor names a section of --config, which is missing")
			}
			if err := c.settings.checkMode(); err != nil {
				return usageError{cmd, err}
			}
			return c.run(cmd.Context(), args, cmd.InOrStdin())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.settings.config, "config", "", "the collector's configuration, for mode, records, keep and sources")
	flags.StringVar(&c.settings.processor, "processor", "", "the processor in it, such as read_record/tracing (default read_record)")
	flags.StringVar(&c.settings.mode, "mode", "", "strict or known, whatever the configuration says (default strict)")
	flags.BoolVar(&c.each, "each", false, "print one line for each span and log record as it comes, before the report")
	flags.BoolVar(&c.json, "json", false, "print one JSON document; with --each, one JSON object a line")
	return cmd
}

// standardInput is how a command line spells it.
const standardInput = "-"

// linting lints the inputs of one command line.
type linting struct {
	con        *console
	settings   lintSettings
	each, json bool
}

func (c *linting) run(ctx context.Context, inputs []string, stdin io.Reader) error {
	options, err := c.settings.options(ctx)
	if err != nil {
		return err
	}
	if c.each {
		options.Each = c.showItem
	}
	linter := lint.New(options)
	// A second interrupt ends the process at once.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer context.AfterFunc(ctx, stop)()
	defer stop()

	complete := true
	for _, name := range inputs {
		err := readInput(ctx, linter, name, stdin)
		if errors.Is(err, errOutput) {
			return err
		}
		if err != nil {
			c.con.note("readtrail: %v", err)
			complete = false
		}
	}
	if ctx.Err() != nil && !slices.Equal(inputs, []string{standardInput}) {
		c.con.note("interrupted: the report is about what was read until then")
		complete = false
	}
	report := linter.Report()
	if s := &report.Summary; complete && s.UnreadableLines == 0 && !s.Complete() {
		c.con.note("readtrail: there was no span and no log record to read: is this what the agents sent?")
	}
	code := lintExitCode(report, complete)
	if err := c.show(report, code); err != nil {
		return fmt.Errorf("%w: %w", errOutput, err)
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

func readInput(ctx context.Context, linter *lint.Linter, name string, stdin io.Reader) error {
	if name == standardInput {
		return inputError("standard input", linter.Read(ctx, name, stdin))
	}
	file, err := os.Open(name)
	if err != nil {
		return fileError(name, err)
	}
	defer file.Close()
	return inputError(name, linter.Read(ctx, name, file))
}

// errOutput marks an error of what is written, which no input is to blame for.
var errOutput = errors.New("standard output: cannot be written")

func inputError(name string, err error) error {
	if err == nil || errors.Is(err, errOutput) {
		return err
	}
	return fileError(name, err)
}

// lintExitCode says first whether all was read: what was not may hold anything.
func lintExitCode(report *lint.Report, complete bool) int {
	switch {
	case !complete || !report.Summary.Complete():
		return exitUnchecked
	case report.Summary.LookAt():
		return exitLookAt
	default:
		return exitOK
	}
}

func (c *linting) show(report *lint.Report, code int) error {
	switch {
	case c.json && c.each:
		return c.showLine(struct {
			Report jsonReport `json:"report"`
		}{jsonReport{code, report}})
	case c.json:
		return writeJSON(c.con.out, jsonReport{code, report})
	default:
		if c.each {
			fmt.Fprintln(c.con.out)
		}
		return writeLintReport(c.con, report)
	}
}

// jsonReport is what lint --json prints.
type jsonReport struct {
	ExitCode int `json:"exit_code"`
	*lint.Report
}
