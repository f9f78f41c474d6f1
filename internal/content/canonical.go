// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"slices"
	"sync"
)

// canonicalize puts JSON into the form of RFC 8785, as Value.Canonicalize does.
// It takes about half the time: what the library spells anew, so that nothing is
// left to escape and no blanks, it then parses once more to sort the members.
//
// The text must not nest deeper than MaxJSONDepth.
func canonicalize(v *jsontext.Value) error {
	if err := v.Format(jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true)); err != nil {
		return err
	}
	s := sorters.Get().(*sorter)
	s.text = *v
	s.value(0)
	s.text = nil
	if cap(s.sorted) <= maxWorkspace && cap(s.members) <= maxSorted {
		sorters.Put(s)
	}
	return nil
}

// sorter sorts the members of every object in a valid JSON text without blanks.
type sorter struct {
	text []byte
	// members are those of the objects around the place that is looked at.
	members []sortedMember
	// sorted is where the members of an object are put in order.
	sorted []byte
}

// sortedMember is a member and where it stands. Its name is as it is meant.
type sortedMember struct {
	name       []byte
	begin, end int
}

// maxSorted is the largest number of members whose memory is kept.
const maxSorted = 1 << 10

var sorters = sync.Pool{New: func() any { return &sorter{} }}

// value sorts inside the value that begins at i, and returns where it ends.
func (s *sorter) value(i int) (end int) {
	switch s.text[i] {
	case '{':
		return s.object(i)
	case '[':
		for i++; s.text[i] != ']'; {
			if i = s.value(i); s.text[i] == ',' {
				i++
			}
		}
		return i + 1
	case '"':
		return closingQuote(s.text, i) + 1
	default:
		for i < len(s.text) && s.text[i] != ',' && s.text[i] != ']' && s.text[i] != '}' {
			i++
		}
		return i
	}
}

func (s *sorter) object(begin int) (end int) {
	outer, inOrder := len(s.members), true
	i := begin + 1
	for s.text[i] != '}' {
		quote := closingQuote(s.text, i)
		m := sortedMember{name: unquoted(s.text[i : quote+1]), begin: i, end: s.value(quote + len(`":`))}
		if n := len(s.members); n > outer && byName(s.members[n-1], m) > 0 {
			inOrder = false
		}
		s.members = append(s.members, m)
		if i = m.end; s.text[i] == ',' {
			i++
		}
	}
	if !inOrder {
		s.sort(s.members[outer:])
	}
	clear(s.members[outer:])
	s.members = s.members[:outer]
	return i + 1
}

// sort puts the members of an object in order, between the same brackets.
func (s *sorter) sort(members []sortedMember) {
	begin := members[0].begin
	slices.SortFunc(members, byName)
	s.sorted = s.sorted[:0]
	for i := range members {
		if i > 0 {
			s.sorted = append(s.sorted, ',')
		}
		s.sorted = append(s.sorted, s.text[members[i].begin:members[i].end]...)
	}
	copy(s.text[begin:], s.sorted)
}

func byName(a, b sortedMember) int { return compareUTF16(a.name, b.name) }

// unquoted returns what a valid JSON string means.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	name, _ := jsontext.AppendUnquote(nil, quoted)
	return name
}

// compareUTF16 orders names as RFC 8785 does, by UTF-16 code units. It differs
// from the order of bytes only where one name has a code point beyond U+FFFF
// (lead byte F0 to F4) and the other one in U+E000 to U+FFFF (lead EE or EF).
func compareUTF16[T text](a, b T) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] >= 0xee && b[i] >= 0xee && (a[i] >= 0xf0) != (b[i] >= 0xf0):
			return cmp.Compare(b[i], a[i])
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}
