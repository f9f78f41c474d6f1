// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"container/list"
	"context"
	"fmt"
	"sync"
)

// budget bounds the bytes of the requests that wait. Whoever asks first is
// served first, so that a large request is not starved by small ones.
type budget struct {
	mu      sync.Mutex
	total   int64
	free    int64
	waiters list.List // of *claim
}

type claim struct {
	bytes   int64
	granted chan struct{}
}

func newBudget(total int64) *budget { return &budget{total: total, free: total} }

// acquire takes bytes, waiting until they are free, until ctx ends or until
// closing is closed. A request larger than the whole budget takes all of it.
func (b *budget) acquire(ctx context.Context, bytes int64, closing <-chan struct{}) error {
	b.mu.Lock()
	bytes = min(bytes, b.total)
	if b.waiters.Len() == 0 && b.free >= bytes {
		b.free -= bytes
		b.mu.Unlock()
		return nil
	}
	c := &claim{bytes: bytes, granted: make(chan struct{})}
	place := b.waiters.PushBack(c)
	b.mu.Unlock()

	var err error
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
		err = fmt.Errorf("wait for the journal: %w", context.Cause(ctx))
	case <-closing:
		err = ErrClosed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.granted:
		b.free += bytes
	default:
		b.waiters.Remove(place)
	}
	b.grant() // those behind may fit
	return err
}

// release gives back what acquire took for the same number of bytes.
func (b *budget) release(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += min(bytes, b.total)
	b.grant()
}

func (b *budget) grant() {
	for first := b.waiters.Front(); first != nil; first = b.waiters.Front() {
		c := first.Value.(*claim)
		if b.free < c.bytes {
			return
		}
		b.free -= c.bytes
		b.waiters.Remove(first)
		close(c.granted)
	}
}
