// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package durable

import (
	"errors"
	"fmt"
)

// Lock implements FS: nothing is written where a directory cannot be locked.
// Reading works everywhere.
func (OS) Lock(dir string) (Lock, error) {
	return nil, fmt.Errorf("lock %s: %w on this operating system", dir, errors.ErrUnsupported)
}

// Check implements File.
func (osFile) Check(int64) error { return errors.ErrUnsupported }
