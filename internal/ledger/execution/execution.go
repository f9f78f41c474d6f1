// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package execution knows where the entries of an execution stand in a journal, so
// that nobody has to read the whole of it for the reads of one decision, which may
// come hours after them (requirement B2). It is a cache (contract 7): what it knows
// can be read back from the segments, its files can be deleted at any time, and
// whoever uses a place that it gives looks whether the entry stands there.
//
// Of the last segment it knows what became durable, in memory: 16 bytes an entry.
// When a segment is followed by another one, what is known of it goes to a file of
// its own, in which a look-up reads two blocks. A file that is missing or not that
// of its segment is made anew from the segment when somebody asks.
package execution

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/readtrail/readtrail/record"
)

// Key stands for the id of an execution. Two ids may have one key, but nobody can
// make an id that has the key of a given one.
type Key uint64

// KeyOf returns the key of an execution id.
func KeyOf(id string) Key { return keyOf(record.SpellExecution(id)) }

func keyOf(spelled []byte) Key {
	sum := sha256.Sum256(spelled)
	return Key(binary.BigEndian.Uint64(sum[:]))
}

// place is where an entry of an execution begins in its segment.
type place struct {
	key    Key
	offset int64
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.offset, b.offset))
}

// Marker collects the entries of one segment that belong to executions, in their
// order. The zero Marker is ready.
type Marker struct {
	places []place
	// spelled is the execution of the entry before, which most entries share.
	spelled []byte
	key     Key
}

var lineageBegins = []byte(`,"` + string(record.KindLineage) + `":{`)

// Line notes a stored line, without its LF, that begins at an offset.
func (m *Marker) Line(line []byte, offset int64) {
	if bytes.Contains(line, lineageBegins) {
		return
	}
	m.note(record.ExecutionIn(line), offset)
}

// Draft notes the entry that a draft became.
func (m *Marker) Draft(d *record.Draft, offset int64) {
	// Lineage is what was done, not what was read, and most of what an execution
	// has.
	if d.Kind() != record.KindLineage {
		m.note(d.Execution(), offset)
	}
}

func (m *Marker) note(spelled []byte, offset int64) {
	if len(spelled) == 0 {
		return
	}
	if !bytes.Equal(spelled, m.spelled) {
		m.spelled, m.key = append(m.spelled[:0], spelled...), keyOf(spelled)
	}
	m.places = append(m.places, place{m.key, offset})
}

// take returns what was noted, and forgets it.
func (m *Marker) take() []place {
	places := m.places
	m.places = m.places[:0:0]
	return places
}

// offsetsOf returns the offsets of the places that have a key and stand from an
// offset on, in their order. The places are those of one segment as it was written.
func offsetsOf(places []place, key Key, from int64) (offsets []int64) {
	at, _ := slices.BinarySearchFunc(places, from, func(p place, from int64) int { return cmp.Compare(p.offset, from) })
	for _, p := range places[at:] {
		if p.key == key {
			offsets = append(offsets, p.offset)
		}
	}
	return offsets
}
