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
	batchBytes = 128 << 10
	// maxWorkers bounds the memory on machines with many cores.
	maxWorkers = 16
	// largeLine is the length from which on lines are checked one at a time: a
	// schema takes many times the bytes of a line.
	largeLine = 64 << 10
)

// batch is a run of lines on its way to a worker and back. It is used again when
// the lines were added.
type batch struct {
	data  []byte
	lines []batchLine
	// read counts the bytes of the journal up to the end of the batch.
	read    int64
	checked []checked
	// done is sent to when all lines are checked.
	done chan struct{}
}

type batchLine struct {
	Line
	start, stop int
}

// pipeline gives the lines of a source to workers and takes them back in order.
type pipeline struct {
	source  *Source
	options *Options
	// work and order hold the batches that were read; free those that were added.
	work, order, free chan *batch
	large             sync.Mutex
}

// checkLines gives every line to add, in order, after workers have checked it.
// At most a few batches are in memory at a time. It returns when nothing runs
// any more.
func checkLines(ctx context.Context, s *Source, opt *Options, add func([]checked, int64)) error {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	p := &pipeline{source: s, options: opt, work: make(chan *batch, 2*workers), order: make(chan *batch, 2*workers), free: make(chan *batch, 2*workers)}
	ctx, cancel := context.WithCancel(ctx)
	var readErr error
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(p.work)
		defer close(p.order)
		readErr = p.read(func(b *batch) bool { return send(ctx, p.order, b) && send(ctx, p.work, b) })
	})
	for range workers {
		wg.Go(p.checkAll)
	}
	for b := range p.order {
		select {
		case <-b.done:
			add(b.checked, b.read)
			p.recycle(b)
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

// read reads the lines of the source into batches until emit says no.
func (p *pipeline) read(emit func(*batch) bool) error {
	var read int64
	b := p.batch()
	for line, err := range p.source.Lines() {
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
			b = p.batch()
		}
	}
	if len(b.lines) > 0 {
		emit(b)
	}
	return nil
}

func (p *pipeline) batch() *batch {
	select {
	case b := <-p.free:
		b.data, b.lines, b.checked = b.data[:0], b.lines[:0], b.checked[:0]
		return b
	default:
		return &batch{done: make(chan struct{}, 1)}
	}
}

// recycle keeps a batch for the next lines, unless a long line made it large.
func (p *pipeline) recycle(b *batch) {
	clear(b.checked)
	if cap(b.data) > 4*batchBytes {
		return
	}
	select {
	case p.free <- b:
	default:
	}
}

func (p *pipeline) checkAll() {
	k := newChecker(p.options)
	for b := range p.work {
		for _, l := range b.lines {
			var c checked
			switch text := b.data[l.start:l.stop]; {
			case l.Torn:
			case l.TooLong:
				c.notEntry = tooLong(l.Size - 1)
			case len(text) > largeLine:
				p.large.Lock()
				c = k.check(text)
				p.large.Unlock()
			default:
				c = k.check(text)
			}
			c.segment, c.offset, c.torn = l.Segment, l.Offset, l.Torn
			b.checked = append(b.checked, c)
		}
		b.done <- struct{}{}
	}
}
