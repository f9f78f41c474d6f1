// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package crashfs

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/readtrail/readtrail/internal/durable"
)

// MkdirAll implements durable.FS.
func (f *FS) MkdirAll(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault := f.begin(OpMkdir, dir); fault.Err != nil {
		return fault.Err
	}
	if f.dirs[filepath.Clean(dir)] == nil {
		f.dirs[filepath.Clean(dir)] = &directory{cache: map[string]*file{}, disk: map[string]*file{}}
	}
	return nil
}

// Create implements durable.FS.
func (f *FS) Create(path string) (durable.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.begin(OpCreate, path)
	if fault.Err != nil && !fault.After {
		return nil, pathError("create", path, fault.Err)
	}
	d := f.dirs[filepath.Dir(path)]
	switch {
	case d == nil:
		return nil, pathError("create", path, fs.ErrNotExist)
	case d.cache[filepath.Base(path)] != nil:
		return nil, pathError("create", path, fs.ErrExist)
	case f.capacity > 0 && f.used() >= f.capacity:
		return nil, pathError("create", path, syscall.ENOSPC)
	}
	created := &file{}
	d.cache[filepath.Base(path)] = created
	if fault.Err != nil {
		return nil, pathError("create", path, fault.Err)
	}
	return &handle{fs: f, path: path, file: created}, nil
}

// OpenFile implements durable.FS.
func (f *FS) OpenFile(path string) (durable.File, error) { return f.open(path) }

// Open implements durable.FS.
func (f *FS) Open(path string) (durable.Reader, error) { return f.open(path) }

func (f *FS) open(path string) (*handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault := f.begin(OpOpen, path); fault.Err != nil {
		return nil, pathError("open", path, fault.Err)
	}
	file := f.lookup(path)
	if file == nil {
		return nil, pathError("open", path, fs.ErrNotExist)
	}
	return &handle{fs: f, path: path, file: file}, nil
}

// Rename implements durable.FS. Each of the two names survives a crash or not by
// itself, as long as its directory is not synced.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.begin(OpRename, to)
	if fault.Err != nil && !fault.After {
		return pathError("rename", to, fault.Err)
	}
	file, target := f.lookup(from), f.dirs[filepath.Dir(to)]
	if file == nil || target == nil {
		return pathError("rename", to, fs.ErrNotExist)
	}
	delete(f.dirs[filepath.Dir(from)].cache, filepath.Base(from))
	target.cache[filepath.Base(to)] = file
	return fault.Err
}

// Unlink implements durable.FS.
func (f *FS) Unlink(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.begin(OpUnlink, path)
	if fault.Err != nil && !fault.After {
		return pathError("unlink", path, fault.Err)
	}
	if f.lookup(path) == nil {
		return pathError("unlink", path, fs.ErrNotExist)
	}
	delete(f.dirs[filepath.Dir(path)].cache, filepath.Base(path))
	return fault.Err
}

// ListDirs implements durable.FS.
func (f *FS) ListDirs(dir string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault := f.begin(OpList, dir); fault.Err != nil {
		return nil, pathError("list", dir, fault.Err)
	}
	names := map[string]bool{}
	for path := range f.dirs {
		if below, found := strings.CutPrefix(path, strings.TrimSuffix(filepath.Clean(dir), "/")+"/"); found {
			name, _, _ := strings.Cut(below, "/")
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// List implements durable.FS.
func (f *FS) List(dir string) ([]durable.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault := f.begin(OpList, dir); fault.Err != nil {
		return nil, pathError("list", dir, fault.Err)
	}
	d := f.dirs[filepath.Clean(dir)]
	if d == nil {
		return nil, nil
	}
	var files []durable.Info
	for name, file := range d.cache {
		files = append(files, durable.Info{Name: name, Size: int64(len(file.cache))})
	}
	slices.SortFunc(files, func(a, b durable.Info) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// SyncDir implements durable.FS.
func (f *FS) SyncDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.begin(OpSyncDir, dir)
	if fault.Err == nil || fault.After {
		if d := f.dirs[filepath.Clean(dir)]; d != nil {
			d.disk = maps.Clone(d.cache)
		}
	}
	return fault.Err
}

// Lock implements durable.FS.
func (f *FS) Lock(dir string) (durable.Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.dirs[filepath.Clean(dir)]
	switch {
	case d == nil:
		return nil, pathError("lock", dir, fs.ErrNotExist)
	case f.locked[d]:
		return nil, fmt.Errorf("lock %s: %w", dir, durable.ErrLocked)
	}
	f.locked[d] = true
	return &lock{fs: f, path: filepath.Clean(dir), dir: d}, nil
}

type lock struct {
	fs   *FS
	path string
	dir  *directory
}

func (l *lock) Check() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	switch there := l.fs.dirs[l.path]; there {
	case l.dir:
		return nil
	case nil:
		return pathError("stat", l.path, fs.ErrNotExist)
	}
	return pathError("check", l.path, durable.ErrGone)
}

func (l *lock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	delete(l.fs.locked, l.dir)
	return nil
}

func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}
