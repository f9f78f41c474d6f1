// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/json/jsontext"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
)

// isCanonical is what an outline must say, by jsontext.
func isCanonical(line []byte) bool {
	if checkTokens(line) != nil || len(line) == 0 {
		return false
	}
	form := jsontext.Value(bytes.Clone(line))
	return form.Canonicalize() == nil && bytes.Equal(form, line)
}

var outlineSeeds = []string{
	``, `{}`, `[]`, `0`, `-0`, `-`, `-1`, `01`, `1.0`, `1e2`, `9007199254740991`, `-9007199254740991`, `9007199254740992`, `true`, `tru`, `nulll`, `""`, `"`, `"\"`,
	`{"a":1,"b":2}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a":1,"aa":2}`, `{"a":1,}`, `{"a"}`, `{,}`, `{"a":1 }`, `[1,2,]`, `[,]`, `[1 ]`, "1\n", `1 `, ` 1`,
	`"\u0000\u0007\b\t\n\u000b\f\r\u000e\u001f \"\\/` + "\x7f\u2028\U0001f600\"", `"\u0008"`, `"\u001F"`, `"\u0020"`, `"\/"`, `"\ud83d\ude00"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\ufffd\"",
	"{\"\U0001f600\":1,\"\ufb33\":2}", "{\"\ufb33\":1,\"\U0001f600\":2}", "{\"\ud7ff\":1,\"\U0001f600\":2,\"\ue000\":3}", "{\"\U0001f600\":1,\"\U0001f600a\":2,\"\U0001f601\":3}",
	`{"\t":1,"\n":2,"\r":3," ":4,"\"":5,"a":6}`, `{"!":1,"\"":2}`, `{"":1,"\u0000":2}`, `{"[":1,"\\":2,"]":3}`, `{"a":1,"a\u0001":2}`, `{"a!":1,"a\"":2}`,
	strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	strings.Repeat(`{"a":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1),
}

func TestAnOutlineTakesWhatIsCanonicalAndNothingElse(t *testing.T) {
	for _, line := range outlineSeeds {
		var o outline
		require.Equal(t, isCanonical([]byte(line)), o.read([]byte(line)), "%q", line)
	}
}

// FuzzOutline holds the one pass against two implementations of RFC 8785, in both
// directions.
func FuzzOutline(f *testing.F) {
	for _, line := range outlineSeeds {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var o outline
		taken := o.read(line)
		require.Equal(t, isCanonical(line), taken)
		if !taken {
			return
		}
		other, err := jcs.Transform(line)
		require.NoError(t, err)
		require.Equal(t, string(line), string(other))
		for i := range o.members {
			m := &o.members[i]
			require.True(t, jsontext.Value(line[m.start:m.value-1]).IsValid(), "a name")
			require.True(t, jsontext.Value(o.text(m)).IsValid(), "a value")
		}
	})
}

// FuzzRewritten takes any JSON, writes it in RFC 8785 form by the library and
// demands that an outline takes it: random bytes seldom are canonical.
func FuzzRewritten(f *testing.F) {
	for _, line := range outlineSeeds {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		form := jsontext.Value(bytes.Clone(text))
		if form.Canonicalize() != nil {
			return
		}
		var o outline
		require.Equal(t, checkTokens(form) == nil, o.read(form), "%q", form)
	})
}
