// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// task is something for the writer to do between two of its own steps.
type task struct {
	do   func(*writer) error
	done chan error
}

// do has the writer do something, and returns what that returned.
func (l *Ledger) do(ctx context.Context, f func(*writer) error) error {
	t := task{do: f, done: make(chan error, 1)}
	select {
	case l.tasks <- t:
		return <-t.done
	case <-l.done:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("wait for the journal: %w", context.Cause(ctx))
	}
}

// perform does a task. Whoever asks for one may have been told, before the writer was,
// that an entry is durable which the task depends on: then that comes first.
func (w *writer) perform(t task) {
	if w.unsettled > 0 && w.busy != nil {
		w.settle(<-w.commits.outcomes)
	}
	t.done <- t.do(w)
}

// decree writes an entry of the journal about itself. The writer asks admit, if
// there is one, right before it decides, so that nothing can come between the two.
func (l *Ledger) decree(ctx context.Context, body *record.Journal, admit func(*writer) error) (journal.Receipt, error) {
	draft, err := record.NewJournalDraft(body)
	if err != nil {
		return journal.Receipt{}, err
	}
	r, err := newRequest([]*record.Draft{draft})
	if err != nil {
		return journal.Receipt{}, err
	}
	r.items[0].own = body
	if admit != nil {
		r.admit = func(w *writer, _ *request) error { return admit(w) }
	}
	if err := l.submit(ctx, r); err != nil {
		return journal.Receipt{}, err
	}
	return r.receipts[0], nil
}

// admit asks a request whether it still is admissible.
func (w *writer) admit(r *request) error {
	if r.admit == nil || r.next > 0 {
		return nil
	}
	return r.admit(w, r)
}

// stand has an entry that was just chained obeyed, durable or not. If it does not
// become durable, neither does anything behind it, and recovery goes back to what
// is settled.
func (w *writer) stand(e *entry) {
	if own := e.item.own; own != nil {
		w.unsettled++
		w.standing = w.standing.after(own.EventType, own.Detail)
		w.ledger.begins.Store(w.standing.Begins.FirstSequence)
	}
}

// settleStanding has an entry that is durable obeyed for good.
func (w *writer) settleStanding(e *entry) {
	if own := e.item.own; own != nil {
		w.unsettled--
		w.setSettled(w.settled.after(own.EventType, own.Detail))
	}
}

// setSettled tells the index too, which has to learn the entry next.
func (w *writer) setSettled(s Standing) {
	w.settled = s
	w.index.Stand(s.text())
}
