// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// ErrTooLarge says that a file is larger than its reader takes.
var ErrTooLarge = errors.New("file is larger than what is expected there")

// ReadWhole reads a file of at most limit bytes.
func ReadWhole(fsys FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return data, nil
}

// ReplaceWhole puts a file in the place of one that may be there. Who looks finds
// the one or the other, whole; after a crash it may be neither. It is for caches:
// nothing is synced. It makes the directory if that is missing.
func ReplaceWhole(fsys FS, path string, data []byte) error { return whole(fsys, path, data, false) }

// WriteWhole is ReplaceWhole for what must last: when it returns nil, the file is
// durable under its name. A crash before that leaves the one file or the other.
func WriteWhole(fsys FS, path string, data []byte) error { return whole(fsys, path, data, true) }

func whole(fsys FS, path string, data []byte, sync bool) error {
	temporary := path + ".new"
	f, err := fsys.Create(temporary)
	if errors.Is(err, fs.ErrNotExist) {
		// Making sure of the directory each time would sync its parent.
		if err = fsys.MkdirAll(filepath.Dir(path)); err == nil {
			f, err = fsys.Create(temporary)
		}
	}
	if errors.Is(err, fs.ErrExist) { // a crash left it
		if err = fsys.Unlink(temporary); err == nil {
			f, err = fsys.Create(temporary)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = fsys.Rename(temporary, path); err == nil && sync {
		err = fsys.SyncDir(filepath.Dir(path))
	}
	return err
}
