// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// memo remembers what was found of the keys that telemetry repeats in every
// span, which are few. It is safe for concurrent use and bounded: a key has one
// slot, and takes it when it is looked up twice running, so that keys made at
// random neither push others out nor are ever kept.
type memo struct {
	seed  maphash.Seed
	slots [memoSlots]memoSlot
}

const (
	memoSlots = 1024
	// maxMemoKey is the longest key that is remembered, in bytes.
	maxMemoKey = 128
)

type memoSlot struct {
	held atomic.Pointer[memoEntry]
	// missed is the hash of the last key that was looked up in vain.
	missed atomic.Uint64
}

type memoEntry struct {
	key  string
	gate Gate
	rule Rule
}

func newMemo() *memo { return &memo{seed: maphash.MakeSeed()} }

// rule returns what find returns, which always has to be the same.
func (m *memo) rule(key string, gate Gate, find func(string, Gate) Rule) Rule {
	if len(key) > maxMemoKey {
		return find(key, gate)
	}
	hash := maphash.String(m.seed, key) + uint64(gate)
	slot := &m.slots[hash%memoSlots]
	if e := slot.held.Load(); e != nil && e.gate == gate && e.key == key {
		return e.rule
	}
	rule := find(key, gate)
	if slot.missed.Swap(hash) == hash {
		slot.held.Store(&memoEntry{strings.Clone(key), gate, rule})
	}
	return rule
}
