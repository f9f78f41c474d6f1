// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

import (
	"encoding/binary"
	"time"
)

// generations is how many parts a window is divided into: a mark outlives the
// window by at most one of them, and a look-up visits one more.
const generations = 4

// A generation is the bucket of the marks recorded in a span of time, in Unix
// seconds; that without a length is the bucket of ids that an application gave,
// which have no horizon.
type generation struct{ end, length int64 }

// generationOf returns the generation that a time in Unix seconds belongs to.
func generationOf(recorded int64, window time.Duration) generation {
	length := max(int64(window/time.Second)/generations, 1)
	return generation{end: max(recorded/length+1, 0) * length, length: length}
}

const generationBytes = 1 + 8 + 8

// name returns the name of the bucket. It gives the span, so that files of another
// window can be read: 'g', the end and the length, big-endian. Names sort by their
// end.
func (g generation) name() string {
	if g.length == 0 {
		return string(bucketGiven)
	}
	var name [generationBytes]byte
	name[0] = 'g'
	binary.BigEndian.PutUint64(name[1:], uint64(g.end))
	binary.BigEndian.PutUint64(name[9:], uint64(g.length))
	return string(name[:])
}

// generationEnd returns the time from which on nothing belongs to the
// generation of a name.
func generationEnd(name []byte) (end time.Time, ok bool) {
	if len(name) != generationBytes || name[0] != 'g' {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(name[1:])), 0), true
}
