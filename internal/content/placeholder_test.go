// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"encoding/json/v2"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/readtrail/readtrail/record"
)

func TestAPlaceholderIsOneInJSONToo(t *testing.T) {
	for _, s := range []string{
		`"__REDACTED__"`, `"\u003creplaced\u003e"`, `["[REDACTED]"]`, `{"a":"<replaced>"}`, ` { "a" : [ "<replaced>" , null , {} , [] ] } `,
		`[{"role":"__REDACTED__","content":"__REDACTED__"}]`, `{"N/A":"readacted"}`, `[{"a":{"b":["[object Object]"]}}]`,
		`{"a":"\u003cREDACTED\u003e"}`, `[object Object]`, `undefined`, `null`,
	} {
		require.Equal(t, placeholder, Plain.OfString(s), s)
		require.Equal(t, placeholder, Plain.OfBytes([]byte(s)), s)
	}
}

func TestWhatMerelyContainsAPlaceholderIsContent(t *testing.T) {
	for _, s := range []string{
		`{"user":"bob","password":"[REDACTED]"}`, `{"password":"[REDACTED]","user":"bob"}`, `["__REDACTED__",0]`, `["__REDACTED__",false]`, `["__REDACTED__ "]`, `["__REDACTED__","undefined"]`,
		`{"__REDACTED__":"bob"}`, `{"__REDACTED__":null}`, `{"a":null}`, `[null]`, `[]`, `{}`, `{"a":{}}`,
		// What people write into a field themselves.
		`{"phone":"N/A"}`, `{"name":"null"}`, `{"note":""}`, `["undefined"]`, `"N/A"`, `""`, `"null"`,
		`null and void`, `undefined.`, `the value was __REDACTED__`, `a [object Object]`, `NULL`, `None`, `__REDACTED__ `,
		`["__REDACTED__"`, `{"a" "[REDACTED]"}`, `["[REDACTED]"],`, `{"a":"[REDACTED]","a":"[REDACTED]"}`,
	} {
		d := Plain.OfString(s)
		require.NotEmpty(t, d.Value, s)
		require.NotEqual(t, record.CapturedPlaceholder, d.State, s)
	}
}

func TestAValueThatALibraryCutIsTruncatedInJSONToo(t *testing.T) {
	const cut = "abc...[TRUNCATED: original length 12345]"
	for s, state := range map[string]record.Captured{
		cut:                                    record.CapturedTruncated,
		`{"output":"` + cut + `","n":1}`:       record.CapturedTruncated,
		`{"n":1,"output":["` + cut + `"]}`:     record.CapturedTruncated,
		`{"n":1e400,"output":["` + cut + `"]}`: record.CapturedTruncated,
		`{"output":"` + cut + ` and so on"}`:   record.CapturedContent,
		`{"` + cut + `":1}`:                    record.CapturedContent,
		cut + " is how a value ends":           record.CapturedContent,
	} {
		d := Plain.OfString(s)
		require.Equal(t, state, d.State, s)
		require.NotEmpty(t, d.Value)
		require.Equal(t, d, Plain.OfBytes([]byte(s)))
	}
	require.Equal(t, Plain.OfString(`{"output":"`+cut+`"}`).Value, ofRaw(Plain, `{"output":"`+cut+`"}`, "").Value, "what came is what is digested")
}

// anyJSON draws a value of which every leaf is drawn by leaf.
func anyJSON(leaf *rapid.Generator[any]) *rapid.Generator[any] {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(
			leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 1, 3), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(rapid.String(), value(depth-1), 1, 3), func(v map[string]any) any { return v }),
		)
	}
	return rapid.Map(value(3), func(v any) any { return []any{v} })
}

// inJSON are the placeholders that are one inside JSON.
var inJSON = slices.DeleteFunc(slices.Sorted(maps.Keys(placeholders)), func(p string) bool { return !placeholders[p] })

func TestJSONIsAPlaceholderIfAndOnlyIfEveryLeafIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		marks := rapid.Map(rapid.SampledFrom(inJSON), func(s string) any { return s })
		others := rapid.OneOf(
			rapid.Map(rapid.SampledFrom([]string{"", "N/A", "x", "[REDACTED] x", " <replaced>"}), func(s string) any { return s }),
			rapid.Just[any](true), rapid.Just[any](0), rapid.Map(rapid.String(), func(s string) any { return "x" + s }),
		)
		only := rapid.Bool().Draw(t, "only placeholders")
		v := anyJSON(marks).Draw(t, "value")
		if !only {
			v = []any{v, others.Draw(t, "other")}
			if rapid.Bool().Draw(t, "first") {
				slices.Reverse(v.([]any))
			}
		}
		text, err := json.Marshal(v)
		require.NoError(t, err)
		d := Plain.OfString(string(text))
		require.Equal(t, only, d.State == record.CapturedPlaceholder, string(text))
		require.Equal(t, only, d.Value == "")
	})
}

func TestTextAroundAPlaceholderIsContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(slices.Sorted(maps.Keys(placeholders))).Draw(t, "placeholder")
		s := rapid.StringMatching(`[a-z .:]{0,8}`).Draw(t, "before") + p + rapid.StringMatching(`[a-z .:]{0,8}`).Draw(t, "after")
		d := Plain.OfString(s)
		require.Equal(t, IsPlaceholder(s), d.State == record.CapturedPlaceholder, s)
	})
}

func BenchmarkLookingForPlaceholders(b *testing.B) {
	text := `{"text":"` + strings.Repeat("x", 1000) + `"}`
	b.ReportAllocs()
	for b.Loop() {
		leavesOf([]byte(text))
	}
}
