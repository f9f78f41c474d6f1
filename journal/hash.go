// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"encoding/hex"
)

// link is a hash by which entries name one another, or the absence of one.
type link struct {
	hash [sha256.Size]byte
	set  bool
}

// String spells a hash as record_hash does; "" for none.
func (l link) String() string {
	if !l.set {
		return ""
	}
	return SpellHash(l.hash)
}

// SpellHash spells a hash as record_hash does: "sha256:" and 64 lowercase hex
// digits.
func SpellHash(hash [sha256.Size]byte) string {
	var text [recordHashLength]byte
	copy(text[:], digestPrefix)
	hex.Encode(text[len(digestPrefix):], hash[:])
	return string(text[:])
}

// ParseHash reads the one spelling of a record hash, that of SpellHash.
func ParseHash(spelled string) (hash [sha256.Size]byte, ok bool) {
	l, ok := parseLink([]byte(spelled))
	return l.hash, ok
}

func parseLink(spelled []byte) (l link, ok bool) {
	if len(spelled) != len(digestPrefix)+2*sha256.Size || string(spelled[:len(digestPrefix)]) != digestPrefix {
		return link{}, false
	}
	digits := spelled[len(digestPrefix):]
	for i := range l.hash {
		high, low := nibbles[digits[2*i]], nibbles[digits[2*i+1]]
		if high > 0xf || low > 0xf {
			return link{}, false
		}
		l.hash[i] = high<<4 | low
	}
	l.set = true
	return l, true
}

// nibbles gives the value of a lowercase hex digit and more than 15 for any other
// byte: package encoding/hex takes capitals too.
var nibbles = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i, c := range "0123456789abcdef" {
		values[c] = byte(i)
	}
	return values
}()
