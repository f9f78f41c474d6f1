// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// depthOf returns how deeply objects and arrays nest in JSON text. It is exact
// for valid text and an upper bound of what a parser would meet in other text,
// so that it can guard a recursive parser.
func depthOf[T text](t T) int {
	depth, deepest := 0, 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			i = endOfString(t, i)
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// numbersSurvive reports whether RFC 8785 keeps the value of every number in
// valid JSON text.
func numbersSurvive[T text](t T) bool {
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '"':
			i = endOfString(t, i)
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(t) && isNumberByte(t[end]) {
				end++
			}
			if !survives(t[i:end]) {
				return false
			}
			i = end
		}
	}
	return true
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
