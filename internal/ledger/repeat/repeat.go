// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package repeat knows which records a journal has (contract 3). It is a cache:
// what it knows can be read back from the segments, so its file can be deleted at
// any time and no verdict depends on it. It is never wrong in a way that loses a
// record: whoever uses a place that it gives looks whether the record stands
// there.
//
// New marks are held in memory and written to a bbolt file in batches, off the
// commit path. The file is divided by time, so that what passed its horizon is
// dropped as a whole; ids that an application gave have no horizon.
package repeat

import (
	"crypto/sha256"
	"time"

	"github.com/readtrail/readtrail/internal/segment"
)

// keyBytes is how much of a SHA-256 a key holds: enough that nobody finds two
// ids with one key.
const keyBytes = 16

// Key stands for an id, for an id with one of several bodies, for a span, or for
// something that a record says.
type Key [1 + keyBytes]byte

// Digest stands for the body of a record.
type Digest [keyBytes]byte

// KeyOfID returns the key of a record id.
func KeyOfID(id string) Key { return keyOf('i', []byte(id)) }

// KeyOfEvent returns the key of an event id that an application gave.
func KeyOfEvent(id string) Key { return keyOf('e', []byte(id)) }

// KeyOfPart returns the key of a part of a record.
func KeyOfPart(part [sha256.Size]byte) (k Key) {
	k[0] = 'p'
	copy(k[1:], part[:])
	return k
}

// KeyOfFact returns the key of a name by which a record is found for something that
// it says; the newest entry has it.
func KeyOfFact(name string) Key { return keyOf('f', []byte(name)) }

// With returns the key of an id together with one body of it, under which
// conflicting bodies are known.
func (k Key) With(d Digest) Key { return keyOf('c', append(k[:], d[:]...)) }

func keyOf(kind byte, data []byte) (k Key) {
	sum := sha256.Sum256(data)
	k[0] = kind
	copy(k[1:], sum[:])
	return k
}

// DigestOf shortens the digest of a body.
func DigestOf(sum [sha256.Size]byte) Digest { return Digest(sum[:keyBytes]) }

// Seen is the entry that has a key.
type Seen struct {
	At segment.Position
	// Digest is that of the body, zero for parts.
	Digest Digest
}

// Mark is what the index learns.
type Mark struct {
	Key  Key
	Seen Seen
	// Given says that the application gave the id.
	Given bool
	// Recorded is the recorded_at of the entry.
	Recorded time.Time
}

// Position is an entry of a journal; the zero Position is before the first.
type Position struct {
	At       segment.Position
	Sequence uint64
	// Hash is the entry's record_hash.
	Hash string
}
