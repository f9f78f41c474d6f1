// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
)

// Prefixes of the ids that are minted or derived here (contract 3).
const (
	prefixAction   = "act_"
	prefixAttempt  = "att_"
	prefixApproval = "apr_"
	prefixRequest  = "req_"
	prefixEvent    = "evb_"
)

// idLength is the number of base32 characters behind a prefix: 130 bits.
const idLength = 26

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// mint returns an id that nothing tells anything about.
func mint(prefix string) string {
	var random [20]byte
	rand.Read(random[:]) // which never fails
	return prefix + lowerBase32.EncodeToString(random[:])[:idLength]
}

// derive returns an id that the same fields give again. Fields are prefixed with
// their length, so that no two lists of fields have the same preimage.
func derive(prefix, what string, fields ...string) string {
	h := sha256.New()
	for _, field := range append([]string{"readtrail/boundary/v1", what}, fields...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field))))
		h.Write([]byte(field))
	}
	return prefix + lowerBase32.EncodeToString(h.Sum(nil))[:idLength]
}

// newTraceID and newSpanID mint ids of W3C Trace Context, which are never all zero.
func newTraceID() string { return randomHex(16) }

func newSpanID() string { return randomHex(8) }

func randomHex(n int) string {
	id := make([]byte, n)
	rand.Read(id)
	id[0] |= 1
	return hex.EncodeToString(id)
}

// isHexID reports whether s is an id of n bytes as entries spell it, and not all zero.
func isHexID(s string, n int) bool {
	if len(s) != 2*n {
		return false
	}
	zero := true
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
		zero = zero && c == '0'
	}
	return !zero
}
