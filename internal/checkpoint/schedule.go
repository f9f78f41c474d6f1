// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// run makes checkpoints until the keeper is closed. The first one is due at once:
// the journal has just said that it goes on. What fails for want of the journal or
// the tree is tried again when the next checkpoint is due, not with every entry.
func (k *Keeper) run() {
	defer close(k.done)
	timer := time.NewTimer(k.options.Interval)
	defer timer.Stop()
	due, busy, blocked := true, false, false
	for {
		if !blocked {
			if err := k.advance(); err != nil {
				k.stuck(err)
				blocked = true
			}
		}
		if !busy && !blocked && (due || k.grown() >= k.options.Entries) {
			due = false
			timer.Reset(k.options.Interval)
			c := k.next()
			if busy, blocked = c != nil, c == nil; busy {
				go func() {
					k.publish(c)
					k.published <- struct{}{}
				}()
			}
		}
		select {
		case <-k.growth.wake:
		case <-timer.C:
			due, blocked = true, false
			timer.Reset(k.options.Interval)
		case <-k.published:
			busy = false
			k.save()
		case <-k.closing:
			if busy {
				<-k.published
			}
			k.finish()
			return
		case <-k.ctx.Done():
			if busy {
				<-k.published
			}
			return
		}
	}
}

// grown returns the number of entries since the last checkpoint.
func (k *Keeper) grown() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tree == nil {
		return 0
	}
	return k.tree.Size() - min(k.last.Size, k.tree.Size())
}

// next has the journal say what it has to say before a checkpoint, and signs it.
// It returns nil if that fails, which the observer is told.
func (k *Keeper) next() *journal.SignedCheckpoint {
	c, err := k.makeNext()
	if err != nil {
		k.stuck(err)
		return nil
	}
	k.options.Observer.state(nil)
	return c
}

// stuck tells why no checkpoint can be made for now.
func (k *Keeper) stuck(err error) {
	if k.ctx.Err() != nil {
		return // it was given up
	}
	k.options.Observer.failed(err)
	k.options.Observer.state(err)
}

func (k *Keeper) makeNext() (*journal.SignedCheckpoint, error) {
	last := uint64(0)
	for _, p := range k.places {
		if !p.unsaid() {
			continue
		}
		receipt, err := k.record(record.EventJournalGap, p.gap())
		if err != nil {
			return nil, err
		}
		p.GapOpen = !p.GapOpen
		last = receipt.Sequence
	}
	if last == 0 && k.grown() == 0 {
		receipt, err := k.record(record.EventJournalHeartbeat, record.Heartbeat{})
		if err != nil {
			return nil, err
		}
		last = receipt.Sequence
	}
	if err := k.await(last); err != nil {
		return nil, err
	}
	return k.signAndKeep()
}

// gap is what the journal says of a place.
func (p *place) gap() record.Gap {
	if p.Reason == "" {
		return record.Gap{Sink: p.name, State: record.GapClosed, TreeSize: p.Size}
	}
	return record.Gap{Sink: p.name, State: record.GapOpen, Reason: string(p.Reason), TreeSize: p.Size}
}

// record writes an entry of the journal about itself, and does not wait for a
// journal that cannot be written: its next checkpoint has to say more.
func (k *Keeper) record(eventType string, detail any) (journal.Receipt, error) {
	ctx, cancel := context.WithTimeout(k.ctx, k.options.Timeout)
	defer cancel()
	body := &record.Journal{Header: record.Header{EventType: eventType}, Detail: detail}
	receipt, err := k.recorder.Record(ctx, body)
	if err != nil {
		return receipt, fmt.Errorf("write %s before a checkpoint: %w", eventType, err)
	}
	return receipt, nil
}

// await grows the tree up to an entry that is durable.
func (k *Keeper) await(sequence uint64) error {
	for {
		if err := k.advance(); err != nil {
			return err
		}
		k.mu.Lock()
		there := k.tree != nil && k.tree.Size() >= sequence
		k.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-k.growth.wake:
		case <-k.ctx.Done():
			return context.Cause(k.ctx)
		}
	}
}

// signAndKeep signs the next checkpoint and keeps it with the tree.
func (k *Keeper) signAndKeep() (*journal.SignedCheckpoint, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, err := k.sign()
	if err != nil {
		return nil, err
	}
	k.last = c.Checkpoint
	k.keepSigned(c)
	k.options.Observer.signed(c.Checkpoint)
	if err := k.tree.Save(c); err != nil {
		// It is a cache: the checkpoint goes out nevertheless.
		k.options.Observer.failed(err)
	}
	return c, nil
}

// finish makes the checkpoint that covers the last entry. What places miss of it
// is told to the journal when it is opened again.
func (k *Keeper) finish() {
	if err := k.advance(); err != nil {
		k.options.Observer.failed(err)
		return
	}
	if k.grown() > 0 {
		c, err := k.signAndKeep()
		if err != nil {
			k.options.Observer.failed(err)
			return
		}
		k.publish(c)
	}
	k.save()
}
