// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"sync"

	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
)

// Keeper makes the checkpoints of one journal. Attested and Durable are for the
// journal to call, also before Start. A nil Keeper makes no checkpoints.
//
//	Durable ──► growth ──► tree ──► sign ──► witnesses, authorities ──► stores
//	                        ▲                                             │
//	            segments ───┘            journal.gap ◄── standing of each ┘
type Keeper struct {
	options Options
	growth  *growth
	places  []*place

	// mu guards what follows: the tree grows while a proof is made for a witness.
	mu        sync.Mutex
	journalID string
	signer    journal.Signer
	signers   []ed25519.PublicKey
	// tree is nil while it has to be opened.
	tree *tiles.Tree
	// last is the largest checkpoint that was signed; zero if none is known.
	last journal.Checkpoint
	// signed is the checkpoint that proofs lead to, nil if none is known.
	signed *journal.SignedCheckpoint

	recorder Recorder
	// saved is what stands in places.json.
	saved string
	// published delivers the end of what is being published.
	published chan struct{}
	// ctx ends when nothing more is waited for.
	ctx     context.Context
	abort   context.CancelFunc
	closing chan struct{}
	close   sync.Once
	done    chan struct{}
}

// New returns the keeper of a journal. Nothing happens before the journal calls
// it.
func New(options Options) (*Keeper, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	k := &Keeper{
		options:   options,
		growth:    newGrowth(),
		signer:    options.Signer,
		signers:   append(slices.Clone(options.Outgoing), options.Signer.PublicKey()),
		published: make(chan struct{}, 1),
		closing:   make(chan struct{}),
		done:      make(chan struct{}),
	}
	k.ctx, k.abort = context.WithCancel(context.Background())
	for _, a := range options.Attesters {
		k.places = append(k.places, &place{name: a.Name(), attester: a})
	}
	for _, s := range options.Sinks {
		k.places = append(k.places, &place{name: s.Name(), sink: s})
	}
	return k, nil
}

// SetSigner has later checkpoints signed by another key.
func (k *Keeper) SetSigner(s journal.Signer) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.signer = s
	k.signers = append(k.signers, s.PublicKey())
}

// trusted says whether one of the journal's keys signed a checkpoint. k.mu is
// held.
func (k *Keeper) trusted(c *journal.SignedCheckpoint) bool {
	return slices.ContainsFunc(k.signers, c.SignedBy)
}

// Durable takes note of entries that became durable, in their order. It returns
// at once.
func (k *Keeper) Durable(first uint64, hashes []tiles.Hash) {
	if k != nil {
		k.growth.add(first, hashes)
	}
}

// JournalID returns the id of the journal, "" before it is known.
func (k *Keeper) JournalID() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.journalID
}

// Start begins to make checkpoints of a journal that was opened.
func (k *Keeper) Start(journalID string, recorder Recorder) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.journalID = journalID
	k.mu.Unlock()
	k.recorder = recorder
	k.remember()
	go k.run()
}

// Close makes the last checkpoint of a journal that was closed, and returns when
// the places have it or their time is over. If ctx ends first it does not wait.
func (k *Keeper) Close(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.close.Do(func() { close(k.closing) })
	if k.recorder == nil {
		k.abort()
		return nil
	}
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		k.abort()
		return fmt.Errorf("last checkpoint of %s: %w", k.JournalID(), context.Cause(ctx))
	}
}

// journal is where the entries up to a sequence are. k.mu is held.
func (k *Keeper) journal(upTo uint64) Journal {
	return Journal{FS: k.options.FS, Dir: k.options.Dir, ID: k.journalID, Trusted: k.trusted, UpTo: upTo}
}

// open makes sure that there is a tree over the entries up to a sequence, 0 for all.
// k.mu is held.
func (k *Keeper) open(ctx context.Context, upTo uint64) error {
	if k.tree != nil {
		return nil
	}
	tree, last, err := OpenTree(ctx, k.journal(upTo))
	if err != nil {
		return fmt.Errorf("open the tree of %s: %w", k.journalID, err)
	}
	k.tree = tree
	k.keepSigned(last)
	if last != nil && last.Size > k.last.Size {
		k.last = last.Checkpoint
	}
	return nil
}

// advance grows the tree by what became durable.
func (k *Keeper) advance() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	first, hashes, end := k.growth.take()
	if err := k.grow(first, hashes, end); err != nil {
		k.tree = nil // it is opened again
		return err
	}
	return nil
}

func (k *Keeper) grow(first uint64, hashes []tiles.Hash, end uint64) error {
	if k.tree == nil && end == 0 {
		return nil // nothing is known to be durable
	}
	if err := k.open(k.ctx, end); err != nil {
		return err
	}
	if len(hashes) > 0 && first > k.tree.Size()+1 {
		if err := grow(k.ctx, k.journal(first-1), k.tree, true); err != nil {
			return err
		}
	}
	for i, hash := range hashes {
		if first+uint64(i) != k.tree.Size()+1 {
			continue // the segments had it
		}
		if err := k.tree.Append(hash); err != nil {
			return err
		}
	}
	if end > k.tree.Size() {
		if err := grow(k.ctx, k.journal(end), k.tree, true); err != nil {
			return err
		}
	}
	if k.tree.Unwritten() > maxUnwritten {
		return k.tree.Spill()
	}
	return nil
}
