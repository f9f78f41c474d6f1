// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "os"

// terminalWidth takes every output for a file where we cannot ask: files are
// shown in full and never redrawn.
func terminalWidth(*os.File) (int, bool) { return 0, false }
