// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/journal"
)

// Include returns the proof that an entry of the journal is in the tree of the last
// checkpoint, nil if none covers it yet. It leads from the entry's record hash to the
// root, or it is an error: the journal may be another one by now than its tree.
func (k *Keeper) Include(sequence uint64, recordHash [32]byte) (*journal.InclusionProof, error) {
	if k == nil || sequence == 0 {
		return nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.signed
	if c == nil || c.Size < sequence {
		return nil, nil
	}
	if k.tree == nil {
		return nil, errors.New("the tree is not there to prove from")
	}
	path, err := k.tree.ProveInclusion(sequence-1, c.Size)
	if err != nil {
		return nil, fmt.Errorf("prove entry %d of %s: %w", sequence, k.journalID, err)
	}
	p := &journal.InclusionProof{Index: sequence - 1, Path: path, Checkpoint: c}
	if err := p.Verify(recordHash); err != nil {
		return nil, fmt.Errorf("prove entry %d of %s: %w", sequence, k.journalID, err)
	}
	return p, nil
}

// keepSigned keeps a checkpoint for proofs, unless it keeps a larger one: what
// witnesses add to it comes later. k.mu is held.
func (k *Keeper) keepSigned(c *journal.SignedCheckpoint) {
	if c != nil && (k.signed == nil || c.Size >= k.signed.Size) {
		k.signed = c
	}
}
