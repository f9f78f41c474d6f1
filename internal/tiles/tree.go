// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package tiles keeps the RFC 6962 tree over the entries of a journal as it
// grows, in tiles of 256 hashes (c2sp.org/tlog-tiles), so that no root and no
// proof needs another look at the entries.
//
// The tiles are a cache: they can be deleted at any time and are built again from
// the segments. What they say is believed only as far as a checkpoint that the
// journal signed confirms it.
package tiles

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

var (
	// ErrUnknown says that the tree does not know a hash: it stood in a part of
	// the journal that was pruned, or in a tile that is gone.
	ErrUnknown = errors.New("the tree has no such hash: that part of the journal was pruned, or its tiles are gone")
	// ErrDamaged says that tiles contradict each other. Deleting the directory has
	// them built again.
	ErrDamaged = errors.New("tiles contradict each other; delete the directory, it is built again from the segments")
)

// Hash is a hash of the tree.
type Hash = [sha256.Size]byte

const (
	height = torchwood.TileHeight
	width  = torchwood.TileWidth
)

// Tree is an RFC 6962 tree that grows. It is not safe for concurrent use.
type Tree struct {
	fs  durable.FS
	dir string

	size int64
	// edge holds, by tile level, the hashes of the last tile, which is never full.
	edge [][]tlog.Hash
	// full are the tiles that are not written yet.
	full map[tlog.Tile][]byte
	// base is the size of the part that was pruned before its tiles were built, and
	// stumps what is known of it: the hashes of its largest complete subtrees.
	base   int64
	stumps map[node]tlog.Hash
	// cache holds full tiles that were read.
	cache map[tlog.Tile][]byte
}

// node is a place in the tree: the n-th complete subtree of 2^level leaves.
type node struct {
	level int
	n     int64
}

func newTree(fs durable.FS, dir string) *Tree {
	return &Tree{fs: fs, dir: dir, full: map[tlog.Tile][]byte{}}
}

// Size returns the number of entries in the tree.
func (t *Tree) Size() uint64 { return uint64(t.size) }

// Base returns the number of entries at the beginning about which the tree knows
// nothing but their subtrees.
func (t *Tree) Base() uint64 { return uint64(t.base) }

// Append adds the next entry by its record hash.
func (t *Tree) Append(recordHash Hash) error {
	t.size++
	return t.add(0, journal.LeafHash(recordHash))
}

// add puts a hash at the end of the last tile of a level. A tile that is full
// becomes a hash of the level above.
func (t *Tree) add(level int, h tlog.Hash) error {
	if level == len(t.edge) {
		t.edge = append(t.edge, nil)
	}
	t.edge[level] = append(t.edge[level], h)
	if len(t.edge[level]) < width {
		return nil
	}
	hashes, above := t.edge[level], height*(level+1)
	tile := tlog.Tile{H: height, L: level, N: t.size>>above - 1, W: width}
	t.full[tile], t.edge[level] = join(hashes), nil
	if tile.N<<above >= t.base {
		return t.add(level+1, top(hashes))
	}
	// Some of its hashes are not known, but their subtrees are.
	known, err := t.hash(node{above, tile.N})
	if err != nil {
		return err
	}
	return t.add(level+1, known)
}

// top returns the hash over those of a full tile.
func top(hashes []tlog.Hash) tlog.Hash {
	var row [width]tlog.Hash
	for n := copy(row[:], hashes); n > 1; n /= 2 {
		for i := range n / 2 {
			row[i] = tlog.NodeHash(row[2*i], row[2*i+1])
		}
	}
	return row[0]
}

// hash returns the hash of a complete subtree.
func (t *Tree) hash(at node) (tlog.Hash, error) {
	begin, end := at.n<<at.level, (at.n+1)<<at.level
	switch {
	case end > t.size:
		return tlog.Hash{}, fmt.Errorf("%w: it ends before", ErrUnknown)
	case begin >= t.base && at.level%height == 0:
		return t.inTile(at)
	case begin < t.base:
		if h, known := t.stumps[at]; known || end <= t.base {
			if !known {
				return h, ErrUnknown
			}
			return h, nil
		}
	}
	left, err := t.hash(node{at.level - 1, 2 * at.n})
	if err != nil {
		return tlog.Hash{}, err
	}
	right, err := t.hash(node{at.level - 1, 2*at.n + 1})
	if err != nil {
		return tlog.Hash{}, err
	}
	return tlog.NodeHash(left, right), nil
}

// inTile returns a hash that stands in a tile.
func (t *Tree) inTile(at node) (tlog.Hash, error) {
	level, index := at.level/height, at.n%width
	tile := tlog.Tile{H: height, L: level, N: at.n / width, W: width}
	if level < len(t.edge) && tile.N == t.size>>(height*(level+1)) {
		if index < int64(len(t.edge[level])) {
			return t.edge[level][index], nil
		}
		return tlog.Hash{}, ErrUnknown
	}
	data, err := t.read(tile)
	if err != nil {
		return tlog.Hash{}, err
	}
	return tlog.Hash(data[index*tlog.HashSize : (index+1)*tlog.HashSize]), nil
}

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		level, n := tlog.SplitStoredHashIndex(index)
		var err error
		if hashes[i], err = t.hash(node{level, n}); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

func join(hashes []tlog.Hash) []byte {
	data := make([]byte, 0, len(hashes)*tlog.HashSize)
	for _, h := range hashes {
		data = append(data, h[:]...)
	}
	return data
}
