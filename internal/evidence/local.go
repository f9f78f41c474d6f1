// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/readtrail/readtrail/internal/durable"
)

// incoming is where an object is until it is whole. No name of an organization
// is spelled like that.
const incoming = ".incoming"

// Local is a place in a directory of this machine, with one writer. The whole
// directory has to be on one file system.
type Local struct {
	Directory
	lock durable.Lock
	// serial names what is being written.
	serial atomic.Uint64

	mu sync.Mutex
	// made are the directories that are durable.
	made map[string]bool
}

var _ Place = (*Local)(nil)

// OpenLocal opens the place in root for writing and creates it if it does not
// exist. What a crash left half written is taken away: nothing names it.
func OpenLocal(fsys durable.FS, root string) (*Local, error) {
	if err := fsys.MkdirAll(root); err != nil {
		return nil, err
	}
	lock, err := fsys.Lock(root)
	if errors.Is(err, durable.ErrLocked) {
		return nil, fmt.Errorf("%s: another collector or process writes this evidence store; stop it or give this one another directory", root)
	}
	if err != nil {
		return nil, err
	}
	l := &Local{Directory: Directory{FS: fsys, Root: root}, lock: lock, made: map[string]bool{}}
	if err := l.prepare(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return l, nil
}

// prepare empties the directory of what is incoming and shows that a file can be
// created there.
func (l *Local) prepare() error {
	dir := filepath.Join(l.Root, incoming)
	if err := l.FS.MkdirAll(dir); err != nil {
		return err
	}
	left, err := l.FS.List(dir)
	if err != nil {
		return err
	}
	for _, file := range left {
		if err := l.FS.Unlink(filepath.Join(dir, file.Name)); err != nil {
			return err
		}
	}
	return l.try(nil)
}

// probeBytes is what has to fit on a disk that is called well again.
const probeBytes = 64 << 10

// Probe reports whether an object can be written now.
func (l *Local) Probe() error {
	if err := l.lock.Check(); err != nil {
		return err
	}
	return l.try(make([]byte, probeBytes))
}

// try writes a file that has no name of an object and takes it away again.
func (l *Local) try(contents []byte) error {
	temporary := l.temporary()
	return errors.Join(l.fill(temporary, contents), l.FS.Unlink(temporary))
}

// Close ends writing.
func (l *Local) Close() error { return l.lock.Close() }

// Create implements Place. An object is written under a temporary name and
// synced, gets its name, and the directory is synced. One that is there already
// was synced before it got its name, but its name may not have been.
func (l *Local) Create(ctx context.Context, name string, object []byte) (created bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	path := l.path(name)
	dir := filepath.Dir(path)
	// A volume that is not mounted would be written beside.
	if err := l.lock.Check(); err != nil {
		return false, err
	}
	if err := l.makeDir(dir); err != nil {
		return false, err
	}
	size, err := l.size(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && size != int64(len(object)) {
		created, err = true, l.write(path, object)
	}
	if err == nil {
		err = l.FS.SyncDir(dir)
	}
	if err == nil {
		err = l.lock.Check()
	}
	if err != nil {
		l.forget()
		return false, err
	}
	return created, nil
}

func (l *Local) size(path string) (int64, error) {
	file, err := l.FS.Open(path)
	if err != nil {
		return 0, err
	}
	size, err := file.Size()
	return size, errors.Join(err, file.Close())
}

// write leaves no file under the temporary name if it can help it; what it
// cannot is taken away at the next start.
func (l *Local) write(path string, object []byte) error {
	temporary := l.temporary()
	err := l.fill(temporary, object)
	if err == nil {
		err = l.FS.Rename(temporary, path)
	}
	if err != nil {
		_ = l.FS.Unlink(temporary)
	}
	return err
}

func (l *Local) fill(path string, object []byte) error {
	file, err := l.FS.Create(path)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(object, 0)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func (l *Local) temporary() string {
	return filepath.Join(l.Root, incoming, strconv.FormatUint(l.serial.Add(1), 10))
}

// makeDir makes a directory durable, once: that it exists does not say that it
// is. Their number is bounded by the configuration and 256.
func (l *Local) makeDir(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made[dir] {
		return nil
	}
	if err := l.FS.MkdirAll(dir); err != nil {
		return err
	}
	l.made[dir] = true
	return nil
}

// forget makes all directories again: what took one away may have taken others.
func (l *Local) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.made)
}

// Directory is a local place for reading. It creates and locks nothing.
type Directory struct {
	FS   durable.FS
	Root string
}

var _ Reading = Directory{}

func (d Directory) path(name string) string { return filepath.Join(d.Root, filepath.FromSlash(name)) }

// Open implements Reading.
func (d Directory) Open(_ context.Context, name string) (io.ReadCloser, error) {
	file, err := d.FS.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, 0, math.MaxInt64), file}, nil
}

// List implements Reading.
func (d Directory) List(_ context.Context, prefix string) ([]string, error) {
	names, err := d.FS.ListDirs(d.path(prefix))
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") }), err
}
