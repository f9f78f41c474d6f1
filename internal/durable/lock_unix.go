// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package durable

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lock implements FS with flock on the directory itself, so that a journal has
// no lock file that a backup could copy or a person could delete.
func (OS) Lock(dir string) (Lock, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return dirLock{d}, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		err = ErrLocked
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), d.Close())
}

type dirLock struct{ *os.File }
