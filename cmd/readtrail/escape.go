// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape makes text from a journal, a file name or a command line safe to show:
// control characters, invisible, blank and direction-changing ones and invalid UTF-8
// become visible escapes, so that a hostile journal can neither steer the
// terminal nor forge a line of a report. A backslash is doubled, so that every
// text is shown in one way only.
func escape(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\\':
			b.WriteString(`\\`)
		case isVisible(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// isVisible reports whether a character leaves a mark of its own and does nothing
// else. Unicode counts some characters as letters or symbols that nobody can see:
// with them, two values that differ would look the same.
func isVisible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !isBlank(r)
}

// isBlank matches what is drawn as nothing without being a space or ignorable:
// the empty braille cell, the null notehead and the Khitan filler.
func isBlank(r rune) bool { return r == 0x2800 || r == 0x1d159 || r == 0x16fe4 }

func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// escapeCell escapes one cell of a table. Two spaces in a row separate columns,
// so a value may not contain them: it could forge a column.
func escapeCell(s string) string {
	return strings.ReplaceAll(escape(s), "  ", `\x20\x20`)
}
