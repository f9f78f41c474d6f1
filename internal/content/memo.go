// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"math/bits"
	"strings"
	"sync/atomic"
)

// memo remembers what was found of the keys that telemetry repeats in every
// span, which are few. It is safe for concurrent use and bounded. Only one in
// rememberedOf keys that were looked up in vain takes a place, so that keys made
// at random hardly push out those that come again.
type memo [memoSets]memoSet

const (
	memoSets = 1024
	memoWays = 4

	rememberedOf = 8
	// maxMemoKey is the longest key that is remembered, in bytes.
	maxMemoKey = 128
)

type memoSet struct {
	ways [memoWays]atomic.Pointer[memoEntry]
	// misses counts the keys that were looked up in vain.
	misses atomic.Uint32
}

type memoEntry struct {
	key  string
	gate Gate
	rule Rule
}

// memoHash looks at the words at the beginning, in the middle and at the end of
// a key, which is all of most keys. Keys that are made to collide only find
// nothing remembered.
func memoHash(key string, gate Gate) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	n := len(key)
	mixed := uint64(n)<<8 | uint64(gate)
	mix := func(word uint64) {
		high, low := bits.Mul64(mixed^word, odd)
		mixed = high ^ low
	}
	if n < 8 {
		var word uint64
		for i := range n {
			word = word<<8 | uint64(key[i])
		}
		mix(word)
		return mixed
	}
	mix(wordOf(key))
	mix(wordOf(key[n/2-4:]))
	mix(wordOf(key[n-8:]))
	return mixed
}

func wordOf(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// get returns what is remembered, or nil.
func (m *memo) get(hash uint64, key string, gate Gate) *Rule {
	set := &m[hash%memoSets]
	for i := range set.ways {
		e := set.ways[i].Load()
		if e == nil {
			return nil
		}
		if e.key == key && e.gate == gate {
			return &e.rule
		}
	}
	return nil
}

// missed takes note of a key that get did not know. It stands in a free place of
// its set, else in one that its hash names.
func (m *memo) missed(hash uint64, key string, gate Gate, rule *Rule) {
	set := &m[hash%memoSets]
	if len(key) > maxMemoKey || set.misses.Add(1)%rememberedOf != 0 {
		return
	}
	e := &memoEntry{strings.Clone(key), gate, *rule}
	for i := range set.ways {
		if set.ways[i].CompareAndSwap(nil, e) {
			return
		}
	}
	set.ways[hash/memoSets%memoWays].Store(e)
}
