// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package durable

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Check implements Lock.
func (l dirLock) Check() error {
	locked, err := l.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(l.Name())
	switch {
	case err != nil:
		return err
	case !os.SameFile(locked, there):
		return fmt.Errorf("directory %s %w", l.Name(), ErrGone)
	}
	return nil
}

// Check implements File. It asks the kernel about the open file, so that it
// costs one system call and no disk.
func (f osFile) Check(size int64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return fmt.Errorf("check %s: %w", f.Name(), err)
	}
	switch {
	case stat.Nlink == 0:
		return fmt.Errorf("%s %w", f.Name(), ErrGone)
	case stat.Size != size:
		return fmt.Errorf("%s has %d bytes, not %d: %w", f.Name(), stat.Size, size, ErrSize)
	}
	return nil
}
