// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes, a public contract (contract 6).
const (
	exitOK = 0
	// exitBroken: the journal was checked and is broken, or a copy that it names is
	// missing or changed. Only verify and evidence check give it, and only for
	// damage that they found.
	exitBroken = 1
	// exitOther: the content of the source is not that of a context, or a claim is
	// unsupported. Only context gives it.
	exitOther = 1
	// exitLookAt: all telemetry was understood, and something in it is for somebody
	// to look at. Only lint gives it.
	exitLookAt = 1
	// exitUnchecked: something could not be checked, or could not be done.
	exitUnchecked = 2
	// exitUsage: the command line is wrong (EX_USAGE of sysexits).
	exitUsage = 64
)

// usageError says that the command line is wrong.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e usageError) Error() string {
	return fmt.Sprintf("%s (see: %s --help)", e.err, e.cmd.CommandPath())
}

func (e usageError) Unwrap() error { return e.err }

func usagef(cmd *cobra.Command, format string, args ...any) error {
	return usageError{cmd, fmt.Errorf(format, args...)}
}

// verdict is an exit code whose reasons were already printed as results.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit code %d", int(v)) }

func exitCode(err error) int {
	var usage usageError
	var v verdict
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &v):
		return int(v)
	}
	return exitUnchecked
}

// errorText is what is said about err on standard error; "" if all was said.
func errorText(err error) string {
	var v verdict
	if err == nil || errors.As(err, &v) {
		return ""
	}
	return err.Error()
}
