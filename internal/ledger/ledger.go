// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package ledger writes a journal: one journal, one writer. It decides what is a
// repeat, completes, chains and signs records, commits them in groups, and
// acknowledges them only when they are durable (contract 3, 4, 7, 8). After
// disk trouble it finds its own way back. docs/durability.md tells the life of an
// entry and what a crash at each step means.
//
//	Append ──► queue ──► writer (serial: repeat? complete, chain) ──► signers
//	                        ▲                                           │
//	                        └── outcome ── committer (write, fsync) ◄───┘
//	                                           └──► acknowledge
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger/execution"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	// ErrUnavailable says that records could not be made durable. It wraps the
	// cause. The same records can be appended again: those that were written after
	// all are repeats then.
	ErrUnavailable = errors.New("journal is unavailable, append again later")
	// ErrDamaged says that a journal is damaged where no crash can have done it,
	// and that it stays unavailable until someone examined it.
	ErrDamaged = segment.ErrDamaged
	// ErrOtherKey says that the last entry of a journal is by a key that is neither
	// Options.Signer nor one of Options.Outgoing. Entries of a second key without a
	// bridge between the two (contract 4) would not verify.
	ErrOtherKey = errors.New("journal goes on with the key that it has")
	// ErrRolledBack says that a place outside the journal has a checkpoint of more
	// entries than the journal has: some are lost, or it is an old copy. To go on
	// would fork it.
	ErrRolledBack = errors.New("journal was rolled back")
	// ErrContradicted says that a place outside the journal has a checkpoint that the
	// journal as it is cannot have made: it was rewritten, or there are two of it.
	ErrContradicted = errors.New("journal is contradicted by a checkpoint outside")
	// ErrClosed says that the journal was closed before the records were written.
	ErrClosed = errors.New("journal is closed")
)

// Ledger is an open journal. It is safe for concurrent use.
type Ledger struct {
	options Options
	id      string
	place   place
	// lock is the writer's once it runs.
	lock   durable.Lock
	queue  *queue
	budget *budget
	// down is why the journal is unavailable, nil while it is not.
	down atomic.Pointer[error]
	// doubt is signaled by a caller that did not find a record where the index
	// of repeats says it stands.
	doubt chan error
	// begins is the first sequence that pruning leaves, 0 if it never did: what the
	// index knows of segments before is gone.
	begins atomic.Uint64
	// tasks are for the writer to do between two of its own steps.
	tasks chan task
	// executions knows which entries an execution has, nil without Options.Executions.
	executions *execution.Index
	// trouble is what went wrong with its files.
	trouble chan error
	// marker is the committer's, and the writer's while that is idle.
	marker execution.Marker
	// pruning is held by whoever prunes.
	pruning sync.Mutex

	// ctx ends when the writer has to stop without finishing.
	ctx     context.Context
	abort   context.CancelFunc
	closing chan struct{}
	close   sync.Once
	// done is closed when the writer is gone; closeErr is set before.
	done     chan struct{}
	closeErr error
}

// Open opens the journal in a directory, creating both if they are missing,
// recovers what a crash left (contract 8), and writes journal.opened or
// journal.resumed. It returns durable.ErrLocked if another writer has the
// journal, ErrDamaged if it must not be written to, and other errors if the disk
// does not let it.
func Open(ctx context.Context, options Options) (*Ledger, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		options: options,
		place:   newPlace(options.Dir, options.IndexDir),
		queue:   newQueue(),
		budget:  newBudget(options.MaxPendingBytes),
		doubt:   make(chan error, 1),
		trouble: make(chan error, 1),
		tasks:   make(chan task),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	if options.Executions {
		l.executions = execution.NewIndex(execution.Options{
			FS: options.FS, Dir: options.Dir, IndexDir: options.IndexDir, Failed: l.executionsFailed,
		})
	}
	if err := options.FS.MkdirAll(options.Dir); err != nil {
		return nil, openError(options.Dir, err)
	}
	if l.lock, err = options.FS.Lock(options.Dir); err != nil {
		return nil, openError(options.Dir, err)
	}
	l.ctx, l.abort = context.WithCancel(context.WithoutCancel(ctx))
	w := newWriter(l)
	stop := context.AfterFunc(ctx, l.abort)
	err = w.recover()
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.abort()
		return nil, errors.Join(openError(options.Dir, err), w.release())
	}
	go w.run()
	return l, nil
}

// openError says what to do about a directory that cannot be written.
func openError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("open journal %s: %w; let the user of this process write there, or choose another directory", dir, err)
	}
	return fmt.Errorf("open journal %s: %w", dir, err)
}

// JournalID returns the id that every entry of the journal carries.
func (l *Ledger) JournalID() string { return l.id }

// Append writes records and returns when all of them are durable, with a receipt
// for each, in their order. A record that the journal has already leaves no
// second entry: its receipt is that of the first one, with Repeat set. On an
// error nobody knows which of the records were written; appending all of them
// again is always right. A ctx that ends does not take back what is on its way.
// Errors name the files of the journal, not where they are: they travel to
// senders.
func (l *Ledger) Append(ctx context.Context, drafts []*record.Draft) ([]journal.Receipt, error) {
	receipts, err := l.append(ctx, drafts, func(*request) {})
	return receipts, l.place.hide(err)
}

// append appends what the writer admits. Each request that it takes is prepared before.
func (l *Ledger) append(ctx context.Context, drafts []*record.Draft, prepare func(*request)) ([]journal.Receipt, error) {
	if len(drafts) == 0 {
		return nil, l.unavailable()
	}
	for {
		r, err := newRequest(drafts)
		if err != nil {
			return nil, err
		}
		prepare(r)
		if err := l.submit(ctx, r); err != nil {
			return nil, err
		}
		receipts, err := l.receipts(r)
		if !errors.Is(err, errPruned) {
			return receipts, err
		}
		// What a record repeated was pruned before its receipt was read back: now it
		// is no repeat any more.
	}
}

// submit gives a request to the writer and waits until it is done.
func (l *Ledger) submit(ctx context.Context, r *request) error {
	if err := l.unavailable(); err != nil {
		return err
	}
	if err := l.budget.acquire(ctx, r.cost, l.closing); err != nil {
		return err
	}
	if !l.queue.push(r) {
		l.budget.release(r.cost)
		return ErrClosed
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		r.abandoned.Store(true)
		return fmt.Errorf("wait for the journal: %w", context.Cause(ctx))
	}
}

// unavailable returns the error with which Append fails at once.
func (l *Ledger) unavailable() error {
	if err := l.down.Load(); err != nil {
		return *err
	}
	return nil
}

// finish tells the caller of a request how it went.
func (l *Ledger) finish(r *request, err error) {
	l.budget.release(r.cost)
	r.err = err
	close(r.done)
}

// Close appends what was waiting, writes journal.closed, and releases the
// journal. If ctx ends first, what is not yet written fails with ErrClosed, and
// Close does not wait for a disk that hangs. Later calls do and return the same.
func (l *Ledger) Close(ctx context.Context) error {
	l.close.Do(func() { close(l.closing) })
	select {
	case <-l.done:
		return l.closeErr
	case <-ctx.Done():
		l.abort()
		return fmt.Errorf("close journal %s: %w", l.options.Dir, context.Cause(ctx))
	}
}
