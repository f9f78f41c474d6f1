// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes of what is created, before the umask. A journal holds digests, yet who
// may read it is for its owner to widen.
const (
	dirMode  = 0o750
	fileMode = 0o640
)

// OS is the file system of the operating system.
//
// The system calls of one committed group are pwrite64, fsync and fstat of the segment;
// a new segment adds openat (O_CREAT|O_EXCL) and fsync of the directory between
// them and the acknowledgement.
type OS struct{}

var _ FS = OS{}

// MkdirAll implements FS.
func (o OS) MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	parent := filepath.Dir(dir)
	switch info, err := os.Stat(dir); {
	case err == nil && info.IsDir():
		// Whoever created it may have been killed before the sync. A parent that
		// we may not open was not created by us.
		if err := o.SyncDir(parent); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	case err == nil:
		return &fs.PathError{Op: "create directory", Path: dir, Err: errors.New("a file has that name; move it away or choose another directory")}
	case errors.Is(err, syscall.ENOTDIR) && parent != dir: // one above is a file: find out which
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := o.MkdirAll(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return o.SyncDir(parent)
}

// Create implements FS.
func (OS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// OpenFile implements FS.
func (OS) OpenFile(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Open implements FS. What is no file is refused before it is opened: a pipe
// would have us wait for somebody who writes to it.
func (OS) Open(path string) (Reader, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Unlink implements FS.
func (OS) Unlink(path string) error { return os.Remove(path) }

// ListDirs implements FS.
func (OS) ListDirs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		// Stat, since a link to a directory is one.
		if info, statErr := os.Stat(filepath.Join(dir, e.Name())); statErr == nil && info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// List implements FS.
func (OS) List(dir string) ([]Info, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []Info
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		files = append(files, Info{Name: e.Name(), Size: info.Size()})
	}
	return files, nil
}

// SyncDir implements FS.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type osFile struct{ *os.File }

// Size implements Reader.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
