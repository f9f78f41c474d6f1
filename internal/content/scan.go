// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// scan looks at JSON text before it is parsed. The depth says how deeply objects
// and arrays nest; it is exact for valid text and an upper bound of what a parser
// would meet in other text, so that it can guard a recursive parser. For valid
// text, exact says that RFC 8785 keeps the value of every number.
func scan[T text](t T) (depth int, exact bool) {
	open, exact := 0, true
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '"':
			i = endOfString(t, i)
		case c == '{' || c == '[':
			open++
			depth = max(depth, open)
		case c == '}' || c == ']':
			open--
		case c == '-' || '0' <= c && c <= '9':
			begin := i
			for i+1 < len(t) && isNumberByte(t[i+1]) {
				i++
			}
			exact = exact && survives(t[begin:i+1])
		}
	}
	return depth, exact
}

// endOfString returns the index of the quote that ends the JSON string that
// starts at i, or the end of the text.
func endOfString[T text](t T, i int) int {
	for i++; i < len(t) && t[i] != '"'; i++ {
		if t[i] == '\\' {
			i++
		}
	}
	return i
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}
