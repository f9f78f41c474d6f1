// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Key is a trusted key: who may sign, from when, until when (contract 7).
type Key struct {
	// ID is the key id, the RFC 7638 thumbprint of PublicKey.
	ID        string
	PublicKey ed25519.PublicKey
	// ValidFrom is the first instant at which the key may sign.
	ValidFrom record.Time
	// ValidUntil is the first instant at which it no longer may; absent means
	// no end.
	ValidUntil record.Time
	// RevokedAt is the first instant at which it is revoked; absent means not.
	RevokedAt        record.Time
	RevocationReason string
	// InvalidFromSequence says for a journal id from which sequence on entries
	// of a revoked key do not count, whatever their time.
	InvalidFromSequence map[string]uint64
	// FirstSequence says for a journal id at which sequence the key begins to
	// sign, so that a key change needs no bridge there.
	FirstSequence map[string]uint64
}

// NewKey makes a signing key: its PKCS#8 PEM, which must be kept secret, and
// its registry entry, valid from now (rounded down to a second) without end.
func NewKey(now time.Time) (pem []byte, key Key, err error) {
	pem, public, err := newPrivateKey()
	if err != nil {
		return nil, Key{}, err
	}
	return pem, TrustedKey(public, now), nil
}

// TrustedKey is the registry entry of a public key, valid from a time (rounded down
// to a second) without end.
func TrustedKey(public ed25519.PublicKey, from time.Time) Key {
	return Key{ID: KeyID(public), PublicKey: public, ValidFrom: record.NewTime(from.Truncate(time.Second))}
}

// judge says whether the key may have signed the entry of a journal at a
// sequence and time; "" means that it may.
func (k *Key) judge(journalID string, sequence uint64, at record.Time) Code {
	if first, ok := k.FirstSequence[journalID]; ok && sequence < first {
		return CodeKeyUnknown
	}
	if invalid, ok := k.InvalidFromSequence[journalID]; ok && sequence >= invalid {
		return CodeKeyRevoked
	}
	switch t := at.Std(); {
	case !k.RevokedAt.IsZero() && !t.Before(k.RevokedAt.Std()):
		return CodeKeyRevoked
	case t.Before(k.ValidFrom.Std()):
		return CodeKeyNotYetValid
	case !k.ValidUntil.IsZero() && !t.Before(k.ValidUntil.Std()):
		return CodeKeyExpired
	}
	return ""
}

// lowOrder holds the y coordinates, in little endian without the sign bit, of
// the points of order 1, 2, 4 and 8 and of their encodings that are not
// canonical. Under such a key a signature can fit more than one message.
var lowOrder = [][]byte{
	mustHex("0000000000000000000000000000000000000000000000000000000000000000"),
	mustHex("0100000000000000000000000000000000000000000000000000000000000000"),
	mustHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
	mustHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
	mustHex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
	mustHex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
	mustHex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
}

func mustHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err) // a constant of this file
	}
	return b
}

// decodePublicKey reads the x of a JWK and refuses keys that no honest
// generator makes (contract 4).
func decodePublicKey(x string) (ed25519.PublicKey, error) {
	key, err := base64.RawURLEncoding.Strict().DecodeString(x)
	if err != nil || len(key) != ed25519.PublicKeySize || base64.RawURLEncoding.EncodeToString(key) != x {
		return nil, errors.New("x is not the unpadded base64url of 32 bytes")
	}
	y := bytes.Clone(key)
	y[len(y)-1] &= 0x7f
	for _, low := range lowOrder {
		if bytes.Equal(y, low) {
			return nil, errors.New("x is a point of low order, which proves nothing")
		}
	}
	slices.Reverse(y)
	switch y := new(big.Int).SetBytes(y); {
	case y.Cmp(fieldPrime) >= 0:
		// A second spelling of another coordinate.
		return nil, errors.New("x is not the canonical encoding of a point")
	case !onCurve(y):
		return nil, errors.New("x is not a point of the curve, so nothing was ever signed by it")
	}
	return key, nil
}

func (k *Key) check() error {
	if k.ValidFrom.IsZero() {
		return errors.New("valid_from is missing")
	}
	if !k.ValidUntil.IsZero() && !k.ValidFrom.Std().Before(k.ValidUntil.Std()) {
		return errors.New("valid_until is not after valid_from")
	}
	if k.RevokedAt.IsZero() && (k.RevocationReason != "" || len(k.InvalidFromSequence) > 0) {
		return errors.New("revocation_reason and invalid_from_sequence need revoked_at")
	}
	for name, t := range map[string]record.Time{"valid_from": k.ValidFrom, "valid_until": k.ValidUntil, "revoked_at": k.RevokedAt} {
		if _, err := record.ParseTime(t.String()); err != nil {
			return fmt.Errorf("%s is not in the years 0 to 9999", name)
		}
	}
	for name, sequences := range map[string]map[string]uint64{"invalid_from_sequence": k.InvalidFromSequence, "first_sequence": k.FirstSequence} {
		for journalID, n := range sequences {
			if journalID == "" {
				return fmt.Errorf("%s names an empty journal id", name)
			}
			if n == 0 || n > record.MaxInteger {
				return fmt.Errorf("%s is not between 1 and 2^53-1", name)
			}
		}
	}
	return nil
}
