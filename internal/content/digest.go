// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"hash"
	"io"
	"sync"

	"github.com/readtrail/readtrail/record"
)

// Form is how the bytes that a digest covers were obtained (contract 2). It
// stands beside every digest as *_canonicalization.
type Form string

// The forms of contract 2; docs/content.md has an example of each.
const (
	// FormJCS is RFC 8785 of an I-JSON object or array.
	FormJCS Form = "jcs"
	// FormJSON is RFC 8785 of a structured value but for its numbers, which
	// are spelled exactly.
	FormJSON Form = "json"
	// FormOTLPJSON is RFC 8785 of the OTLP/JSON encoding of a structured value.
	FormOTLPJSON Form = "otlp_json"
	// FormBytes is the value's bytes as received.
	FormBytes Form = "bytes"
)

// Limits of FormJCS (contract 2).
const (
	// MaxJSONBytes is the largest text that is read as JSON, in bytes.
	MaxJSONBytes = 4 << 20
	// MaxJSONDepth is the deepest nesting of objects and arrays in a JCS form.
	MaxJSONDepth = 1000
)

// Digest is the digest of one content.
type Digest struct {
	// Value is "sha256:" and 64 lowercase hex digits, or "" if there is no
	// content to digest (State says why).
	Value string
	Form  Form
	// Size is the number of bytes digested.
	Size int64
	// State is captured, truncated, placeholder or, for an empty value,
	// not_captured.
	State record.Captured
}

// OfString digests a string as received: a JSON object or array that is I-JSON
// has the digest of its canonical form, everything else that of its bytes. What
// as a whole is a credential has none and is a placeholder (requirement H3).
func OfString(s string) Digest { return ofText(s) }

// OfBytes digests text that was read as bytes, such as a file, as OfString
// digests a string.
func OfBytes(b []byte) Digest { return ofText(b) }

// OfRaw digests bytes that were never text, such as a bytesValue. None are a
// placeholder, as an empty string is, and so is a credential.
func OfRaw(b []byte) Digest {
	if len(b) == 0 || len(b) <= maxCredential && LooksLikeCredential(string(b)) {
		return placeholder
	}
	return ofRaw(b, record.CapturedContent)
}

// EmptyAsPlaceholder returns d, or the digest of a placeholder if d is that of
// an empty JSON object or array: some libraries write one in place of content
// that they were told to leave out, and others mean it. Only the caller knows
// which library wrote the value.
func (d Digest) EmptyAsPlaceholder() Digest {
	if d.Size == 2 && (d.Value == emptyObject || d.Value == emptyArray) {
		return placeholder
	}
	return d
}

var (
	placeholder = Digest{State: record.CapturedPlaceholder}
	emptyObject = ofRaw("{}", record.CapturedContent).Value
	emptyArray  = ofRaw("[]", record.CapturedContent).Value
)

// text is a string or bytes, so that neither is copied into the other.
type text interface{ ~string | ~[]byte }

func ofText[T text](t T) Digest {
	if len(t) <= maxPlaceholder && IsPlaceholder(string(t)) {
		return placeholder
	}
	if len(t) <= maxCredential && LooksLikeCredential(string(t)) {
		return placeholder
	}
	if endsTruncated(t) {
		return ofRaw(t, record.CapturedTruncated)
	}
	if len(t) > MaxJSONBytes || !startsContainer(t) || depthOf(t) > MaxJSONDepth {
		return ofRaw(t, record.CapturedContent)
	}
	w := workspaces.Get().(*workspace)
	defer w.release()
	w.json = append(w.json[:0], t...)
	switch err := w.json.Canonicalize(); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ofRaw(t, record.CapturedTruncated)
	case err != nil || !numbersSurvive(t):
		return ofRaw(t, record.CapturedContent)
	}
	d := ofRaw(w.json, record.CapturedContent)
	d.Form = FormJCS
	return d
}

// workspace is the memory that digesting takes, to be used again.
type workspace struct {
	hash  hash.Hash
	chunk [4 << 10]byte
	json  jsontext.Value
}

var workspaces = sync.Pool{New: func() any { return &workspace{hash: sha256.New()} }}

// maxWorkspace is the largest JSON text whose memory is kept, in bytes.
const maxWorkspace = 64 << 10

func (w *workspace) release() {
	if cap(w.json) > maxWorkspace {
		w.json = nil
	}
	workspaces.Put(w)
}

// ofRaw digests without a second copy of a large value.
func ofRaw[T text](t T, state record.Captured) Digest {
	w := workspaces.Get().(*workspace)
	defer w.release()
	w.hash.Reset()
	for rest := t; len(rest) > 0; {
		n := copy(w.chunk[:], rest)
		w.hash.Write(w.chunk[:n])
		rest = rest[n:]
	}
	return Digest{Value: spell(w.hash.Sum(w.chunk[:0])), Form: FormBytes, Size: int64(len(t)), State: state}
}

func spell(sum []byte) string {
	const prefix = "sha256:"
	var out [len(prefix) + 2*sha256.Size]byte
	copy(out[:], prefix)
	hex.Encode(out[len(prefix):], sum)
	return string(out[:])
}

// startsContainer reports whether t begins as a JSON object or array does.
func startsContainer[T text](t T) bool {
	for i := range len(t) {
		switch t[i] {
		case ' ', '\t', '\n', '\r':
		case '{', '[':
			return true
		default:
			return false
		}
	}
	return false
}
