// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "crypto/sha256"

// nodePrefix keeps nodes of a tree apart from leaves (RFC 6962, 2.1).
const nodePrefix = 1

// nodeHash returns the node above two.
func nodeHash(left, right [sha256.Size]byte) [sha256.Size]byte {
	var data [1 + 2*sha256.Size]byte
	data[0] = nodePrefix
	copy(data[1:], left[:])
	copy(data[1+sha256.Size:], right[:])
	return sha256.Sum256(data[:])
}

// groupTree is the RFC 6962 tree over a commit group, level by level from the
// leaves. What has no neighbor on the right goes up as it is.
type groupTree [][][sha256.Size]byte

func newGroupTree(recordHashes [][sha256.Size]byte) groupTree {
	level := make([][sha256.Size]byte, len(recordHashes))
	for i, h := range recordHashes {
		level[i] = LeafHash(h)
	}
	t := groupTree{level}
	for len(level) > 1 {
		above := make([][sha256.Size]byte, 0, (len(level)+1)/2)
		for i := 0; i+1 < len(level); i += 2 {
			above = append(above, nodeHash(level[i], level[i+1]))
		}
		if len(level)%2 == 1 {
			above = append(above, level[len(level)-1])
		}
		t = append(t, above)
		level = above
	}
	return t
}

func (t groupTree) root() [sha256.Size]byte { return t[len(t)-1][0] }

// appendPath appends the inclusion path of a leaf, from the leaf up.
func (t groupTree) appendPath(dst []byte, index int) []byte {
	for _, level := range t[:len(t)-1] {
		if neighbor := index ^ 1; neighbor < len(level) {
			dst = append(dst, level[neighbor][:]...)
		}
		index /= 2
	}
	return dst
}

// pathLength returns how many hashes the inclusion path of a leaf has.
func pathLength(index, size uint32) (n int) {
	for ; size > 1; index, size = index/2, size/2+size%2 {
		if index%2 == 1 || index+1 < size {
			n++
		}
	}
	return n
}

// rootOf returns the root to which an inclusion path of the right length leads.
func rootOf(leaf [sha256.Size]byte, index, size uint32, path [][sha256.Size]byte) [sha256.Size]byte {
	h := leaf
	for ; size > 1; index, size = index/2, size/2+size%2 {
		switch {
		case index%2 == 1:
			h, path = nodeHash(path[0], h), path[1:]
		case index+1 < size:
			h, path = nodeHash(h, path[0]), path[1:]
		}
	}
	return h
}
