// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"hash"
	"math"
	"strconv"

	"github.com/readtrail/readtrail/record"
)

// hashWriter spells JSON straight into a hash, so that a large structure is
// never held a second time.
type hashWriter struct {
	hash hash.Hash
	size int64
	buf  [1024]byte
	n    int
}

func (w *hashWriter) flush() {
	w.hash.Write(w.buf[:w.n])
	w.n = 0
}

func (w *hashWriter) byte(c byte) {
	if w.n == len(w.buf) {
		w.flush()
	}
	w.buf[w.n] = c
	w.n++
	w.size++
}

func (w *hashWriter) bytes(b []byte)  { write(w, b) }
func (w *hashWriter) string(s string) { write(w, s) }

func write[T text](w *hashWriter, t T) {
	w.size += int64(len(t))
	for len(t) > 0 {
		if w.n == len(w.buf) {
			w.flush()
		}
		n := copy(w.buf[w.n:], t)
		w.n += n
		t = t[n:]
	}
}

// quoted spells valid UTF-8 as a JSON string as RFC 8785 3.2.2.2 does: the
// two-character escapes, lowercase \u00xx for other controls, nothing else.
func (w *hashWriter) quoted(s string) {
	w.byte('"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		w.string(s[start:i])
		start = i + 1
		w.escape(c)
	}
	w.string(s[start:])
	w.byte('"')
}

func (w *hashWriter) escape(c byte) {
	const hexDigits = "0123456789abcdef"
	w.byte('\\')
	switch c {
	case '"', '\\':
		w.byte(c)
	case '\b':
		w.byte('b')
	case '\t':
		w.byte('t')
	case '\n':
		w.byte('n')
	case '\f':
		w.byte('f')
	case '\r':
		w.byte('r')
	default:
		w.string("u00")
		w.byte(hexDigits[c>>4])
		w.byte(hexDigits[c&15])
	}
}

// end ends the writing and returns the digest of what was written.
func (w *hashWriter) end(k *Key, form Form, state record.Captured) Digest {
	w.flush()
	return k.end(w.hash, w.buf[:], form, w.size, state)
}

// appendScalar spells a number, bool or null as JSON does, numbers exactly;
// what is no JSON number as OTLP/JSON does (NaN, Infinity, -Infinity).
func appendScalar(dst []byte, n Node) []byte {
	switch n.Kind() {
	case KindInt:
		return strconv.AppendInt(dst, n.Int(), 10)
	case KindDouble:
		switch d := n.Double(); {
		case math.IsNaN(d):
			return append(dst, "NaN"...)
		case math.IsInf(d, 1):
			return append(dst, "Infinity"...)
		case math.IsInf(d, -1):
			return append(dst, "-Infinity"...)
		default:
			return appendDouble(dst, d)
		}
	case KindBool:
		return strconv.AppendBool(dst, n.Bool())
	default:
		return append(dst, "null"...)
	}
}
