// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"bytes"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/readtrail/readtrail/internal/segment"
)

// ErrDamaged says that an index file cannot be trusted and has to be begun anew.
var ErrDamaged = errors.New("index of repeats is damaged")

// format changes whenever older files can no longer be read.
const format = "1"

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
}

// store is the file. find and write may run beside each other.
type store struct {
	db      *bbolt.DB
	journal string
	window  time.Duration
	// abandoned says that a write failed in a way that may have left locks of db
	// held: it can no longer be closed, only forgotten.
	abandoned bool
}

const lockTimeout = 5 * time.Second

// openStore opens or creates a file. It returns ErrDamaged for a file that is
// there but of no use.
func openStore(path, journal string, window time.Duration) (s *store, upTo Position, err error) {
	// A cache needs no durable directory.
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, Position{}, err
	}
	s = &store{journal: journal, window: window}
	err = guarded(func() (err error) {
		s.db, err = bbolt.Open(path, 0o640, &bbolt.Options{
			Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		})
		return err
	})
	var pathError *fs.PathError
	var callError *os.SyscallError
	switch {
	case errors.Is(err, bolterrors.ErrTimeout), errors.As(err, &pathError), errors.As(err, &callError):
		return nil, Position{}, fmt.Errorf("open index of repeats %s: %w", path, err)
	case err != nil:
		return nil, Position{}, errors.Join(ErrDamaged, err)
	}
	if upTo, err = s.readHead(); err != nil {
		s.close()
		return nil, Position{}, err
	}
	return s, upTo, nil
}

func removeStore(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// guarded turns what a damaged file does to bbolt, which trusts its pages and
// reads them through a memory map, into ErrDamaged.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

func (s *store) close() {
	if !s.abandoned {
		_ = guarded(s.db.Close)
	}
}

// readHead returns the zero Position for a file without a head.
func (s *store) readHead() (upTo Position, err error) {
	err = guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketHead)
			if b == nil {
				return nil
			}
			var h head
			if err := json.Unmarshal(b.Get(keyHead), &h); err != nil {
				return ErrDamaged
			}
			if h.Format != format || h.Journal != s.journal || h.Window < int64(s.window) {
				return ErrDamaged
			}
			upTo = Position{At: segment.Position{Segment: h.Segment, Offset: h.Offset}, Sequence: h.Sequence, Hash: h.Hash}
			return nil
		})
	})
	return upTo, err
}

// find looks up keys[i] for every i of rest, in the newest part of the file
// first.
func (s *store) find(keys []Key, rest []int, found []*Seen) error {
	return guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			parts := tx.Cursor()
			for name, _ := parts.Last(); name != nil; name, _ = parts.Prev() {
				if bytes.Equal(name, bucketHead) {
					continue
				}
				b := tx.Bucket(name)
				for _, i := range rest {
					if found[i] != nil {
						continue
					}
					value := b.Get(keys[i][:])
					if value == nil {
						continue
					}
					seen, err := decode(keys[i], value)
					if err != nil {
						return err
					}
					found[i] = &seen
				}
			}
			return nil
		})
	})
}

// write adds a batch and drops one generation that passed its horizon.
func (s *store) write(b *batch) error {
	err := guarded(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			// In the order of the keys, so that neighbors share pages.
			for _, k := range slices.SortedFunc(maps.Keys(b.marks), compareKeys) {
				if err := s.put(tx, b.marks[k]); err != nil {
					return err
				}
			}
			if err := s.dropExpired(tx, b.now); err != nil {
				return err
			}
			return s.writeHead(tx, b.upTo)
		})
	})
	if errors.Is(err, ErrDamaged) {
		s.abandoned = true
	}
	return err
}

func compareKeys(a, b Key) int { return bytes.Compare(a[:], b[:]) }

func (s *store) put(tx *bbolt.Tx, m Mark) error {
	name := bucketGiven
	if !m.Given {
		name = generationOf(m.Recorded, s.window)
	}
	b, err := tx.CreateBucketIfNotExists(name)
	if err != nil {
		return err
	}
	return b.Put(m.Key[:], encode(m.Key, m.Seen))
}

func (s *store) dropExpired(tx *bbolt.Tx, now time.Time) error {
	horizon := now.Add(-s.window)
	parts := tx.Cursor()
	for name, _ := parts.First(); name != nil; name, _ = parts.Next() {
		if end, ok := generationEnd(name); ok && !end.After(horizon) {
			return tx.DeleteBucket(bytes.Clone(name))
		}
	}
	return nil
}

func (s *store) writeHead(tx *bbolt.Tx, upTo Position) error {
	b, err := tx.CreateBucketIfNotExists(bucketHead)
	if err != nil {
		return err
	}
	text, err := json.Marshal(head{
		Format: format, Journal: s.journal, Window: int64(s.window),
		Segment: upTo.At.Segment, Offset: upTo.At.Offset, Sequence: upTo.Sequence, Hash: upTo.Hash,
	})
	if err != nil {
		return err
	}
	return b.Put(keyHead, text)
}
