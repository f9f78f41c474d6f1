// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"crypto/sha256"
	"encoding/json/jsontext"
	"errors"
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
	// Value is "sha256:" or, if keyed, "hmac-sha256:" and the id of the key and
	// ":", and 64 lowercase hex digits; or "" if there is no content to digest
	// (State says why).
	Value string
	Form  Form
	// Size is the number of bytes digested, rounded up to a multiple of 64 if
	// the digest is keyed.
	Size int64
	// State is captured, truncated, placeholder or, for an empty value,
	// not_captured.
	State record.Captured
}

var (
	placeholder = Digest{State: record.CapturedPlaceholder}
	emptyObject = ofRaw(Plain, "{}", record.CapturedContent).Value
	emptyArray  = ofRaw(Plain, "[]", record.CapturedContent).Value
)

// text is a string or bytes, so that neither is copied into the other.
type text interface{ ~string | ~[]byte }

func ofText[T text](k *Key, t T) Digest {
	if len(t) <= maxPlaceholder && IsPlaceholder(string(t)) {
		return placeholder
	}
	if len(t) <= maxCredential && LooksLikeCredential(string(t)) {
		return placeholder
	}
	if endsTruncated(t) {
		return ofRaw(k, t, record.CapturedTruncated)
	}
	if isQuotedPlaceholder(t) {
		return placeholder
	}
	if len(t) > MaxJSONBytes || !startsContainer(t) {
		return ofRaw(k, t, record.CapturedContent)
	}
	depth, exact := scan(t)
	if depth > MaxJSONDepth {
		return ofRaw(k, t, record.CapturedContent)
	}
	w := workspaces.Get().(*workspace)
	defer w.release()
	w.json = append(w.json[:0], t...)
	switch err := canonicalize(&w.json); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ofRaw(k, t, record.CapturedTruncated)
	case err != nil:
		return ofRaw(k, t, record.CapturedContent)
	}
	l := leavesOf(w.json)
	switch {
	case l.onlyPlaceholders():
		return placeholder
	case !exact:
		return ofRaw(k, t, l.state())
	}
	d := ofRaw(k, w.json, l.state())
	d.Form = FormJCS
	return d
}

// workspace is the memory that digesting takes, to be used again.
type workspace struct {
	chunk [4 << 10]byte
	json  jsontext.Value
}

var workspaces = sync.Pool{New: func() any { return &workspace{} }}

// maxWorkspace is the largest JSON text whose memory is kept, in bytes.
const maxWorkspace = 64 << 10

func (w *workspace) release() {
	if cap(w.json) > maxWorkspace {
		w.json = nil
	}
	workspaces.Put(w)
}

// ofRaw digests without a second copy of a large value.
func ofRaw[T text](k *Key, t T, state record.Captured) Digest {
	w := workspaces.Get().(*workspace)
	if k == nil && len(t) <= len(w.chunk) { // most values
		sum := sha256.Sum256(w.chunk[:copy(w.chunk[:], t)])
		workspaces.Put(w)
		return Digest{Value: k.spell(sum[:]), Form: FormBytes, Size: int64(len(t)), State: state}
	}
	defer w.release()
	h := k.NewHash()
	for rest := t; len(rest) > 0; {
		n := copy(w.chunk[:], rest)
		h.Write(w.chunk[:n])
		rest = rest[n:]
	}
	return k.end(h, w.chunk[:], FormBytes, int64(len(t)), state)
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
