// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"errors"
	"syscall"
	"time"
)

// Sizes of what is not yet in the file, in marks of about 100 bytes.
const (
	// batchMarks is when a batch is worth writing.
	batchMarks = 1 << 15
	// maxMarks is when Full says to wait.
	maxMarks = 1 << 18
)

// Index is for one goroutine; only the writing of a batch runs beside it.
type Index struct {
	path    string
	journal string
	window  time.Duration
	store   *store
	// fresh is what is in neither the file nor the batch.
	fresh *fresh
	// spare is memory to use again, nil if there is none.
	spare *fresh
	// batch is being written, or waits to be written again; nil if there is none.
	batch   *batch
	writing bool
	written chan error
	upTo    Position
	// standing is kept for the caller beside upTo.
	standing string
	// filed is the last entry that the file knows of.
	filed Position
}

// batch is what one transaction writes. It is not changed once it is made.
type batch struct {
	marks    *fresh
	upTo     Position
	standing string
	now      time.Time
}

// Open opens the index file of a journal. A file that is missing, unreadable,
// of another journal or of a shorter window is begun anew: then UpTo is zero.
func Open(path, journal string, window time.Duration) (*Index, error) {
	x := &Index{path: path, journal: journal, window: window, fresh: newFresh(), written: make(chan error, 1)}
	var err error
	if x.store, err = openStore(path, journal, window); errors.Is(err, ErrDamaged) {
		err = x.Reset()
	}
	if err != nil {
		return nil, err
	}
	x.upTo, x.standing = x.store.upTo, x.store.standing
	x.filed = x.upTo
	return x, nil
}

// UpTo returns the last entry that the index has learned.
func (x *Index) UpTo() Position { return x.upTo }

// Reset forgets everything and begins a new file.
func (x *Index) Reset() error {
	x.settle()
	x.fresh, x.batch, x.upTo, x.standing, x.filed = newFresh(), nil, Position{}, "", Position{}
	if x.store != nil {
		x.store.close()
		x.store = nil
	}
	if err := removeStore(x.path); err != nil {
		return err
	}
	var err error
	x.store, err = openStore(x.path, x.journal, x.window)
	return err
}

// FindOne is Find for one key.
func (x *Index) FindOne(k Key) (seen Seen, found bool, err error) {
	if seen, found := x.fresh.find(&k); found {
		return seen, true, nil
	}
	if x.batch != nil {
		if seen, found := x.batch.marks.find(&k); found {
			return seen, true, nil
		}
	}
	return x.store.findOne(&k)
}

// Standing returns what Stand was last told, in this file or before.
func (x *Index) Standing() string { return x.standing }

// Stand has the index keep a text for its caller, as it is once the entry was
// learned that Learn is told of next.
func (x *Index) Stand(text string) { x.standing = text }

// Find looks up keys; found[i] is nil for a key that is new. It returns
// ErrDamaged if the file cannot be trusted: then Reset and learn again.
func (x *Index) Find(keys ...Key) (found []*Seen, err error) {
	found = make([]*Seen, len(keys))
	for i, k := range keys {
		switch seen, ok, err := x.FindOne(k); {
		case err != nil:
			return found, err
		case ok:
			found[i] = &seen
		}
	}
	return found, nil
}

// Learn adds the marks of an entry, which must be durable.
func (x *Index) Learn(upTo Position, marks ...Mark) {
	for i := range marks {
		x.fresh.learn(&marks[i])
	}
	x.upTo = upTo
}

// Full says that nothing should be learned before a batch was written.
func (x *Index) Full() bool { return x.fresh.len() >= maxMarks }

// Worthwhile says that enough is in memory for a batch.
func (x *Index) Worthwhile() bool { return x.fresh.len() >= batchMarks }

// Start begins writing what is in memory, unless there is nothing or a batch is
// being written. A batch that failed is written again first. What was recorded
// before now less the window is dropped in passing.
func (x *Index) Start(now time.Time) {
	if x.writing || !x.behind() {
		return
	}
	if x.batch == nil {
		x.batch = &batch{marks: x.fresh, upTo: x.upTo, standing: x.standing, now: now}
		if x.fresh, x.spare = x.spare, nil; x.fresh == nil {
			x.fresh = newFresh()
		}
	}
	x.writing = true
	store, b, written := x.store, x.batch, x.written
	go func() { written <- store.write(b) }()
}

// behind reports whether the file misses something.
func (x *Index) behind() bool { return x.filed != x.upTo }

// Written delivers how a batch went; Done must be told.
func (x *Index) Written() <-chan error { return x.written }

// Done takes note of how a batch went. A nil error, or a full disk, leaves the
// index sound; after any other error it returns ErrDamaged.
func (x *Index) Done(err error) error {
	x.writing = false
	switch {
	case err == nil:
		x.filed, x.spare, x.batch = x.batch.upTo, x.batch.marks, nil
		x.spare.clear()
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, ErrDamaged):
		return err
	}
	// Nobody knows what a failed write or sync left in the file.
	return errors.Join(ErrDamaged, err)
}

// Flush writes everything in memory and waits for it.
func (x *Index) Flush(now time.Time) error {
	if err := x.settle(); err != nil && errors.Is(err, ErrDamaged) {
		return err
	}
	for x.behind() {
		x.Start(now)
		if err := x.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for a batch that is being written. Of a store that was abandoned
// it may wait for a lock that nobody releases: then it is left behind with it.
func (x *Index) settle() error {
	switch {
	case !x.writing:
		return nil
	case x.store.abandoned.Load():
		x.written = make(chan error, 1)
		return x.Done(ErrDamaged)
	}
	return x.Done(<-x.written)
}

// Close writes what is in memory, if it can, and closes the file. What is lost
// is learned again at the next Open.
func (x *Index) Close(now time.Time) error {
	err := x.Flush(now)
	x.store.close()
	if x.store.abandoned.Load() {
		// The process holds the lock of the file until it ends.
		err = errors.Join(err, removeStore(x.path))
	}
	return err
}
