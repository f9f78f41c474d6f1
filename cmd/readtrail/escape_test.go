// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json/jsontext"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestEscapedTextCannotSteerATerminal(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text stays":                     {"crm.customer.get", "crm.customer.get"},
		"letters of any script stay":           {"Kundenübersicht 顧客", "Kundenübersicht 顧客"},
		"an escape sequence is shown":          {"a\x1b[2Jb", `a\u{1b}[2Jb`},
		"an eight-bit control is shown":        {"a\u009b2J", `a\u{9b}2J`},
		"a line break cannot forge a line":     {"x\nchain: valid", `x\u{a}chain: valid`},
		"a direction override is shown":        {"a\u202eb", `a\u{202e}b`},
		"a zero-width space is shown":          {"a\u200bb", `a\u{200b}b`},
		"a Hangul filler is shown":             {"a\u3164b\u115fc\uffa0", `a\u{3164}b\u{115f}c\u{ffa0}`},
		"an empty braille cell is shown":       {"a\u2800b", `a\u{2800}b`},
		"a variation selector is shown":        {"a\ufe0fb\U000e0100", `a\u{fe0f}b\u{e0100}`},
		"a grapheme joiner is shown":           {"a\u034fb", `a\u{34f}b`},
		"a blank note is shown":                {"a\U0001d159b\U00016fe4", `a\u{1d159}b\u{16fe4}`},
		"an accent and a symbol stay":          {"e\u0301 ✓ 😀", "e\u0301 ✓ 😀"},
		"invalid UTF-8 is shown":               {"a\xff\x9b", `a\xff\x9b`},
		"an escape of ours cannot be imitated": {`\u{1b}`, `\\u{1b}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, escape(c.in))
		})
	}
}

func TestACellCannotForgeAColumn(t *testing.T) {
	require.Equal(t, `x\x20\x20ok\x20\x20crm@v1`, escapeCell("x  ok  crm@v1"))
}

func TestEscapedJSONKeepsItsValueAndCannotSteerATerminal(t *testing.T) {
	in := "{\"a\u009b\":\"\u202e\u3164\U000e0001 ü \\u001b\"}"
	out := escapeJSON([]byte(in))
	require.Equal(t, `{"a\u009b":"\u202e\u3164\udb40\udc01 ü \u001b"}`, string(out))
	want, got := jsontext.Value(in), jsontext.Value(out)
	require.NoError(t, want.Canonicalize())
	require.NoError(t, got.Canonicalize())
	require.Equal(t, want, got)
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[2J\\\u202e\xff")
	f.Add("\u3164\u2800\ufe0f\u034f")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range escape(s) {
			require.True(t, unicode.IsPrint(r))
			require.False(t, unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
		}
	})
}
