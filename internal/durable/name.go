// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the longest name of a scope, a set or a key that PathElement
// spells as the name of a file, in bytes: 3*80 < 255.
const MaxName = 80

// PathElement spells a name as one path element (contract 7): letters, digits,
// "-", "_" and an inner "." stand for themselves, any other byte is
// percent-escaped, so that no name leaves its directory, none is hidden and no
// two share one.
func PathElement(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// CheckName refuses a name that cannot stand legibly in an entry or a path:
// longer than limit bytes, not UTF-8, not printable. The error continues a
// sentence that begins with what was named.
func CheckName(name string, limit int) error {
	if len(name) > limit {
		return fmt.Errorf("has %d bytes, more than %d", len(name), limit)
	}
	if !utf8.ValidString(name) {
		return errors.New("is not UTF-8")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("contains %U, which is not printable", r)
		}
	}
	return nil
}
