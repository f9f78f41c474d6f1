// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// syncDirectory is a variable so that a test can have it fail, as a disk does.
var syncDirectory = syncDir

// writeNew writes a file that must not exist (fs.ErrExist), and its name, to
// the disk. What it could not finish it takes away again.
func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	if err = fill(f, data, mode); err == nil {
		err = syncDirectory(filepath.Dir(path))
	}
	if err != nil {
		return alsoRemove(fmt.Errorf("write file: %w", err), path)
	}
	return nil
}

// replaceFile puts a new file in the place of path in one step: a reader, or a
// crash, finds the old one or the new one. It keeps the owner. After an error, replaced says whether
// the new one is in place and only may be lost again if the machine stops now.
func replaceFile(path string, data []byte, mode fs.FileMode) (replaced bool, err error) {
	return replaceFileOf(path, path, data, mode)
}

// replaceFileOf is replaceFile with the owner of another file.
func replaceFileOf(path, owner string, data []byte, mode fs.FileMode) (replaced bool, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), unfinishedPrefix(path)+"*")
	if err != nil {
		return false, fmt.Errorf("replace %s: %w", path, err)
	}
	if err = keepOwner(f, owner); err == nil {
		err = fill(f, data, mode)
	} else {
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return false, alsoRemove(fmt.Errorf("replace %s: %w", path, err), f.Name())
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return true, fmt.Errorf("replace %s: %w", path, err)
	}
	return true, nil
}

// unfinishedPrefix begins the names of the files that replaceFile fills.
func unfinishedPrefix(path string) string { return "." + filepath.Base(path) + "." }

// removeUnfinished removes what a replaceFile of path that was killed left: it may
// hold a secret, and nobody uses it. Nobody else may be replacing path.
func removeUnfinished(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), unfinishedPrefix(path)) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// neverOverwritten says what to do about a file that exists already.
func neverOverwritten(path, instead string) error {
	return fmt.Errorf("%s: exists already and is never overwritten: %s", path, instead)
}

// alsoRemove takes a file away after an error and adds what that gave.
func alsoRemove(err error, path string) error {
	if removeErr := os.Remove(path); removeErr != nil {
		return fmt.Errorf("%w; remove what is left: %w", err, removeErr)
	}
	return err
}

// fill writes, syncs and closes a new file. The mode is set again because the
// umask may have taken bits away.
func fill(f *os.File, data []byte, mode fs.FileMode) error {
	err := f.Chmod(mode)
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
