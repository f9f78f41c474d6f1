// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package tiles

import (
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Root returns the root of the tree as it was with size entries.
func (t *Tree) Root(size uint64) (Hash, error) {
	n, err := t.inside(size)
	if err != nil {
		return Hash{}, err
	}
	return tlog.TreeHash(n, t)
}

// inside says whether the tree ever had a size.
func (t *Tree) inside(size uint64) (int64, error) {
	if size == 0 || size > t.Size() {
		return 0, fmt.Errorf("tree has %d entries, not %d", t.size, size)
	}
	return int64(size), nil
}

// Leaf returns the leaf of the entry at an index, its sequence less one.
func (t *Tree) Leaf(index uint64) (Hash, error) {
	if _, err := t.inside(index + 1); err != nil {
		return Hash{}, err
	}
	h, err := t.hash(node{0, int64(index)})
	return h, err
}

// Frontier returns the hashes of the largest complete subtrees of the first size
// entries, from the left: what a journal has to remember of entries that are
// pruned (record.Pruned).
func (t *Tree) Frontier(size uint64) ([]Hash, error) {
	if _, err := t.inside(size); err != nil {
		return nil, err
	}
	return frontier(size, func(at node) (tlog.Hash, error) { return t.hash(at) })
}

// frontier calls of for each of the largest complete subtrees, from the left.
func frontier(size uint64, of func(node) (tlog.Hash, error)) ([]Hash, error) {
	hashes := make([]Hash, 0, bits.OnesCount64(size))
	begin := uint64(0)
	for level := bits.Len64(size) - 1; level >= 0; level-- {
		if size>>level&1 == 0 {
			continue
		}
		h, err := of(node{level, int64(begin >> level)})
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, h)
		begin += 1 << level
	}
	return hashes, nil
}

// ProveInclusion returns the path from the leaf at an index to the root of the
// tree as it was with size entries (RFC 6962 section 2.1.1). It is checked before
// it is returned.
func (t *Tree) ProveInclusion(index, size uint64) ([]Hash, error) {
	root, err := t.Root(size)
	if err != nil {
		return nil, err
	}
	if index >= size {
		return nil, fmt.Errorf("a tree of %d entries has no index %d", size, index)
	}
	leaf, err := t.Leaf(index)
	if err != nil {
		return nil, err
	}
	path, err := tlog.ProveRecord(int64(size), int64(index), t)
	if err != nil {
		return nil, err
	}
	if tlog.CheckRecord(path, int64(size), root, int64(index), leaf) != nil {
		return nil, ErrDamaged
	}
	return plain(path), nil
}

// ProveConsistency returns the proof that the tree with size entries continues
// the one with old entries (RFC 6962 section 2.1.2). It is checked before it is
// returned.
func (t *Tree) ProveConsistency(old, size uint64) ([]Hash, error) {
	root, err := t.Root(size)
	if err != nil {
		return nil, err
	}
	if old > size {
		return nil, fmt.Errorf("a tree of %d entries does not continue one of %d", size, old)
	}
	oldRoot, err := t.Root(old)
	if err != nil {
		return nil, err
	}
	path, err := tlog.ProveTree(int64(size), int64(old), t)
	if err != nil {
		return nil, err
	}
	if tlog.CheckTree(path, int64(size), root, int64(old), oldRoot) != nil {
		return nil, ErrDamaged
	}
	return plain(path), nil
}

// plain spells a path in the type of package journal.
func plain(path []tlog.Hash) []Hash {
	hashes := make([]Hash, len(path))
	for i, h := range path {
		hashes[i] = h
	}
	return hashes
}
