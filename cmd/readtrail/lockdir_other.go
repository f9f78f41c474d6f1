// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "os"

// lockDir has nothing to do where directories cannot be locked.
func lockDir(string) (unlock func(), err error) { return func() {}, nil }

// keepOwner has nothing to do where a file has the owner of its directory.
func keepOwner(*os.File, string) error { return nil }
