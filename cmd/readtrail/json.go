// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// writeJSON prints v as one indented JSON document that is safe to show.
func writeJSON(w io.Writer, v any) error {
	raw, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = w.Write(append(escapeJSON(raw), '\n'))
	return err
}

// escapeJSON spells the characters of a valid JSON text that a terminal could
// act on, or that nobody sees, as JSON escapes: the value stays the same and a hostile journal cannot
// steer the terminal. They only occur in strings; ASCII controls never occur.
func escapeJSON(raw []byte) []byte {
	if !bytes.ContainsFunc(raw, hidden) {
		return raw
	}
	out := make([]byte, 0, len(raw)+64)
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case !hidden(r):
			out = append(out, raw[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		raw = raw[size:]
	}
	return out
}

func hidden(r rune) bool { return r >= 0x7f && !isVisible(r) }
