// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"encoding/json/jsontext"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// requireLibrary compares what canonicalize makes of a text with what the library
// does.
func requireLibrary(t require.TestingT, text []byte) {
	if depth, _ := scan(text); depth > MaxJSONDepth {
		return
	}
	want, got := jsontext.Value(text).Clone(), jsontext.Value(text).Clone()
	wantErr, gotErr := want.Canonicalize(), canonicalize(&got)
	require.Equal(t, wantErr, gotErr)
	require.Equal(t, string(want), string(got))
}

func TestTheCanonicalFormIsThatOfTheLibrary(t *testing.T) {
	names := rapid.OneOf(
		rapid.SampledFrom([]string{`""`, `"a"`, `"ab"`, `"b"`, `"\u0061c"`, `"\n"`, `"\u000a!"`, `"\\"`, `"\""`, `"😀"`, `"` + "\ufb33" + `"`, `"\ud83d\ude00x"`, `"é"`, `"[{,:}]"`}),
		rapid.Custom(func(t *rapid.T) string {
			quoted, err := jsontext.AppendQuote(nil, rapid.String().Draw(t, "name"))
			if err != nil {
				return `"\ufffd"`
			}
			return string(quoted)
		}),
	)
	var draw func(t *rapid.T, depth int) string
	draw = func(t *rapid.T, depth int) string {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		blank := rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "blank")
		list := func(open, closing string, element func() string) string {
			var elements []string
			for range rapid.IntRange(0, 5).Draw(t, "length") {
				elements = append(elements, element())
			}
			return open + blank + strings.Join(elements, blank+",") + blank + closing
		}
		switch rapid.IntRange(1, kinds).Draw(t, "kind") {
		case 1, 2:
			return names.Draw(t, "text")
		case 3:
			return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
		case 4:
			return rapid.SampledFrom([]string{"0", "-0", "1e3", "12.50", "9007199254740993", "1E400", "-1.5e-7"}).Draw(t, "number")
		case 5:
			return list("[", "]", func() string { return draw(t, depth-1) })
		default:
			return list("{", "}", func() string { return names.Draw(t, "name") + blank + ":" + blank + draw(t, depth-1) })
		}
	}
	rapid.Check(t, func(t *rapid.T) { requireLibrary(t, []byte(draw(t, 4))) })
}

func FuzzTheCanonicalFormIsThatOfTheLibrary(f *testing.F) {
	for _, text := range []string{
		`{"b":{"d":1,"c":[{"z":0,"y":{}}]},"a":[]}`, `{"😀":1,"` + "\ufb33" + `":2}`, `{"\u0062":1,"a\"":2,"a":3}`, `{"a":1,"\u0061":2}`, ` [1.0, -0] `, `{"a":`, ``, `"x"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { requireLibrary(t, text) })
}
