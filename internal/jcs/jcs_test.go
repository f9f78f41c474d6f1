// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package jcs

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFormIsThatOfRFC8785(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                 `{}`,
		` [ ] `:              `[]`,
		"\t\"a\"\r\n":        `"a"`,
		`[true,false ,null]`: `[true,false,null]`,
		`{"b": 1, "a" : [ {"d": "x y", "c": {} } ]}`:               `{"a":[{"c":{},"d":"x y"}],"b":1}`,
		`{"aa":1,"a":2,"":3,"a b":4}`:                              `{"":3,"a":2,"a b":4,"aa":1}`,
		`["\"\\\b\f\n\r\t"]`:                                       `["\"\\\b\f\n\r\t"]`,
		`{"ü":"Zürich","u":"日本","z":"😀"}`:                          `{"u":"日本","z":"😀","ü":"Zürich"}`,
		`[0,-1,12.50,1.0,0.000001,-0.5,0.0,123456789012345,0.100]`: `[0,-1,12.5,1,0.000001,-0.5,0,123456789012345,0.1]`,
		"\"\x7f/\u2028\"":                                          "\"\x7f/\u2028\"",
	} {
		var f Former
		form, ok := f.Append([]byte("before "), []byte(text))
		assert.True(t, ok, text)
		assert.Equal(t, "before "+want, string(form), text)
		requireSame(t, []byte(text))
	}
}

func TestWhatNeedsMoreOrIsInvalidIsLeftAlone(t *testing.T) {
	for _, text := range []string{
		``, ` `, `{`, `[`, `"`, `"a`, `"a\`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,`, `[1,]`, `[,]`, `{,}`, `{a:1}`, `{"a" 1}`,
		`1 2`, `[1]]`, `tru`, `nulL`, `truex`, `01`, `-`, `+1`, `.5`, `1.`, `-01`, `1e5`, `1E5`, `1.5e-7`, `-0`, `-0.0`, `0.0000001`,
		`1234567890123456`, `0.1234567890123456`, `1.0e1`, "\"\n\"", "\"\x00\"", "\"\xff\"", "\"\xed\xa0\x80\"", `"\u0041"`, `"\/"`, `"\x"`,
		`{"a":1,"a":2}`, `{"b":1,"a":2,"b":3}`, `{"\n":1}`, "{\"\uE000\":1}", `{"😀":1}`, "\ufeff1", `[1 2]`,
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		var f Former
		form, ok := f.Append([]byte("before"), []byte(text))
		assert.False(t, ok, text)
		assert.Equal(t, "before", string(form), text)
	}
	var f Former
	_, ok := f.Append(nil, []byte(strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth)))
	assert.True(t, ok)
}

// requireSame demands that a form is that of jsontext, which knows the standard,
// and that text has one at all.
func requireSame(t require.TestingT, text []byte) {
	var f Former
	form, ok := f.Append(nil, text)
	if !ok {
		return
	}
	want := jsontext.Value(append([]byte(nil), text...))
	require.NoError(t, want.Canonicalize(), "%q", text)
	require.Equal(t, string(want), string(form), "%q", text)
	again, ok := f.Append(nil, form)
	require.True(t, ok)
	require.Equal(t, string(form), string(again))
}

func TestEveryByteInAStringIsTreatedAsJSONTextDoes(t *testing.T) {
	for c := range 256 {
		for length := range 18 {
			for at := range length {
				b := []byte(`"` + strings.Repeat("a", length) + `"`)
				b[1+at] = byte(c)
				requireSame(t, b)
			}
		}
	}
}

func TestEveryDecimalOfFifteenDigitsKeepsItsDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.StringMatching(`-?(0|[1-9][0-9]{0,16})`).Draw(t, "whole")
		fraction := rapid.StringMatching(`(\.[0-9]{1,16})?`).Draw(t, "fraction")
		requireSame(t, []byte("["+whole+fraction+"]"))
		zeros := rapid.IntRange(0, 16).Draw(t, "zeros")
		requireSame(t, fmt.Appendf(nil, "-0.%s%s", strings.Repeat("0", zeros), rapid.StringMatching(`[0-9]{1,14}`).Draw(t, "digits")))
	})
}

func TestObjectsOfAnyOrderAreOrdered(t *testing.T) {
	names := rapid.StringOf(rapid.RuneFrom([]rune("abü日😀\ue000\\n z")))
	value := rapid.Just("1.0")
	for range 3 {
		inner := value
		value = rapid.Custom(func(t *rapid.T) string {
			var members []string
			for range rapid.IntRange(0, 6).Draw(t, "members") {
				members = append(members, fmt.Sprintf("%q: %s", names.Draw(t, "name"), inner.Draw(t, "value")))
			}
			return "{" + strings.Join(members, " , ") + "}"
		})
	}
	rapid.Check(t, func(t *rapid.T) { requireSame(t, []byte(value.Draw(t, "object"))) })
}

func TestAFormerTakesNoMemoryTheSecondTime(t *testing.T) {
	var f Former
	text := []byte(`{"b": [1, 2, {"d": "e", "c": null}], "a": "text"}`)
	form, _ := f.Append(nil, text)
	assert.Zero(t, testing.AllocsPerRun(100, func() { form, _ = f.Append(form[:0], text) }))
	assert.Positive(t, f.Size())
}

func FuzzFormIsThatOfJSONText(f *testing.F) {
	for _, seed := range []string{
		`{"b": 1.50, "a": ["x\n", true, null, {}], "ü": "😀"}`, `[-0, 1e3, 0.0000001, "\u0041"]`, `{"a":1,"a":2}`, "[\"\xff\"]", `{"a":[[[{"c":1,"b":2}]]]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { requireSame(t, text) })
}

// BenchmarkForm compares with the library.
func BenchmarkForm(b *testing.B) {
	text := []byte(`{"status": "found", "customer": {"number": 7, "name": "Marta Exempel", "since": "2019-04-01", "accounts": [` +
		strings.Repeat(`{"iban": "DE001200340000", "balance": 1204.75, "currency": "EUR", "holder": {"first": "Marta", "last": "Exempel"}}, `, 8) + `{}]}}`)
	b.Run("jcs", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		var f Former
		var form []byte
		for b.Loop() {
			form, _ = f.Append(form[:0], text)
		}
	})
	b.Run("jsontext", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		var form jsontext.Value
		for b.Loop() {
			form = append(form[:0], text...)
			_ = form.Canonicalize()
		}
	})
}
