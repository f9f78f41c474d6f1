// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/readtrail/readtrail/record"
)

// Key makes digests keyed: HMAC-SHA-256 (RFC 2104) instead of SHA-256 over the
// same bytes, so that only who has the secret can confirm a guess of a content
// (requirement H2). A nil Key makes plain digests. A Key is safe for concurrent
// use, and its secret is printed nowhere.
type Key struct {
	id string
	// macs holds hash.Hash of which each is keyed and unused.
	macs sync.Pool
	// emptyObject and emptyArray are the digests of {} and [].
	emptyObject, emptyArray string
}

// Plain is no key: digests are SHA-256 alone.
var Plain *Key

const (
	// minSecret is the least length of a secret, in bytes: that of the hash
	// (RFC 2104, section 3).
	minSecret = sha256.Size
	// maxKeyID bounds what stands in every keyed digest, in bytes.
	maxKeyID = 128
	// keyedSizeUnit is what the size beside a keyed digest is rounded up to, in
	// bytes, since the exact size would help to guess (contract 2).
	keyedSizeUnit = 64
)

// NewKey returns the key with an id, which stands in every digest that it
// makes, and a secret of at least 32 bytes.
func NewKey(id string, secret []byte) (*Key, error) {
	if !ValidKeyID(id) {
		return nil, errKeyID
	}
	if len(secret) < minSecret {
		return nil, fmt.Errorf("key has %d bytes, fewer than %d; make one with: %s", len(secret), minSecret, makeKey)
	}
	secret = bytes.Clone(secret)
	k := &Key{id: id, macs: sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}}
	k.emptyObject, k.emptyArray = k.OfString("{}").Value, k.OfString("[]").Value
	return k, nil
}

var errKeyID = errors.New("the id of a key must be 1 to 128 letters, digits and ._-")

var isKeyIDText = allOf(alnum + "._-")

// ValidKeyID reports whether an id can stand in a digest (contract 2).
func ValidKeyID(id string) bool { return id != "" && len(id) <= maxKeyID && isKeyIDText(id) }

// ID returns the id, "" for Plain.
func (k *Key) ID() string {
	if k == nil {
		return ""
	}
	return k.id
}

// String names the key by its id.
func (k *Key) String() string { return "key(" + k.ID() + ")" }

// Format prints String with every verb, so that no log shows the secret.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// MarshalText makes encoders write String.
func (k *Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// OfString digests a string as received: a JSON object or array that is I-JSON
// has the digest of its canonical form, everything else that of its bytes. What
// as a whole is a credential has none and is a placeholder (requirement H3).
func (k *Key) OfString(s string) Digest { return ofText(k, s) }

// OfBytes digests text that was read as bytes, such as a file, as OfString
// digests a string.
func (k *Key) OfBytes(b []byte) Digest { return ofText(k, b) }

// OfRaw digests bytes that were never text, such as a bytesValue. None are a
// placeholder, as an empty string is, and so is a credential.
func (k *Key) OfRaw(b []byte) Digest {
	if len(b) == 0 || len(b) <= maxCredential && LooksLikeCredential(string(b)) {
		return placeholder
	}
	return ofRaw(k, b, record.CapturedContent)
}

// Sum digests the bytes of a string that names something, whatever they are.
func (k *Key) Sum(s string) string { return ofRaw(k, s, record.CapturedContent).Value }

// EmptyAsPlaceholder returns d, a digest of this key, or that of a placeholder
// if d is of an empty JSON object or array: some libraries write one in place of
// content that they were told to leave out, and others mean it. Only the caller
// knows which library wrote the value.
func (k *Key) EmptyAsPlaceholder(d Digest) Digest {
	object, array := emptyObject, emptyArray
	if k != nil {
		object, array = k.emptyObject, k.emptyArray
	}
	if d.Size == k.size(2) && (d.Value == object || d.Value == array) {
		return placeholder
	}
	return d
}

// plainHashes holds hash.Hash that are unused.
var plainHashes = sync.Pool{New: func() any { return sha256.New() }}

func (k *Key) hashes() *sync.Pool {
	if k == nil {
		return &plainHashes
	}
	return &k.macs
}

// NewHash returns a hash that is ready to write to: SHA-256, or HMAC-SHA-256 with
// the key.
func (k *Key) NewHash() hash.Hash {
	return k.hashes().Get().(hash.Hash)
}

// end returns the digest of the size bytes that were written to h, which is
// not used any more. Sum appends to scratch.
func (k *Key) end(h hash.Hash, scratch []byte, form Form, size int64, state record.Captured) Digest {
	d := Digest{Value: k.spell(h.Sum(scratch[:0])), Form: form, Size: k.size(size), State: state}
	h.Reset()
	k.hashes().Put(h)
	return d
}

// size returns the size that stands beside a digest of so many bytes.
func (k *Key) size(bytes int64) int64 {
	if k == nil {
		return bytes
	}
	return (bytes + keyedSizeUnit - 1) / keyedSizeUnit * keyedSizeUnit
}
