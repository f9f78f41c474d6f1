// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeNew writes a file that must not exist (fs.ErrExist), and its name, to
// the disk. What it could not finish it takes away again.
func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	if err = fill(f, data, mode); err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write file: %w", err), os.Remove(path))
	}
	return nil
}

// replaceFile puts a new file in the place of path in one step: a reader, or a
// crash, finds the old one or the new one.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	if err = fill(f, data, mode); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", path, err), os.Remove(f.Name()))
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
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
