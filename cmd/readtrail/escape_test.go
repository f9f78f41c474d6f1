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
	in := "{\"a\u009b\":\"\u202e\U000e0001 ü \\u001b\"}"
	out := escapeJSON([]byte(in))
	require.Equal(t, `{"a\u009b":"\u202e\udb40\udc01 ü \u001b"}`, string(out))
	want, got := jsontext.Value(in), jsontext.Value(out)
	require.NoError(t, want.Canonicalize())
	require.NoError(t, got.Canonicalize())
	require.Equal(t, want, got)
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[2J\\\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range escape(s) {
			require.True(t, unicode.IsPrint(r))
		}
	})
}
