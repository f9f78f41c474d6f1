// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

// syncDir has nothing to do where directories cannot be synced.
func syncDir(string) error { return nil }
