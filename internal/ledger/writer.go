// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// writer is the one goroutine that decides, chains and recovers. It owns all of
// its fields, apart from segments while the committer has a group.
type writer struct {
	ledger   *Ledger
	signers  *signers
	commits  *committer
	segments *segment.Writer
	index    *repeat.Index
	ids      *ulids
	// completion is that of the entry that is being sealed: here it needs no memory
	// of its own.
	completion record.Completion

	// head is the end of what is chained, durable or not.
	head chain
	// signer is the key that the journal goes on with, and incoming are those of
	// rotations that are not durable yet, in their order.
	signer   journal.Signer
	incoming []journal.Signer
	// flying holds the entries that are not durable yet, by their repeat keys.
	flying map[repeat.Key]*entry
	// durable is the last entry known to be durable, and known what of the
	// segments is.
	durable repeat.Position
	known   segment.Known

	// standing is what the entries that are chained, durable or not, leave to obey,
	// and settled what those that are durable do.
	standing, settled Standing
	// past are the keys from which bridges lead to a key that the journal has, nil
	// while nobody asked.
	past map[string]bool
	// recent are records of actions that were written or read last.
	recent recent
	// unsettled counts the entries that standing has and settled not yet.
	unsettled int

	drawer  drawer
	open    *group   // being filled
	busy    *group   // with the committer, nil if it is idle
	current *request // begun but not decided to its end

	// down is why nothing can be written, nil while it can.
	down  error
	retry *time.Timer
	// doubtful says that the index has to be learned anew.
	doubtful bool
}

// step is how many items are decided before the writer looks around.
const step = 256

func newWriter(l *Ledger) *writer {
	w := &writer{
		ledger:  l,
		signers: newSigners(l.options.GroupSignatures),
		signer:  l.options.Signer,
		ids:     newULIDs(),
		flying:  map[repeat.Key]*entry{},
		open:    &group{},
		retry:   time.NewTimer(l.options.RetryInterval),
	}
	w.retry.Stop()
	w.commits = l.newCommitter(w)
	return w
}

// run goes on until the journal is closed.
func (w *writer) run() {
	flush := time.NewTimer(rand.N(flushInterval)) // not all journals of a collector at once
	defer flush.Stop()
	closing := w.ledger.closing
	for {
		more := w.fill()
		more = w.dispatch() || more
		if w.index != nil && w.index.Worthwhile() {
			w.startFlush()
		}
		if closing == nil && w.idle() || w.ledger.ctx.Err() != nil {
			break
		}
		var ready <-chan struct{}
		if more {
			ready = always
		}
		select {
		case <-w.ledger.queue.wake:
		case o := <-w.commits.outcomes:
			w.settle(o)
		case err := <-w.indexWritten():
			w.indexDone(err)
		case err := <-w.ledger.doubt:
			w.trip(err)
		case err := <-w.ledger.trouble:
			w.ledger.options.Observer.failed(err)
		case t := <-w.ledger.tasks:
			w.perform(t)
		case <-flush.C:
			w.startFlush()
			flush.Reset(flushInterval)
		case <-w.retry.C:
			w.restore()
		case <-closing:
			closing = nil
			w.ledger.queue.close()
		case <-w.ledger.ctx.Done():
		case <-ready:
		}
	}
	w.finish()
}

// always is ready at once.
var always = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// idle reports whether nothing is left to do for anyone.
func (w *writer) idle() bool {
	return w.busy == nil && w.open.empty() && w.current == nil && w.ledger.queue.empty()
}

