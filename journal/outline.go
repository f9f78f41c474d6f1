// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json/jsontext"
	"strings"
	"unicode/utf8"
)

// outline is where the members of a line stand. Reading it is the check that the
// line is its own RFC 8785 form within the bounds of contract 2: a line in that
// form leaves no choice at any byte, so that one pass tells it without making the
// form. The package encoding/json/jsontext, which reads a line three times for the
// same, is what the tests hold it against.
type outline struct {
	line []byte
	at   int
	// members are those of the first levels, each before those within it.
	members []member
}

// member is a member of an object: from its first quote to the end of its value.
type member struct {
	// level is 1 for the members of the entry itself.
	level int32
	// start is where the quote before the name stands, value where its value begins.
	start, value, stop int32
}

// outlinedLevels are the levels whose members an outline holds: those of the
// entry, of body and integrity, and of the signature.
const outlinedLevels = 3

// read reports whether line is canonical. It keeps line.
func (o *outline) read(line []byte) bool {
	const manyMembers = 4096 // more than an entry has that a writer wrote
	if cap(o.members) > manyMembers {
		o.members = nil
	}
	o.line, o.at, o.members = line, 0, o.members[:0]
	return o.readValue(0) && o.at == len(line)
}

// name returns the name of a member as it stands between its quotes.
func (o *outline) name(m *member) []byte { return o.line[m.start+1 : m.value-2] }

// text returns the value of a member.
func (o *outline) text(m *member) []byte { return o.line[m.value:m.stop] }

// within returns the members of the object that is the value of members[i]; nil if
// it is no object.
func (o *outline) within(i int) []member {
	if o.line[o.members[i].value] != '{' {
		return nil
	}
	rest := o.members[i+1:]
	for n := range rest {
		if rest[n].level <= o.members[i].level {
			return rest[:n]
		}
	}
	return rest
}

func (o *outline) readValue(level int32) bool {
	if o.at == len(o.line) {
		return false
	}
	switch c := o.line[o.at]; c {
	case '"':
		_, ok := o.readText()
		return ok
	case '{':
		return level < maxDepth && o.readObject(level+1)
	case '[':
		return level < maxDepth && o.readArray(level+1)
	case 't':
		return o.readLiteral("true")
	case 'f':
		return o.readLiteral("false")
	case 'n':
		return o.readLiteral("null")
	default:
		return o.readInteger()
	}
}

func (o *outline) readLiteral(literal string) bool {
	if !bytes.HasPrefix(o.line[o.at:], []byte(literal)) {
		return false
	}
	o.at += len(literal)
	return true
}

// next passes one byte.
func (o *outline) next(c byte) bool {
	if o.at == len(o.line) || o.line[o.at] != c {
		return false
	}
	o.at++
	return true
}

func (o *outline) readArray(level int32) bool {
	o.at++
	if o.next(']') {
		return true
	}
	for {
		if !o.readValue(level) {
			return false
		}
		if !o.next(',') {
			return o.next(']')
		}
	}
}

func (o *outline) readObject(level int32) bool {
	o.at++
	if o.next('}') {
		return true
	}
	var before []byte
	plainBefore := true
	for first := true; ; first = false {
		start := o.at
		plain, ok := o.readText()
		if !ok {
			return false
		}
		quoted := o.line[start:o.at]
		// Names that ascend are names that stand once.
		if !first && !ascends(before, quoted, plain && plainBefore) {
			return false
		}
		before, plainBefore = quoted, plain
		if !o.next(':') {
			return false
		}
		at := len(o.members)
		if level <= outlinedLevels {
			o.members = append(o.members, member{level: level, start: int32(start), value: int32(o.at)})
		}
		if !o.readValue(level) {
			return false
		}
		if level <= outlinedLevels {
			o.members[at].stop = int32(o.at)
		}
		if !o.next(',') {
			return o.next('}')
		}
	}
}

// ascends reports whether a quoted name comes before another in the order of RFC
// 8785, that of UTF-16 code units, which is that of bytes for plain ones.
func ascends(before, after []byte, plain bool) bool {
	// The last quote would compare as a character.
	if plain {
		return bytes.Compare(before[:len(before)-1], after[:len(after)-1]) < 0
	}
	a, errA := jsontext.AppendUnquote(nil, before)
	b, errB := jsontext.AppendUnquote(nil, after)
	return errA == nil && errB == nil && lessUTF16(a, b)
}

func lessUTF16(a, b []byte) bool {
	for {
		if len(a) == 0 || len(b) == 0 {
			return len(b) > 0
		}
		x, n := utf8.DecodeRune(a)
		y, m := utf8.DecodeRune(b)
		if x != y {
			// What needs two code units begins with a surrogate.
			if astral := x > 0xffff; astral != (y > 0xffff) {
				if astral {
					return y > 0xdfff
				}
				return x < 0xd800
			}
			return x < y
		}
		a, b = a[n:], b[m:]
	}
}

// plainByte tells the bytes that stand for themselves in a string: ASCII that
// needs no escape.
var plainByte = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// arePlain does what plainByte does for eight bytes at once. It may take plain ones
// behind one that is not for others, never the other way round.
func arePlain(eight uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	// Less than a space, a quote, a backslash, not ASCII: each sets the high bit.
	control, quote, backslash := eight-' '*ones, (eight^'"'*ones)-ones, (eight^'\\'*ones)-ones
	return (control|quote|backslash|eight)&high == 0
}

// readText reads a string with the shortest escapes; plain says that all of its
// bytes are.
func (o *outline) readText() (plain, ok bool) {
	if !o.next('"') {
		return false, false
	}
	line, at := o.line, o.at
	plain = true
	for {
		for at+8 <= len(line) && arePlain(binary.LittleEndian.Uint64(line[at:])) {
			at += 8
		}
		for at < len(line) && plainByte[line[at]] {
			at++
		}
		if at == len(line) {
			return false, false
		}
		size := 0
		switch c := line[at]; {
		case c == '"':
			o.at = at + 1
			return plain, true
		case c == '\\':
			size = escapeSize(line[at:])
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRune(line[at:]); r == utf8.RuneError && size == 1 {
				return false, false
			}
		}
		if size == 0 {
			return false, false
		}
		plain = false
		at += size
	}
}

// escapeSize returns the size of the escape that s begins with; 0 if it is not the
// one that RFC 8785 demands for its character.
func escapeSize(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) < 6 || s[2] != '0' || s[3] != '0' {
			return 0
		}
		digits := ""
		switch s[4] {
		case '0':
			digits = "01234567bef" // the others have an escape of two bytes
		case '1':
			digits = "0123456789abcdef"
		}
		if strings.IndexByte(digits, s[5]) >= 0 {
			return 6
		}
	}
	return 0
}

// readInteger reads a plain integer of at most 2^53-1.
func (o *outline) readInteger() bool {
	negative := o.next('-')
	start := o.at
	for o.at < len(o.line) && '0' <= o.line[o.at] && o.line[o.at] <= '9' {
		o.at++
	}
	digits := o.line[start:o.at]
	if len(digits) == 0 || digits[0] == '0' && (len(digits) > 1 || negative) {
		return false
	}
	return len(digits) < len(maxDigits) || len(digits) == len(maxDigits) && string(digits) <= maxDigits
}
