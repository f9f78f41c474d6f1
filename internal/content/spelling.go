// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// The algorithms of contract 2, as digests spell them.
const (
	AlgorithmPlain = "sha256"
	AlgorithmKeyed = "hmac-sha256"

	plainPrefix = AlgorithmPlain + ":"
	keyedPrefix = AlgorithmKeyed + ":"
)

// spell spells a hash as entries do.
func (k *Key) spell(sum []byte) string {
	if k != nil {
		return keyedPrefix + k.id + ":" + hex.EncodeToString(sum)
	}
	var out [len(plainPrefix) + 2*sha256.Size]byte
	copy(out[:], plainPrefix)
	hex.Encode(out[len(plainPrefix):], sum)
	return string(out[:])
}

// ParsedDigest is a digest as records hold it, taken apart.
type ParsedDigest struct {
	// KeyID names the key of a keyed digest, "" for a plain one.
	KeyID string
	Sum   [sha256.Size]byte
}

var errDigest = errors.New("not a digest: it is sha256:<64 lowercase hex digits> or hmac-sha256:<key id>:<64 lowercase hex digits>")

// ParseDigest reads the one spelling of a digest.
func ParseDigest(s string) (ParsedDigest, error) {
	var d ParsedDigest
	cut := strings.LastIndexByte(s, ':')
	if cut < 0 {
		return d, errDigest
	}
	if id, keyed := strings.CutPrefix(s[:cut], keyedPrefix); keyed {
		if !ValidKeyID(id) {
			return d, errDigest
		}
		d.KeyID = id
	} else if s[:cut] != AlgorithmPlain {
		return d, errDigest
	}
	digits := s[cut+1:]
	if len(digits) != hex.EncodedLen(len(d.Sum)) || strings.ToLower(digits) != digits {
		return d, errDigest
	}
	if _, err := hex.Decode(d.Sum[:], []byte(digits)); err != nil {
		return d, errDigest
	}
	return d, nil
}

// String spells the digest as records do.
func (d ParsedDigest) String() string {
	if d.KeyID == "" {
		return Plain.spell(d.Sum[:])
	}
	return (&Key{id: d.KeyID}).spell(d.Sum[:])
}
