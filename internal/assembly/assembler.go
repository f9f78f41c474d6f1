// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Journal is what the assembler needs of the journals.
type Journal interface {
	// ActionScopes are the scopes that have a journal of actions.
	ActionScopes() []record.Scope
	// ActionsSince iterates over the entries of the journal of actions of a scope that
	// were recorded since a time, perhaps over some before.
	ActionsSince(ctx context.Context, scope record.Scope, since time.Time) iter.Seq2[*journal.Entry, error]
	// AllOf iterates over the durable entries of an execution: those of the journal of
	// actions of a scope, then those of the journals of reads of its organization.
	AllOf(ctx context.Context, scope record.Scope, executionID string) iter.Seq2[*journal.Entry, error]
	// AppendStrict writes drafts, all or none.
	AppendStrict(ctx context.Context, scope record.Scope, drafts []*record.Draft) ([]journal.Receipt, error)
}

// Options say how long to wait, and how much to hold.
type Options struct {
	Journal Journal
	// Deadline is how long facts are waited for after the newest outcome.
	Deadline time.Duration
	// Lookback is how far back actions are looked for after a start.
	Lookback time.Duration
	// MaxPending bounds the actions that are held. Of each the journal has the rest.
	MaxPending int
	Now        func() time.Time
	// Composed is told of each audit event, Incomplete of each that was not whole, and
	// Failed of what could not be read or written and is tried again.
	Composed, Incomplete func()
	Failed               func(error)
}

// ErrRefused says that the journal did not take what was composed, because it has
// something else of that id. It is not tried again.
var ErrRefused = errors.New("journal has another record with the id of the one that was composed")

// pending is an action with an outcome that waits for the rest.
type pending struct {
	scope               record.Scope
	execution, actionID string
}

// Assembler composes audit events in the background. What it holds is only what to look
// at; everything that it says comes from durable entries, so that a restart changes
// nothing.
type Assembler struct {
	options Options
	wake    chan struct{}
	// back belongs to the work.
	back lookingBack

	// mu guards what follows.
	mu sync.Mutex
	// waits are the actions to look at, and whether something new was said of them.
	waits map[pending]bool
	// overflowed says that an action was not held: the journal is looked through again.
	overflowed bool

	cancel context.CancelFunc
	works  sync.WaitGroup
}

// New returns an assembler that Start sets to work.
func New(o Options) *Assembler {
	return &Assembler{options: o, wake: make(chan struct{}, 1), waits: map[pending]bool{}, overflowed: true}
}

// Start looks for actions whose outcome was recorded before, and goes on until Close.
func (a *Assembler) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.works.Go(func() { a.work(ctx) })
}

// Close ends the work. What was not composed is found again by the next Start.
func (a *Assembler) Close() {
	if a != nil && a.cancel != nil {
		a.cancel()
		a.works.Wait()
	}
}

// Saw is told of drafts that are durable now. It does not block. A nil Assembler sees
// nothing.
func (a *Assembler) Saw(scope record.Scope, drafts []*record.Draft) {
	if a == nil {
		return
	}
	told := false
	for _, d := range drafts {
		said, ok := factOf(d.Kind(), d.Body())
		if !ok {
			continue
		}
		for _, actionID := range said.actions() {
			told = a.note(pending{scope, said.Correlation.ExecutionID, actionID}, said.isOutcome()) || told
		}
	}
	if told {
		a.rouse()
	}
}

// LookAgain has the journals looked through for outcomes that nobody may have told of.
func (a *Assembler) LookAgain() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.overflowed = true
	a.mu.Unlock()
}

func (a *Assembler) rouse() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// note reports whether there is something to look at.
func (a *Assembler) note(p pending, outcome bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, waits := a.waits[p]; !waits {
		switch {
		case !outcome:
			return false // nothing happened yet
		case len(a.waits) >= a.options.MaxPending:
			a.overflowed = true
			return false
		}
	}
	a.waits[p] = true
	return true
}

// interval is how often actions are looked at of which nothing new was said: their
// reads may have come, which nobody tells of.
func (a *Assembler) interval() time.Duration {
	const parts = 10
	return max(a.options.Deadline/parts, time.Second)
}

func (a *Assembler) work(ctx context.Context) {
	ticks := time.NewTicker(a.interval())
	defer ticks.Stop()
	defer a.back.end()
	for all := true; ; {
		a.lookBack(ctx)
		for _, p := range a.due(all) {
			if ctx.Err() != nil {
				return
			}
			a.look(ctx, p)
		}
		if !a.back.done() && a.hasRoom() {
			a.rouse()
		}
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
			all = false
		case <-ticks.C:
			all = true
		}
	}
}

// due returns the actions to look at.
func (a *Assembler) due(all bool) (list []pending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p, told := range a.waits {
		if all || told {
			list = append(list, p)
			a.waits[p] = false
		}
	}
	return list
}

// look composes the audit event of an action, if it can be.
func (a *Assembler) look(ctx context.Context, p pending) {
	settled, err := a.settle(ctx, p)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		a.options.Failed(err)
	}
	if settled {
		a.mu.Lock()
		delete(a.waits, p)
		a.mu.Unlock()
	}
}

// settle reports whether there is nothing left to do for an action.
func (a *Assembler) settle(ctx context.Context, p pending) (settled bool, err error) {
	facts := NewFacts(p.execution, p.actionID)
	for e, err := range a.options.Journal.AllOf(ctx, p.scope, p.execution) {
		if err == nil {
			err = facts.Add(e)
		}
		if err != nil {
			return false, err
		}
		if facts.Overfull() {
			break
		}
	}
	if facts.Done() || facts.Outcome().IsZero() {
		return true, nil
	}
	c, err := facts.Compose()
	if err != nil {
		return false, err
	}
	waited := a.options.Now().Sub(facts.Outcome().Std())
	over := waited >= a.options.Deadline
	switch {
	case c.Whole() && (c.Final || over):
		err = a.write(ctx, p.scope, a.options.Composed, c.Event, c.Received)
	case over:
		var d *record.Draft
		if d, err = c.Incomplete(waited); err == nil {
			err = a.write(ctx, p.scope, a.options.Incomplete, d)
		}
	default:
		return false, nil
	}
	return err == nil || errors.Is(err, ErrRefused), err
}

func (a *Assembler) write(ctx context.Context, scope record.Scope, done func(), drafts ...*record.Draft) error {
	_, err := a.options.Journal.AppendStrict(ctx, scope, drafts)
	if _, refused := errors.AsType[*ledger.Refusal](err); refused {
		return ErrRefused
	}
	if err == nil {
		done()
	}
	return err
}
