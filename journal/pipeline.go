// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"runtime"
	"sync"
)

const (
	// batchBytes is how much of a journal one worker takes at a time.
	batchBytes = 256 << 10
	// maxWorkers bounds the memory on machines with many cores.
	maxWorkers = 8
	// largeLine is the length from which on lines are checked one at a time:
	// parsing takes many times the bytes of a line.
	largeLine = 64 << 10
)

// batch is a run of lines on its way to a worker and back.
type batch struct {
	data  []byte
	lines []batchLine
	// read counts the bytes of the journal up to the end of the batch.
	read    int64
	checked []checked
	done    chan struct{}
}

type batchLine struct {
	Line
	start, stop int
}

// checkLines gives every line to add, in order, after workers have checked it.
// At most a few batches are in memory at a time. It returns when nothing runs
// any more.
func checkLines(ctx context.Context, s *Source, registry *Registry, add func([]checked, int64)) error {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	ctx, cancel := context.WithCancel(ctx)
	work, order := make(chan *batch, workers), make(chan *batch, workers)
	var readErr error
	var large sync.Mutex
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(work)
		defer close(order)
		readErr = readBatches(s, func(b *batch) bool { return send(ctx, order, b) && send(ctx, work, b) })
	})
	for range workers {
		wg.Go(func() {
			for b := range work {
				b.check(registry, &large)
				close(b.done)
			}
		})
	}
	for b := range order {
		select {
		case <-b.done:
			add(b.checked, b.read)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return readErr
}

func send(ctx context.Context, to chan<- *batch, b *batch) bool {
	select {
	case to <- b:
		return true
	case <-ctx.Done():
		return false
	}
}

// readBatches reads the lines of a source into batches until emit says no.
func readBatches(s *Source, emit func(*batch) bool) error {
	var read int64
	b := newBatch()
	for line, err := range s.Lines() {
		if err != nil {
			return err
		}
		read += line.Size
		start := len(b.data)
		b.data = append(b.data, line.Bytes...)
		b.lines = append(b.lines, batchLine{line, start, len(b.data)})
		b.read = read
		if len(b.data) >= batchBytes || len(b.lines) >= batchBytes/64 {
			if !emit(b) {
				return nil
			}
			b = newBatch()
		}
	}
	if len(b.lines) > 0 {
		emit(b)
	}
	return nil
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

func (b *batch) check(registry *Registry, large *sync.Mutex) {
	b.checked = make([]checked, 0, len(b.lines))
	for _, l := range b.lines {
		var c checked
		switch text := b.data[l.start:l.stop]; {
		case l.Torn:
		case l.TooLong:
			c.notEntry = tooLong(l.Size - 1)
		case len(text) > largeLine:
			large.Lock()
			c = checkLine(text, registry)
			large.Unlock()
		default:
			c = checkLine(text, registry)
		}
		c.segment, c.offset, c.torn = l.Segment, l.Offset, l.Torn
		b.checked = append(b.checked, c)
	}
	b.data, b.lines = nil, nil
}
