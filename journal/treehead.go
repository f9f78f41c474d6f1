// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"math/bits"
)

// treeHead is an RFC 6962 tree as far as going on needs it: the hashes of its
// largest complete subtrees, from the left. It needs 32 bytes for each doubling.
type treeHead struct {
	size   uint64
	hashes [][sha256.Size]byte
}

// treeHeadOf returns the head of a tree that is known by those hashes, each in 64
// hex digits, as journal.pruned has them.
func treeHeadOf(size uint64, digits []string) (treeHead, bool) {
	t := treeHead{size: size}
	if len(digits) != bits.OnesCount64(size) {
		return treeHead{}, false
	}
	for _, d := range digits {
		h, err := hex.DecodeString(d)
		if err != nil || len(h) != sha256.Size {
			return treeHead{}, false
		}
		t.hashes = append(t.hashes, [sha256.Size]byte(h))
	}
	return t, true
}

// add adds the next leaf.
func (t *treeHead) add(leaf [sha256.Size]byte) {
	h := leaf
	for left := t.size; left&1 == 1; left >>= 1 {
		last := len(t.hashes) - 1
		h = nodeHash(t.hashes[last], h)
		t.hashes = t.hashes[:last]
	}
	t.hashes = append(t.hashes, h)
	t.size++
}

// root returns the root of a tree that is not empty.
func (t *treeHead) root() [sha256.Size]byte {
	last := len(t.hashes) - 1
	h := t.hashes[last]
	for i := last - 1; i >= 0; i-- {
		h = nodeHash(t.hashes[i], h)
	}
	return h
}
