// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/readtrail/readtrail/internal/ledger/execution"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
)

// trip stops writing after trouble. Everybody whose records are not known to be
// durable is told to append them again; then the journal tries to come back at
// once. It never writes behind a failed write or sync without having read what
// is there (contract 8).
func (w *writer) trip(cause error) {
	failure := unavailable(cause)
	if w.busy != nil {
		o := <-w.commits.outcomes
		w.busy = nil
		if o.err == nil {
			w.landAll(o.group)
			w.ledger.options.Observer.committed(o.group, o.took)
		}
		w.refuse(o.group, o.err)
	}
	// What was chained on top of the failed group goes with it.
	w.refuse(w.open, failure)
	w.open = &group{}
	if w.current != nil {
		w.ledger.finish(w.current, failure)
		w.current = nil
	}
	clear(w.flying)
	w.doubtful = w.doubtful || errors.Is(cause, repeat.ErrDamaged) && !w.misses(cause)
	w.setDown(failure)
	w.restore()
}

// refuse fails the requests that end in a group; a nil error means that they
// were acknowledged.
func (w *writer) refuse(g *group, err error) {
	if err == nil {
		return
	}
	for _, r := range g.ends {
		w.ledger.finish(r, unavailable(err))
	}
}

// misses reports whether a cause is that a segment of the journal is not there:
// then an index that names it is right.
func (w *writer) misses(cause error) bool {
	var missing *segment.MissingError
	return errors.As(cause, &missing) && slices.ContainsFunc(w.known.Segments, func(first uint64) bool {
		return slices.Contains(missing.Segments, segment.Name(first))
	})
}

// restore tries to bring the journal back, and arranges the next try if it
// cannot. Damage stays until someone examined it.
func (w *writer) restore() {
	err := w.recover()
	if err == nil {
		w.setDown(nil)
		return
	}
	w.setDown(unavailable(err))
	if !errors.Is(w.down, ErrDamaged) {
		w.retry.Reset(w.ledger.options.RetryInterval)
	}
}

// setDown tells callers and observer whether the journal is available, and of
// the newest cause if it is not.
func (w *writer) setDown(err error) {
	changed := (err == nil) != (w.down == nil) || err != nil && err.Error() != w.down.Error()
	w.down = err
	if err == nil {
		w.ledger.down.Store(nil)
	} else {
		w.ledger.down.Store(&err)
		w.ledger.options.Observer.failed(err)
	}
	if changed {
		w.ledger.options.Observer.state(err)
	}
}

// unavailable makes of any cause what callers get.
func unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// recover finds the real end of the journal, whether it was just opened or had
// trouble, and goes on from there: it cuts what is torn, makes the rest durable,
// learns what the index does not know, and says so in the journal. Only that it
// could say so proves that the disk takes writes again. It can fail anywhere and
// be run again.
func (w *writer) recover() error {
	o := &w.ledger.options
	if w.segments != nil {
		_ = w.segments.Close() // what it wrote is looked at now
		w.segments = nil
	}
	if err := w.relock(); err != nil {
		return err
	}
	c := &check{journalID: w.ledger.id, acknowledged: w.durable, named: map[string]bool{}}
	if w.ledger.executions != nil {
		c.executions = &execution.Marker{}
	}
	limits := segment.Limits{MaxBytes: o.MaxSegmentBytes, MaxAge: o.MaxSegmentAge}
	segments, torn, err := segment.Open(o.FS, o.Dir, limits, w.known, c.validate, func(torn []byte) error { return w.admitTail(c, torn) })
	unsigned := c.signatures.wait() // also if nobody asked to admit the tail
	switch {
	case err != nil:
		return err
	case unsigned != nil:
		return errors.Join(unsigned, segments.Close())
	}
	w.segments = segments
	w.segments.Began(c.began)
	w.head = chain{sequence: c.last.Sequence, hash: c.last.Hash}
	bridge, err := w.bridgeFrom(c.keyID, c.handsOverTo)
	if err != nil {
		return err
	}
	if seen := w.durable.Sequence; seen > 0 && o.Observer.Durable != nil && len(c.unseen) > 0 {
		o.Observer.Durable(seen+1, c.unseen) // they were not acknowledged, yet they are there
	}
	w.durable, w.known = c.last, segment.Known{Segments: segments.Found(), End: c.end}
	if w.ledger.id = c.journalID; w.ledger.id == "" {
		id, err := w.ids.next(o.Now())
		if err != nil {
			return err
		}
		w.ledger.id = "jrn_" + string(id[:])
	}
	if c.executions != nil {
		w.ledger.executions.Begin(w.ledger.id, w.known.Segments, c.executions)
	}
	if err := w.catchUp(); err != nil {
		return err
	}
	w.completeRemoval()
	return w.announce(bridge, c.unnamed(torn))
}

// relock makes sure that the lock is that of the directory that is there now. A
// directory that was restored or mounted anew may be another one, and another
// writer may have it. One without our segments is not ours to lock.
func (w *writer) relock() error {
	l := w.ledger
	if l.lock.Check() == nil {
		return nil
	}
	if err := segment.Missing(l.options.FS, l.options.Dir, w.known); err != nil {
		return err
	}
	lock, err := l.options.FS.Lock(l.options.Dir)
	if err != nil {
		return err
	}
	_ = l.lock.Close() // of a directory that is gone
	l.lock = lock
	return nil
}
