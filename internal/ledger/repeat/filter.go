// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"encoding/binary"
	"math/bits"
)

// A filter says of a key that a run does not have it, nearly always if that is
// so: a Bloom filter in blocks of one cache line, so that asking costs one look
// into memory. It takes 12 bits a key.
type filter []byte

const (
	filterBits = 12 // a key
	blockBytes = 64
	// probes are the bits that a key sets in its block.
	probes = 6
)

func newFilter(keys int) filter {
	return make(filter, (keys*filterBits/8/blockBytes+1)*blockBytes)
}

// place returns the block of a key and the choice of its bits. Keys are parts of
// a SHA-256, behind their kind.
func (f filter) place(k *Key) (block []byte, choice uint64) {
	blocks := uint64(len(f) / blockBytes)
	at, _ := bits.Mul64(binary.LittleEndian.Uint64(k[1:])^uint64(k[0])<<32, blocks)
	return f[at*blockBytes:][:blockBytes], binary.LittleEndian.Uint64(k[9:])
}

func (f filter) add(k *Key) {
	block, choice := f.place(k)
	for range probes {
		block[choice/8%blockBytes] |= 1 << (choice % 8)
		choice >>= 9
	}
}

// mayHave is false only for keys that were not added.
func (f filter) mayHave(k *Key) bool {
	block, choice := f.place(k)
	for range probes {
		if block[choice/8%blockBytes]&(1<<(choice%8)) == 0 {
			return false
		}
		choice >>= 9
	}
	return true
}