// fill decides on a number of waiting items and reports whether it could go on
// at once.
func (w *writer) fill() (more bool) {
	defer func() { w.signers.handOver(w.open) }()
	for range step {
		if w.current == nil {
			if w.current = w.ledger.queue.pop(); w.current == nil {
				return false
			}
		}
		r := w.current
		switch {
		case w.down != nil:
			w.current = nil
			w.ledger.finish(r, w.down)
			continue
		case r.abandoned.Load() && r.next == 0:
			w.current = nil
			w.ledger.finish(r, context.Canceled)
			continue
		case r.rotateTo != nil:
			if !w.mayRotate() {
				return false
			}
			if err := w.rotate(r.rotateTo); err != nil {
				w.trip(err)
				continue
			}
		case r.next < len(r.items):
			if !w.mayDecide(&r.items[r.next]) {
				return false
			}
			if err := w.admit(r); err != nil {
				w.current = nil
				w.ledger.finish(r, err)
				continue
			}
			if err := w.decide(r, r.next); err != nil {
				w.trip(err)
				continue
			}
			r.next++
		}
		if r.next == len(r.items) {
			w.open.ends = append(w.open.ends, r)
			w.current = nil
		}
	}
	return true
}

// mayDecide reports whether the open group and the index have room for an item.
// If the index has none, a batch is being written or was refused by a full disk.
func (w *writer) mayDecide(it *item) bool {
	if w.index.Full() {
		w.startFlush()
		return false
	}
	return w.open.room(1, int64(it.draft.Size()+entryOverhead), w.ledger.options.MaxGroupBytes)
}

// dispatch gives the open group to the committer, unless that has one, and
// reports whether it did.
func (w *writer) dispatch() bool {
	if w.busy != nil || w.open.empty() || w.down != nil {
		return false
	}
	w.busy, w.open = w.open, &group{}
	w.signers.handOver(w.busy)
	w.commits.groups <- w.busy
	return true
}

// settle takes note of how a group went.
func (w *writer) settle(o outcome) {
	w.busy = nil
	if o.err != nil {
		w.refuse(o.group, o.err)
		w.trip(o.err)
		return
	}
	w.landAll(o.group)
	w.ledger.options.Observer.committed(o.group, o.took)
}

func (w *writer) landAll(g *group) {
	defer w.drawer.giveBack(&g.paper)
	for _, e := range g.entries {
		w.land(e)
		w.durable = e.position()
		w.known.End = segment.Position{Segment: e.at.Segment, Offset: e.at.Offset + int64(len(e.line))}
		if n := len(w.known.Segments); n == 0 || w.known.Segments[n-1] != e.at.Segment {
			w.known.Segments = append(w.known.Segments, e.at.Segment)
		}
	}
	w.forget()
}

// finish ends the writer: everything that still waits is refused, the journal is
// closed if it can be, and released.
func (w *writer) finish() {
	w.ledger.queue.close()
	if w.busy != nil {
		w.settle(<-w.commits.outcomes)
	}
	w.refuseAll(ErrClosed)
	if w.down != nil && !errors.Is(w.down, ErrDamaged) && w.ledger.ctx.Err() == nil {
		w.restore()
	}
	err := w.down
	if err == nil && w.ledger.ctx.Err() == nil {
		err = w.writeClosed()
	}
	w.ledger.closeErr = errors.Join(err, w.release())
	if w.ledger.closeErr != nil {
		w.ledger.closeErr = fmt.Errorf("close journal %s: %w", w.ledger.options.Dir, w.ledger.closeErr)
	}
	w.ledger.abort()
	close(w.ledger.done)
}

// release stops the workers and gives back files and lock.
func (w *writer) release() error {
	w.retry.Stop()
	w.signers.stop()
	close(w.commits.groups)
	for range w.commits.outcomes {
		continue
	}
	if w.ledger.executions != nil {
		w.ledger.executions.Close()
	}
	var errs []error
	if w.segments != nil {
		errs = append(errs, w.segments.Close())
	}
	if w.index != nil {
		// What the cache misses is learned again at the next opening.
		_ = w.index.Close(w.ledger.options.Now())
	}
	return errors.Join(append(errs, w.ledger.lock.Close())...)
}

// refuseAll fails whatever waits.
func (w *writer) refuseAll(err error) {
	for _, r := range w.open.ends {
		w.ledger.finish(r, err)
	}
	w.open = &group{}
	if w.current != nil {
		w.ledger.finish(w.current, err)
		w.current = nil
	}
	for r := w.ledger.queue.pop(); r != nil; r = w.ledger.queue.pop() {
		w.ledger.finish(r, err)
	}
}
