// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/readtrail/readtrail/journal"
)

// publish has a checkpoint attested and then kept: what came of attestations in
// time goes to the stores with it. It takes at most twice the time limit.
func (k *Keeper) publish(c *journal.SignedCheckpoint) {
	attested := Attested{Checkpoint: c}
	note := bytes.Clone(c.Note)
	var mu sync.Mutex
	k.each(c.Size, func(p *place) bool { return p.attester != nil }, func(p *place) error {
		s, err := call(k.ctx, p, k.options.Timeout, func(ctx context.Context) (Statement, error) {
			return p.attester.Attest(ctx, c, k.prove(c.Size))
		})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		note = append(note, s.Cosignatures...)
		if len(s.Token) > 0 {
			attested.Tokens = append(attested.Tokens, Token{Authority: p.name, Response: s.Token})
		}
		return nil
	})
	if cosigned, err := journal.ParseCheckpoint(note); err == nil {
		attested.Checkpoint = cosigned
		k.mu.Lock()
		k.keepSigned(cosigned)
		k.mu.Unlock()
	} else {
		k.options.Observer.failed(errors.New("the cosignatures of all witnesses are more than a checkpoint can hold; it is kept without them"))
	}
	k.each(c.Size, func(p *place) bool { return p.sink != nil }, func(p *place) error {
		if !p.compared {
			// It could not be asked at the start.
			if _, err := k.ask(k.ctx, p, c); err != nil {
				return err
			}
		}
		_, err := call(k.ctx, p, k.options.Timeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, p.sink.Put(ctx, attested)
		})
		return err
	})
}

// each lets some places take a checkpoint, all at the same time, and notes how
// they did. A place in conflict is left alone: nothing must be added to what it
// holds before somebody looked.
func (k *Keeper) each(size uint64, some func(*place) bool, take func(*place) error) {
	var wg sync.WaitGroup
	for _, p := range k.places {
		if !some(p) {
			continue
		}
		wg.Go(func() {
			err := p.conflict
			if err == nil {
				err = take(p)
			}
			if errors.Is(err, ErrConflict) {
				p.conflict = err
			}
			p.settle(size, err)
			k.options.Observer.place(p.name, size, err)
		})
	}
	wg.Wait()
}
