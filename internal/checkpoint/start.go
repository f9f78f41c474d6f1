// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"

	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
)

// Attested asks every place what it knows of a journal that is being opened,
// before anything is written to it or cut off. Size is how many entries it has;
// what stands behind them is torn. It returns the largest checkpoint that a
// store holds, nil if none does. An error that is ErrConflict says that a place
// knows of entries that the journal does not have: it must not be written to. Any
// other error says that the tree could not be built, so that nothing was
// compared. Places that cannot be asked are told to the observer.
func (k *Keeper) Attested(ctx context.Context, journalID string, size uint64) (*journal.SignedCheckpoint, error) {
	if k == nil {
		return nil, nil
	}
	k.mu.Lock()
	k.journalID = journalID
	err := k.open(ctx, size)
	var c *journal.SignedCheckpoint
	if err == nil {
		c, err = k.sign()
	}
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	held := make([]*journal.SignedCheckpoint, len(k.places))
	errs := make([]error, len(k.places))
	var wg sync.WaitGroup
	for i, p := range k.places {
		wg.Go(func() { held[i], errs[i] = k.ask(ctx, p, c) })
	}
	wg.Wait()
	var largest *journal.SignedCheckpoint
	var conflicts []error
	for i, p := range k.places {
		switch err := errs[i]; {
		case errors.Is(err, ErrConflict):
			conflicts = append(conflicts, err)
		case err != nil:
			k.options.Observer.place(p.name, c.Size, err)
		case held[i] != nil && (largest == nil || held[i].Size > largest.Size):
			largest = held[i]
		}
	}
	return largest, errors.Join(conflicts...)
}

// ask compares what a place holds with the journal. A witness cannot be asked
// what it cosigned; what it does with the checkpoint of what is there tells.
func (k *Keeper) ask(ctx context.Context, p *place, c *journal.SignedCheckpoint) (*journal.SignedCheckpoint, error) {
	if p.attester != nil {
		_, err := call(ctx, p, k.options.Timeout, func(ctx context.Context) (Statement, error) {
			return p.attester.Attest(ctx, c, k.prove(c.Size))
		})
		p.compared = err == nil
		return nil, err
	}
	held, err := call(ctx, p, k.options.Timeout, func(ctx context.Context) (*journal.SignedCheckpoint, error) {
		return p.sink.Latest(ctx, c.Origin)
	})
	if err != nil {
		return nil, err
	}
	if err := k.compare(p.name, held, c); err != nil {
		return nil, err
	}
	p.compared = true
	return held, nil
}

// compare says whether a checkpoint that a place holds is one of this journal as
// it is.
func (k *Keeper) compare(name string, held, now *journal.SignedCheckpoint) error {
	switch {
	case held == nil:
		return nil
	case held.Origin != now.Origin:
		return failed(ReasonConflict, "%s holds a checkpoint of another journal in the place of %s; examine who wrote it", name, now.Origin)
	case held.Size > now.Size:
		return ahead(name, held.Size, now)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tree == nil {
		return errors.New("the tree is not there to compare")
	}
	switch root, err := k.tree.Root(held.Size); {
	case errors.Is(err, tiles.ErrUnknown):
		return nil // it was pruned: the roots after it say that it went on
	case err != nil:
		return err
	case root != held.Root:
		return failed(ReasonConflict, "%s holds a checkpoint of %s with other entries at size %d: the journal was rewritten or there are two of it; "+
			"keep both, run readtrail verify on them, and begin a new directory", name, now.Origin, held.Size)
	}
	return nil
}

// prove makes proofs for a checkpoint while the tree grows on.
func (k *Keeper) prove(size uint64) Prove {
	return func(old uint64) ([][sha256.Size]byte, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.tree == nil {
			return nil, errors.New("the tree is not there to prove from")
		}
		return k.tree.ProveConsistency(old, size)
	}
}

// sign signs a checkpoint of the tree as it is. k.mu is held.
func (k *Keeper) sign() (*journal.SignedCheckpoint, error) {
	root, err := k.tree.Root(k.tree.Size())
	if err != nil {
		return nil, err
	}
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: k.journalID, Size: k.tree.Size(), Root: root}, k.signer)
	if err != nil {
		return nil, err
	}
	return journal.ParseCheckpoint(note)
}
