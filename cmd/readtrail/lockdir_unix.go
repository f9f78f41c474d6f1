// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockPatience is how long a command waits for another one.
const lockPatience = 10 * time.Second

// lockDir waits until no other command changes the files of dir, but not for ever:
// a directory of a journal is locked as long as a collector writes it.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for since := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		waits := errors.Is(err, unix.EINTR) || errors.Is(err, unix.EWOULDBLOCK)
		if !waits || time.Since(since) > lockPatience {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w; wait for the command that changes files there, and keep keys out of the directory of a journal", dir, err), d.Close())
	}
	return func() { _ = d.Close() }, nil
}

// keepOwner gives a new file the owner of the one whose place it takes, if there is
// one: an account that could read the former file must be able to read this one.
func keepOwner(f *os.File, former string) error {
	info, err := os.Stat(former)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	if err := f.Chown(int(stat.Uid), int(stat.Gid)); err != nil {
		return fmt.Errorf("%s belongs to another account (uid %d): run this as that account or as root: %w", former, stat.Uid, err)
	}
	return nil
}
