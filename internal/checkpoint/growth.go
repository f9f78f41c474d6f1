// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"sync"

	"github.com/readtrail/readtrail/internal/tiles"
)

// maxGrowth bounds the hashes that wait for the tree, 8 MiB. What does not fit is
// read from the segments instead.
const maxGrowth = 256 << 10

// growth holds the record hashes of entries that became durable and are not in
// the tree yet. The journal's committer adds to it and never waits.
type growth struct {
	mu sync.Mutex
	// first is the sequence of the first hash.
	first  uint64
	hashes []tiles.Hash
	// end is the last sequence that was seen; some before it may be missing.
	end  uint64
	wake chan struct{}
}

func newGrowth() *growth { return &growth{wake: make(chan struct{}, 1)} }

func (g *growth) add(first uint64, hashes []tiles.Hash) {
	if len(hashes) == 0 {
		return
	}
	g.mu.Lock()
	if len(g.hashes) > 0 && g.first+uint64(len(g.hashes)) != first || len(g.hashes)+len(hashes) > maxGrowth {
		g.hashes = nil
	}
	if len(g.hashes) == 0 {
		g.first = first
	}
	g.hashes = append(g.hashes, hashes...)
	g.end = first + uint64(len(hashes)) - 1
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// take returns what is there, and the last sequence that was seen.
func (g *growth) take() (first uint64, hashes []tiles.Hash, end uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first, hashes, end = g.first, g.hashes, g.end
	g.hashes = nil
	return first, hashes, end
}
