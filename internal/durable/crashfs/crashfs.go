// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package crashfs is a durable.FS in memory for tests: it knows what is durable
// and what only looks so, loses power, runs full and fails on request.
//
// Each file has a cache, which readers see, and a disk. Sync copies to the disk
// what was written since; SyncDir does the same for the names of a directory.
// Reboot makes of that what a machine finds after a power loss: of everything
// that was not synced, each 512-byte sector, truncation and name is kept or lost
// at random, so that writes are torn and lost in the middle too.
package crashfs

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/readtrail/readtrail/internal/durable"
)

// ErrPowerLost is what every operation returns once the power is gone.
var ErrPowerLost = errors.New("power is lost")

// sector is what a disk writes whole or not at all, in bytes.
const sector = 512

// FS is a file system in memory. It is safe for concurrent use.
type FS struct {
	mu     sync.Mutex
	rng    *rand.Rand
	dirs   map[string]*directory
	locked map[*directory]bool
	faults func(Op) Fault
	ops    int
	// capacity is in bytes, 0 for no limit.
	capacity int64
	// crashAt is the operation at which the power goes, 0 for never.
	crashAt int
	dead    bool
}

var _ durable.FS = (*FS)(nil)

// directory holds the names that readers see and those that are durable.
type directory struct {
	cache, disk map[string]*file
}

// New returns an empty file system whose choices follow the seed.
func New(seed uint64) *FS {
	return &FS{
		rng:    rand.New(rand.NewPCG(seed, 0)),
		dirs:   map[string]*directory{},
		locked: map[*directory]bool{},
	}
}

// Ops returns the number of operations so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// CrashAfter takes the power away in the middle of the n-th operation from now.
func (f *FS) CrashAfter(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = f.ops + n
}

// Reboot crashes the file system and returns what a machine finds after that,
// without faults and with the same capacity.
func (f *FS) Reboot() *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
	after := New(f.rng.Uint64())
	after.capacity = f.capacity
	for path, d := range f.dirs {
		kept := map[string]*file{}
		names := maps.Clone(d.disk)
		maps.Copy(names, d.cache)
		for name := range names {
			survivor := d.disk[name]
			if f.rng.IntN(2) == 0 {
				survivor = d.cache[name]
			}
			if survivor != nil {
				kept[name] = &file{disk: survivor.afterCrash(f.rng)}
				kept[name].cache = append([]byte(nil), kept[name].disk...)
			}
		}
		after.dirs[path] = &directory{cache: kept, disk: maps.Clone(kept)}
	}
	return after
}

// SetCapacity bounds the bytes of all files together; beyond it, writes are cut
// short and fail with ENOSPC. 0 removes the bound.
func (f *FS) SetCapacity(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.capacity = bytes
}

// Used returns the bytes of all files together.
func (f *FS) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used()
}

func (f *FS) used() (n int64) {
	for _, d := range f.dirs {
		for _, file := range d.cache {
			n += int64(len(file.cache))
		}
	}
	return n
}

// Bytes returns the contents of a file as readers see it, nil if there is none.
func (f *FS) Bytes(path string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if file := f.lookup(path); file != nil {
		return append([]byte{}, file.cache...)
	}
	return nil
}

// Put makes path a durable file with these contents, whatever was there.
func (f *FS) Put(path string, contents []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.dirs[filepath.Dir(path)]
	if d == nil {
		d = &directory{cache: map[string]*file{}, disk: map[string]*file{}}
		f.dirs[filepath.Dir(path)] = d
	}
	file := &file{cache: append([]byte{}, contents...), disk: append([]byte{}, contents...)}
	d.cache[filepath.Base(path)], d.disk[filepath.Base(path)] = file, file
}

// Remove takes a file's name away, durably, as a person does: who has it open
// goes on reading and writing what has no name any more.
func (f *FS) Remove(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.dirs[filepath.Dir(path)]; d != nil {
		delete(d.cache, filepath.Base(path))
		delete(d.disk, filepath.Base(path))
	}
}

// Move gives a directory another path, durably, as a volume does that is
// unmounted and mounted again. What stood at the path is gone.
func (f *FS) Move(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs[to] = f.dirs[from]
	delete(f.dirs, from)
}

// linked reports whether a file has a name.
func (f *FS) linked(file *file) bool {
	for _, d := range f.dirs {
		for _, named := range d.cache {
			if named == file {
				return true
			}
		}
	}
	return false
}

func (f *FS) lookup(path string) *file {
	if d := f.dirs[filepath.Dir(path)]; d != nil {
		return d.cache[filepath.Base(path)]
	}
	return nil
}
