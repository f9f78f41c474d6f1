// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// run executes one command line and returns its exit code. What is written to
// stdout is buffered; an exit code of success is only given when all of it has
// arrived.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr *os.File) int {
	con := &console{out: bufio.NewWriter(stdout), outFile: stdout, errs: stderr, errFile: stderr}
	root := newRootCommand(con)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(con.out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if flushErr := con.out.Flush(); flushErr != nil && err == nil {
		err = fmt.Errorf("standard output: not all could be written: %w", flushErr)
	}
	if text := errorText(err); text != "" {
		fmt.Fprintf(stderr, "readtrail: %s\n", escape(text))
	}
	return exitCode(err)
}

// console is where a command writes, and what it knows about it.
type console struct {
	out     *bufio.Writer
	outFile *os.File
	errs    io.Writer
	errFile *os.File
}

// note writes one line about the run itself, apart from the results.
func (c *console) note(format string, args ...any) {
	fmt.Fprintln(c.errs, escape(fmt.Sprintf(format, args...)))
}

func newRootCommand(con *console) *cobra.Command {
	root := &cobra.Command{
		Use:           "readtrail",
		Short:         "Verify and read the journals of what agents read",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          needsSubcommand,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{cmd, err}
	})
	root.AddCommand(
		newKeysCommand(con),
		newVerifyCommand(con),
		newShowCommand(con),
		newDigestCommand(con),
		newContextCommand(con),
		newEvidenceCommand(con),
		newCheckpointCommand(con),
		newProofCommand(con),
		newReceiptCommand(con),
		newBundleCommand(con),
		newHoldCommand(con),
		newRetentionCommand(con),
		newArchiveCommand(con),
		newLintCommand(con),
		newVersionCommand(con),
	)
	return root
}

// needsSubcommand is what a command does that is only the parent of others.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(cmd, "unknown command %q", args[0])
	}
	return usagef(cmd, "a command is missing")
}

// arguments demands exactly the named positional arguments.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usagef(cmd, "%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return usagef(cmd, "unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
