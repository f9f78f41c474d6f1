// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"encoding/json/jsontext"
	"hash"
)

// PreimageOfString returns a copy of the bytes that the digest of a string
// covers, if that has the form.
func PreimageOfString(s string, form Form) []byte { return preimageOf(s, form) }

// PreimageOfBytes is PreimageOfString for what OfBytes or OfRaw digested.
func PreimageOfBytes(b []byte, form Form) []byte { return preimageOf(b, form) }

func preimageOf[T text](t T, form Form) []byte {
	value := jsontext.Value(append([]byte(nil), t...))
	if form == FormJCS {
		_ = canonicalize(&value) // which has the form because this did not fail
	}
	return value
}

// PreimageOfNode is PreimageOfString for a structured value.
func PreimageOfNode(n Node, form Form) []byte {
	switch n.Kind() {
	case KindString:
		return preimageOf(n.Str(), form)
	case KindBytes:
		return preimageOf(n.Bytes(), form)
	case KindInt, KindDouble, KindBool:
		return appendScalar(nil, n)
	case KindMap, KindArray:
		var bytes preimage
		w := hashWriter{hash: &bytes}
		if form == FormOTLPJSON {
			writeOTLP(&w, n)
		} else {
			writeJSON(&w, n)
		}
		w.flush()
		return bytes.written
	default:
		return nil
	}
}

// preimage keeps what is written to it instead of hashing it.
type preimage struct {
	hash.Hash
	written []byte
}

func (p *preimage) Write(b []byte) (int, error) {
	p.written = append(p.written, b...)
	return len(b), nil
}
