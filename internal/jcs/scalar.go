// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package jcs

import "unicode/utf8"

// quoted reads a string, which stays as it is spelled, and returns where it stands
// in the form.
func (f *Former) quoted() (m member, ok bool) {
	rest := f.text[f.at+1:]
	beyondASCII := false
	for i := 0; ; {
		i += plainBytes(rest[i:])
		if i == len(rest) {
			return m, false
		}
		switch c := rest[i]; {
		case c == '"':
			if beyondASCII && !utf8.Valid(rest[:i]) {
				return m, false
			}
			m.name = len(f.form) + 1
			m.nameEnd = m.name + i
			f.form = append(f.form, f.text[f.at:f.at+i+2]...)
			f.at += i + 2
			return m, true
		case c == '\\':
			if i+1 == len(rest) || !staysEscaped(rest[i+1]) {
				return m, false
			}
			i += 2
		case c < ' ':
			return m, false
		default:
			beyondASCII = true
			i++
		}
	}
}

// staysEscaped reports whether RFC 8785 spells the character of an escape with the
// same escape.
func staysEscaped(c byte) bool {
	switch c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// maxDigits is the number of significant decimal digits that every double keeps
// (DBL_DIG of IEEE 754): the shortest decimal that reads back to a double that was
// made from at most as many is those digits.
const maxDigits = 15

// maxSmallZeros is how many zeros may follow the point of a number below 1: RFC 8785
// spells what is less than 0.000001 with an exponent.
const maxSmallZeros = 5

// number reads a number, which loses zeros at its end only.
func (f *Former) number() bool {
	begin := f.at
	if f.at < len(f.text) && f.text[f.at] == '-' {
		f.at++
	}
	whole := f.digits()
	end, negative := f.at, f.at-whole > begin
	if whole == 0 || whole > maxDigits || whole > 1 && f.text[end-whole] == '0' {
		return false
	}
	zero := f.text[end-whole] == '0'
	if f.at < len(f.text) && f.text[f.at] == '.' {
		f.at++
		fraction := f.digits()
		if fraction == 0 || whole+fraction > maxDigits {
			return false
		}
		significant := f.text[f.at-fraction : f.at]
		for len(significant) > 0 && significant[len(significant)-1] == '0' {
			significant = significant[:len(significant)-1]
		}
		if n := len(significant); n > 0 {
			end += 1 + n
			zeros := 0
			for significant[zeros] == '0' {
				zeros++
			}
			if zero && zeros > maxSmallZeros {
				return false
			}
			zero = false
		}
	}
	if zero && negative || f.at < len(f.text) && (f.text[f.at]|0x20) == 'e' {
		return false
	}
	f.form = append(f.form, f.text[begin:end]...)
	return true
}

// digits reads digits and returns how many.
func (f *Former) digits() int {
	begin := f.at
	for f.at < len(f.text) && '0' <= f.text[f.at] && f.text[f.at] <= '9' {
		f.at++
	}
	return f.at - begin
}
