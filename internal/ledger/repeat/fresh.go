// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package repeat

// fresh is what was learned and is in no file yet: marks in the order in which
// they were learned, and where each key stands among them. Neither holds
// pointers, so that the garbage collector has nothing to look for in them.
type fresh struct {
	places map[Key]int32
	marks  []kept
}

// kept is a Mark without a pointer.
type kept struct {
	key   Key
	given bool
	seen  Seen
	// recorded is in Unix seconds.
	recorded int64
}

func newFresh() *fresh { return &fresh{places: map[Key]int32{}} }

func (f *fresh) len() int { return len(f.marks) }

// learn adds a mark, in the place of an older one of the same key.
func (f *fresh) learn(m *Mark) {
	k := kept{key: m.Key, given: m.Given, seen: m.Seen, recorded: m.Recorded.Unix()}
	if at, found := f.places[m.Key]; found {
		f.marks[at] = k
		return
	}
	f.places[m.Key] = int32(len(f.marks))
	f.marks = append(f.marks, k)
}

func (f *fresh) find(k *Key) (Seen, bool) {
	at, found := f.places[*k]
	if !found {
		return Seen{}, false
	}
	return f.marks[at].seen, true
}

// clear forgets everything and keeps the memory.
func (f *fresh) clear() {
	clear(f.places)
	f.marks = f.marks[:0]
}
