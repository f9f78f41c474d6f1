// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/readtrail/readtrail/internal/segment"
)

// ErrDamaged says that an index file cannot be trusted and has to be begun anew.
var ErrDamaged = errors.New("index of repeats is damaged")

// format changes whenever older files can no longer be read.
const format = "2"

// Buckets of the file. All others are named by the times that they hold, see
// generation.
var (
	bucketHead  = []byte("head")
	bucketGiven = []byte("given")
	keyHead     = []byte("head")
)

// head says what a file knows.
type head struct {
	Format  string `json:"format"`
	Journal string `json:"journal"`
	// Window is in nanoseconds.
	Window   int64  `json:"window"`
	Segment  uint64 `json:"segment"`
	Offset   int64  `json:"offset"`
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
	Standing string `json:"standing,omitzero"`
	// Seal is over all of the others; a file that could not be sealed has none.
	Seal []byte `json:"seal,omitzero"`
}

// store is the file. find and write may run beside each other.
type store struct {
	// runs are those in the file that count, in the order in which they are
	// asked.
	runs atomic.Pointer[[]*run]
	// merged are runs that were merged into others: the next write removes them,
	// so that a look-up beside the last one still found them. Only write uses it.
	merged  []*run
	db      *bbolt.DB
	journal string
	window  time.Duration
	// upTo and standing are what the head said when the file was opened.
	upTo     Position
	standing string
	// sealed is what seal seals.
	sealed, seal []byte
	// abandoned says that db panicked, which may have left locks of it held: it
	// can no longer be used or closed, only forgotten.
	abandoned atomic.Bool
}

const lockTimeout = 5 * time.Second

// openStore opens or creates a file. It returns ErrDamaged for a file that is
// there but of no use.
func openStore(path, journal string, window time.Duration) (*store, error) {
	if err := makeRoom(path); err != nil {
		return nil, err
	}
	s := &store{journal: journal, window: window}
	err := s.open(path)
	switch {
	case err == nil:
		return s, nil
	case s.abandoned.Load():
		// The process holds the lock of this file until it ends.
		err = errors.Join(err, removeStore(path))
	case s.db != nil:
		s.close()
	}
	return nil, err
}

func (s *store) open(path string) error {
	err := s.guarded(func() (err error) {
		s.db, err = bbolt.Open(path, 0o640, &bbolt.Options{
			Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		})
		return err
	})
	var pathError *fs.PathError
	var callError *os.SyscallError
	switch {
	case err == nil:
		if err := s.readHead(); err != nil {
			return err
		}
		return s.loadRuns()
	case errors.Is(err, fs.ErrPermission):
		// A cache that somebody else owns is begun anew, as is a damaged one.
	case errors.As(err, &pathError), errors.As(err, &callError):
		return fmt.Errorf("open index of repeats %s: %w", path, err)
	}
	// That includes a lock of the file: the lock of the journal is ours.
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// makeRoom makes the directory of a file, and makes sure that nothing but a file
// has its place. A cache needs no durable directory.
func makeRoom(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
		if err := os.Remove(dir); err != nil {
			return fmt.Errorf("index of repeats needs the directory %s and cannot remove the file there: %w", dir, err)
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("index of repeats: %w", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("index of repeats %s is not a file but %s: delete it, it is only a cache", path, describe(info.Mode()))
	}
	return nil
}

func describe(mode fs.FileMode) string {
	if mode.IsDir() {
		return "a directory"
	}
	return "a special file"
}

func removeStore(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin the index of repeats anew: %w; delete that file, it is only a cache", err)
	}
	return nil
}

// guarded runs whatever touches the pages of the file. bbolt trusts them and
// reads them through a memory map: of a damaged file it panics, and where the
// file was cut the kernel raises SIGBUS, which is a panic only in a goroutine
// that asked for it. Both become ErrDamaged, and the store is abandoned.
func (s *store) guarded(f func() error) (err error) {
	if s.abandoned.Load() {
		return ErrDamaged
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			s.abandoned.Store(true)
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// close closes the file, unless a lock of it may be held for ever.
func (s *store) close() { _ = s.guarded(s.db.Close) }

// readHead leaves the zero Position for a file without a head.
func (s *store) readHead() error {
	return s.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketHead)
		if b == nil {
			return nil
		}
		var h head
		var err error
		if err = json.Unmarshal(b.Get(keyHead), &h); err != nil {
			return ErrDamaged
		}
		if h.Format != format || h.Journal != s.journal || h.Window < int64(s.window) {
			return ErrDamaged
		}
		s.standing, s.seal = h.Standing, h.Seal
		if s.sealed, err = h.message(); err != nil {
			return ErrDamaged
		}
		s.upTo = Position{At: segment.Position{Segment: h.Segment, Offset: h.Offset}, Sequence: h.Sequence, Hash: h.Hash}
		return nil
	})
}

// view reads the file. It has no other errors than that of a damaged file.
func (s *store) view(f func(*bbolt.Tx) error) error {
	err := s.guarded(func() error { return s.db.View(f) })
	if err != nil && !errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

func (s *store) writeHead(tx *bbolt.Tx, of *batch) error {
	b, err := tx.CreateBucketIfNotExists(bucketHead)
	if err != nil {
		return err
	}
	h := head{
		Format: format, Journal: s.journal, Window: int64(s.window),
		Segment: of.upTo.At.Segment, Offset: of.upTo.At.Offset, Sequence: of.upTo.Sequence, Hash: of.upTo.Hash,
		Standing: of.standing,
	}
	if err := h.close(of.sign); err != nil {
		return err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return b.Put(keyHead, text)
}
