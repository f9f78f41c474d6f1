// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth returns the columns of the terminal that f is, and whether it
// is one. The width may be 0 if the terminal does not know it.
func terminalWidth(f *os.File) (int, bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
