// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package crashfs

import (
	"io"
	"math/rand/v2"
	"slices"
	"syscall"

	"github.com/readtrail/readtrail/internal/durable"
)

// file is an inode.
type file struct {
	cache, disk []byte
	// dirty are the ranges of cache that a sync has to write; resized says that
	// it also has to set the size.
	dirty   []span
	resized bool
}

type span struct{ from, to int }

func (f *file) write(p []byte, at int) {
	f.cache = extend(f.cache, at+len(p))
	copy(f.cache[at:], p)
	f.dirty = append(f.dirty, span{at, at + len(p)})
	f.resized = true
}

func (f *file) truncate(size int) {
	f.cache = extend(slices.Clone(f.cache[:min(size, len(f.cache))]), size)
	for i := range f.dirty {
		f.dirty[i].from, f.dirty[i].to = min(f.dirty[i].from, size), min(f.dirty[i].to, size)
	}
	f.resized = true
}

func (f *file) sync() {
	for _, s := range f.dirty {
		f.disk = extend(f.disk, s.to)
		copy(f.disk[s.from:s.to], f.cache[s.from:s.to])
	}
	if f.resized {
		f.disk = extend(f.disk, len(f.cache))[:len(f.cache)]
	}
	f.dirty, f.resized = nil, false
}

func (f *file) lose(loss Loss) {
	if loss == LoseNothing {
		return
	}
	if loss == LoseSeen {
		f.cache = slices.Clone(f.disk)
	}
	f.dirty, f.resized = nil, false
}

// afterCrash returns what is found of the file after a power loss.
func (f *file) afterCrash(rng *rand.Rand) []byte {
	found := slices.Clone(f.disk)
	if f.resized && rng.IntN(2) == 0 {
		found = extend(found, len(f.cache))[:len(f.cache)]
	}
	chance := []float64{0, 0.5, 0.9, 1}[rng.IntN(4)]
	for _, s := range f.dirty {
		stop := s.to
		if s.to > s.from && rng.IntN(2) == 0 {
			stop = s.from + rng.IntN(s.to-s.from) // torn at a byte, not at a sector
		}
		for from := s.from; from < stop; {
			to := min((from/sector+1)*sector, stop)
			if rng.Float64() < chance {
				found = extend(found, to)
				copy(found[from:to], f.cache[from:to])
			}
			from = to
		}
	}
	return found
}

func extend(b []byte, size int) []byte {
	if len(b) >= size {
		return b
	}
	return append(b, make([]byte, size-len(b))...)
}

// handle is an open file.
type handle struct {
	fs   *FS
	path string
	file *file
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if fault := h.fs.begin(OpRead, h.path); fault.Err != nil {
		return 0, fault.Err
	}
	if off >= int64(len(h.file.cache)) {
		return 0, io.EOF
	}
	n := copy(p, h.file.cache[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	fault := h.fs.begin(OpWrite, h.path)
	n, err := len(p), fault.Err
	switch {
	case err != nil && fault.Short:
		n = len(p) / 2
	case err != nil && !fault.After:
		n = 0
	}
	if c := h.fs.capacity; c > 0 {
		grow := off + int64(n) - int64(len(h.file.cache))
		if room := max(c-h.fs.used(), 0); grow > room {
			n, err = max(n-int(grow-room), 0), syscall.ENOSPC
		}
	}
	if n > 0 {
		h.file.write(p[:n], int(off))
	}
	return n, err
}

func (h *handle) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	fault := h.fs.begin(OpTruncate, h.path)
	if fault.Err == nil || fault.After {
		h.file.truncate(int(size))
	}
	return fault.Err
}

func (h *handle) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	fault := h.fs.begin(OpSync, h.path)
	switch {
	case fault.Err == nil || fault.After:
		h.file.sync()
	default:
		h.file.lose(fault.Loss)
	}
	return fault.Err
}

func (h *handle) Size() (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.fs.dead {
		return 0, ErrPowerLost
	}
	return int64(len(h.file.cache)), nil
}

func (h *handle) Check(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	switch fault := h.fs.begin(OpCheck, h.path); {
	case fault.Err != nil:
		return fault.Err
	case !h.fs.linked(h.file):
		return pathError("check", h.path, durable.ErrGone)
	case int64(len(h.file.cache)) != size:
		return pathError("check", h.path, durable.ErrSize)
	}
	return nil
}

func (h *handle) Close() error { return nil }
