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

// A generation is the bucket of the marks recorded in a span of time. Its name
// gives the span, so that files of another window can be read: 'g', the end and
// the length in Unix seconds, big-endian. Names sort by their end.
const generationBytes = 1 + 8 + 8

// generationOf returns the name of the generation that a time belongs to.
func generationOf(t time.Time, window time.Duration) string {
	length := max(int64(window/time.Second)/generations, 1)
	index := t.Unix() / length
	var name [generationBytes]byte
	name[0] = 'g'
	binary.BigEndian.PutUint64(name[1:], uint64(max(index+1, 0)*length))
	binary.BigEndian.PutUint64(name[9:], uint64(length))
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
