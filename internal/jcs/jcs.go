// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package jcs brings JSON text into the form of RFC 8785, for the text that tools
// return nearly always: what is to be done to it is to order the members and to
// leave out blanks. It never judges: text that needs more than that, or that is not
// valid, is left to encoding/json/jsontext, which is several times slower.
package jcs

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// maxDepth is the deepest nesting that is handled here.
const maxDepth = 64

// Former brings text into form. It holds the memory that this takes, to be used
// again; the zero value is ready. It belongs to one goroutine.
type Former struct {
	text []byte
	at   int // how much of text is read
	form []byte
	// members are those of the objects that are open.
	members []member
	// moved is where members wait while they are put in order.
	moved []byte
}

// member is a member of an object: where its name, without quotes, and the whole
// of it stand in the form.
type member struct{ name, nameEnd, end int }

// begin is where a member begins: at the quote before its name.
func (m member) begin() int { return m.name - 1 }

// Append appends the form of text to dst, in whose memory text must not stand, and
// reports whether it did. If not, what it returns is dst and says nothing about
// text: jsontext.Value.Canonicalize tells whether it has a form.
//
// What is appended has the same depth as text, at most 64, and RFC 8785 kept the
// value of every number: each has at most 15 digits and no exponent.
func (f *Former) Append(dst, text []byte) ([]byte, bool) {
	f.text, f.at, f.form, f.members = text, 0, dst, f.members[:0]
	formed := f.value(1)
	f.blanks()
	formed = formed && f.at == len(text)
	form := f.form
	f.text, f.form = nil, nil
	if !formed {
		return form[:len(dst)], false
	}
	return form, true
}

// Size returns the bytes of the memory that a Former holds.
func (f *Former) Size() int { return cap(f.moved) + cap(f.members)*3*8 }

// value reads a value at a depth of nesting, blanks before it included.
func (f *Former) value(depth int) bool {
	switch f.next() {
	case '{':
		return depth <= maxDepth && f.object(depth)
	case '[':
		return depth <= maxDepth && f.array(depth)
	case '"':
		_, ok := f.quoted()
		return ok
	case 't':
		return f.literal("true")
	case 'f':
		return f.literal("false")
	case 'n':
		return f.literal("null")
	default:
		return f.number()
	}
}

// next returns the next byte that is not blank and does not read it; 0 if there
// is none.
func (f *Former) next() byte {
	f.blanks()
	if f.at == len(f.text) {
		return 0
	}
	return f.text[f.at]
}

func (f *Former) blanks() {
	for f.at < len(f.text) {
		switch f.text[f.at] {
		case ' ', '\n', '\t', '\r':
			f.at++
		default:
			return
		}
	}
}

// take reads a byte that next returned.
func (f *Former) take(c byte) {
	f.at++
	f.form = append(f.form, c)
}

func (f *Former) literal(word string) bool {
	if !bytes.HasPrefix(f.text[f.at:], []byte(word)) {
		return false
	}
	f.at += len(word)
	f.form = append(f.form, word...)
	return true
}

func (f *Former) array(depth int) bool {
	f.take('[')
	if f.next() == ']' {
		f.take(']')
		return true
	}
	for f.value(depth + 1) {
		switch f.next() {
		case ',':
			f.take(',')
		case ']':
			f.take(']')
			return true
		default:
			return false
		}
	}
	return false
}

func (f *Former) object(depth int) bool {
	f.take('{')
	if f.next() == '}' {
		f.take('}')
		return true
	}
	first, ordered := len(f.members), true
	for f.next() == '"' {
		m, ok := f.quoted()
		if !ok || f.next() != ':' || !orderedByBytes(f.form[m.name:m.nameEnd]) {
			return false
		}
		f.take(':')
		if !f.value(depth + 1) {
			return false
		}
		m.end = len(f.form)
		if n := len(f.members); n > first {
			switch order := f.compare(f.members[n-1], m); {
			case order == 0:
				return false // a duplicate name
			case order > 0:
				ordered = false
			}
		}
		f.members = append(f.members, m)
		switch f.next() {
		case ',':
			f.take(',')
		case '}':
			if !ordered && !f.reorder(f.members[first:]) {
				return false
			}
			f.members = f.members[:first]
			f.take('}')
			return true
		default:
			return false
		}
	}
	return false
}

// orderedByBytes reports whether the bytes of a name order it as RFC 8785 does, by
// UTF-16 code units: those of characters from U+E000 on may not. A name with an
// escape would have to be read first.
func orderedByBytes(name []byte) bool {
	for _, c := range name {
		if c == '\\' || c >= 0xee {
			return false
		}
	}
	return true
}

func (f *Former) compare(a, b member) int {
	return bytes.Compare(f.form[a.name:a.nameEnd], f.form[b.name:b.nameEnd])
}

// reorder puts the members of an object that was read to its end in order and
// reports whether their names differ.
func (f *Former) reorder(members []member) bool {
	begin := members[0].begin()
	f.moved = append(f.moved[:0], f.form[begin:]...)
	slices.SortFunc(members, f.compare)
	to := f.form[:begin]
	for i, m := range members {
		if i > 0 {
			to = append(to, ',')
			if bytes.Equal(f.moved[m.name-begin:m.nameEnd-begin], f.moved[members[i-1].name-begin:members[i-1].nameEnd-begin]) {
				return false
			}
		}
		to = append(to, f.moved[m.begin()-begin:m.end-begin]...)
	}
	return true
}

// ones and highs are the lowest and the highest bit of each of eight bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainBytes returns how many bytes at the begin of b can stand in a string as
// they are and end none: ASCII without controls, quotes and backslashes.
func plainBytes(b []byte) int {
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// The highest bit of a byte stays clear if it is none of them.
		if (w|(w-ones*' ')|(quote-ones)|(slash-ones))&highs != 0 {
			break
		}
	}
	for n < len(b) && isPlain[b[n]] {
		n++
	}
	return n
}

var isPlain = func() (set [256]bool) {
	for c := ' '; c < 0x80; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}()
