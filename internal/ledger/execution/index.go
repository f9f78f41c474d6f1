// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package execution

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
)

// Options say what an Index is about.
type Options struct {
	FS durable.FS
	// Dir is the directory of the journal, IndexDir the one of the files.
	Dir, IndexDir string
	// Failed is told that a file could not be written. It may be nil.
	Failed func(error)
}

// Index is the index of one journal. It is safe for concurrent use.
type Index struct {
	options Options

	mu sync.Mutex
	// journal is the journal's id.
	journal string
	// recent are the segments that are in memory: the last one, and those before it
	// whose files are being written.
	recent []*recent
	// watches are those who wait for entries of an execution.
	watches map[Key][]*Watch
	filing  sync.WaitGroup
	// making is held while a file is made that is missing, so that those who need it
	// too find it.
	making sync.Mutex
}

// recent is a segment that is in memory.
type recent struct {
	segment uint64
	places  []place // in the order of their offsets
}

// NewIndex returns an index that knows nothing of its journal yet: Begin comes next.
func NewIndex(o Options) *Index {
	return &Index{options: o, watches: map[Key][]*Watch{}}
}

// Begin says how the journal stands, when it was opened or came back after trouble:
// the first sequences of its segments, and all entries of the last one, which
// replace what is known of it.
func (x *Index) Begin(journal string, segments []uint64, m *Marker) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.journal == "" {
		sweep(x.options.IndexDir, segments)
	}
	x.journal = journal
	if n := len(segments); n > 0 {
		last := segments[n-1]
		x.recent = slices.DeleteFunc(x.recent, func(r *recent) bool { return r.segment >= last })
		x.recent = append(x.recent, &recent{last, m.take()})
	}
	// Something of it may have been written that nobody was told of.
	for _, watches := range x.watches {
		for _, w := range watches {
			w.tell()
		}
	}
}

// Learn adds entries that became durable, in the order of the journal. They are
// known to a look-up that begins after it returned.
func (x *Index) Learn(in uint64, m *Marker) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.recent); n == 0 || x.recent[n-1].segment != in {
		if n > 0 {
			x.file(x.recent[n-1])
		}
		x.recent = append(x.recent, &recent{segment: in})
	}
	last := x.recent[len(x.recent)-1]
	last.places = append(last.places, m.places...)
	if len(x.watches) > 0 {
		for _, p := range m.places {
			for _, w := range x.watches[p.key] {
				w.tell()
			}
		}
	}
	m.places = m.places[:0]
}

// file writes the file of a segment that has an end now, beside everything else,
// and forgets what is in memory of it. If it cannot be written, look-ups try again.
func (x *Index) file(r *recent) {
	journal := x.journal
	x.filing.Go(func() {
		err := x.store(journal, r)
		x.mu.Lock()
		x.recent = slices.DeleteFunc(x.recent, func(other *recent) bool { return other == r })
		x.mu.Unlock()
		if err != nil && x.options.Failed != nil {
			x.options.Failed(fmt.Errorf("write the index of executions: %w", err))
		}
	})
}

func (x *Index) store(journal string, r *recent) error {
	segments, err := segment.List(x.options.FS, x.options.Dir)
	at := slices.IndexFunc(segments, func(s segment.Info) bool { return s.First == r.segment })
	if err != nil || at < 0 {
		return err // one that is gone needs no file
	}
	l := label{journal, r.segment, segments[at].Size}
	return store(x.options.IndexDir, l, encode(l, slices.Clone(r.places)))
}

// Find returns where entries of an execution begin in a segment, from an offset on,
// in their order. Some may be those of another execution with the same key.
func (x *Index) Find(ctx context.Context, in segment.Info, key Key, from int64) ([]int64, error) {
	journal, places, known := x.inMemory(in.First)
	if known {
		return offsetsOf(places, key, from), nil
	}
	l := label{journal, in.First, in.Size}
	offsets, err := lookUp(x.options.IndexDir, l, key, from)
	if err == nil {
		return offsets, nil
	}
	x.making.Lock()
	defer x.making.Unlock()
	if offsets, err = lookUp(x.options.IndexDir, l, key, from); err == nil {
		return offsets, nil // somebody else made it meanwhile
	}
	return x.make(ctx, l, in, key, from)
}

// inMemory returns what is in memory of a segment, and whether that is all that is
// known to be durable of it. Places are only ever added behind those.
func (x *Index) inMemory(first uint64) (journal string, places []place, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	last := uint64(0)
	for _, r := range x.recent {
		if last = r.segment; last == first {
			return x.journal, r.places, true
		}
	}
	return x.journal, nil, first > last
}

// make reads a segment, writes its file anew, and returns what Find does.
func (x *Index) make(ctx context.Context, l label, in segment.Info, key Key, from int64) ([]int64, error) {
	var m Marker
	for line, err := range segment.LinesOf(x.options.FS, x.options.Dir, in) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		m.Line(line.Bytes, line.Offset)
	}
	offsets := offsetsOf(m.places, key, from)
	if err := store(x.options.IndexDir, l, encode(l, m.places)); err != nil && x.options.Failed != nil {
		x.options.Failed(fmt.Errorf("write the index of executions: %w", err))
	}
	return offsets, nil
}

// Forget removes the file of a segment that is gone or whose file was wrong.
func (x *Index) Forget(first uint64) error {
	if err := os.Remove(pathOf(x.options.IndexDir, first)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Close waits for the files that are being written.
func (x *Index) Close() { x.filing.Wait() }
