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
// control characters, invisible and direction-changing ones and invalid UTF-8
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
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		s = s[size:]
	}
	return b.String()
}

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
