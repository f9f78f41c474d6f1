// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/readtrail/readtrail/internal/ledger/actions"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// entryOverhead is more than completing and sealing add to a draft, in bytes.
const entryOverhead = 8 << 10

// request is one call of Append on its way through the writer.
type request struct {
	items []item
	// cost is what the request takes of the budget, in bytes.
	cost int64
	// abandoned says that nobody waits any more. What is not begun is skipped.
	abandoned atomic.Bool

	// admit is asked by the writer right before it decides on the first item, with
	// everything before decided; an error ends the request with nothing written.
	admit func(*writer, *request) error
	// rotateTo makes the request one to change keys; it has no items then.
	rotateTo journal.Signer

	// next is the first item that is not decided on; only the writer uses it.
	next int
	// receipts belong to the writer until done is closed, as does err.
	receipts []journal.Receipt
	// stored are the items whose receipts have to be read back, by their index.
	stored map[int]segment.Position
	// entries are those of the other items of a request whose receipts have
	// signatures; nil for one that needs none.
	entries map[int]*entry
	err     error
	done    chan struct{}
}

// item is a draft with its repeat keys.
type item struct {
	draft  *record.Draft
	key    repeat.Key // if the draft has an id
	event  repeat.Key // if the draft has an event id
	digest repeat.Digest
	parts  []repeat.Key
	// own is the body of a draft that the standing of the journal may depend on.
	own *record.Journal
	// signed says that the receipt has the signature.
	signed bool
	// facts are those of a record of an action or an approval.
	facts *actions.Facts
}

func newRequest(drafts []*record.Draft) (*request, error) {
	r := &request{
		items:    make([]item, len(drafts)),
		receipts: make([]journal.Receipt, len(drafts)),
		done:     make(chan struct{}),
	}
	for i, d := range drafts {
		size := d.Size() + entryOverhead
		if size > record.MaxEntryBytes {
			return nil, fmt.Errorf("append: draft of %d bytes: %w", d.Size(), record.ErrTooLarge)
		}
		r.cost += int64(size)
		r.items[i] = newItem(d)
		facts, err := factsOf(d.Kind(), d.Version(), d.Body())
		if err != nil {
			return nil, fmt.Errorf("append: record %d: %w", i, err)
		}
		if facts != nil {
			r.items[i].facts = facts
			r.admit = (*writer).admitStrict
		}
	}
	return r, nil
}

func newItem(d *record.Draft) item {
	it := item{draft: d}
	if id := d.ID(); id != "" {
		it.key = repeat.KeyOfID(id)
	}
	if id := d.EventID(); id != "" {
		it.event = repeat.KeyOfEvent(id)
	}
	it.digest = repeat.DigestOf(d.Digest())
	for _, p := range d.Parts() {
		it.parts = append(it.parts, repeat.KeyOfPart(p.Key))
	}
	return it
}

// readBack notes where the receipt of item i stands.
func (r *request) readBack(i int, at segment.Position) {
	if r.stored == nil {
		r.stored = map[int]segment.Position{}
	}
	r.stored[i] = at
}

// signedBy notes the entry of item i, whose signature its receipt has.
func (r *request) signedBy(i int, e *entry) {
	if r.entries != nil {
		r.entries[i] = e
	}
}

// queue holds the requests that the writer has not begun.
type queue struct {
	mu     sync.Mutex
	items  []*request
	closed bool
	// wake has room for one signal that something was pushed.
	wake chan struct{}
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// push reports whether the queue was open.
func (q *queue) push(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.items = append(q.items, r)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// pop returns the oldest request, or nil.
func (q *queue) pop() *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return nil
	}
	r := q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	return r
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
