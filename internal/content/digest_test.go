// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func sum(s string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s))) }

func TestTextIsDigestedInTheFormThatContract2Names(t *testing.T) {
	for name, c := range map[string]struct {
		in, digested string
		form         Form
		state        record.Captured
	}{
		"an object is canonical":                     {"{\"b\": 1.0, \"a\": [1e2, \"\\u00e9\"]}", "{\"a\":[100,\"é\"],\"b\":1}", FormJCS, ""},
		"JSON white space around it is nothing":      {" \r\n\t[1]\n", "[1]", FormJCS, ""},
		"names are in UTF-16 order":                  {"{\"\uFB33\":1,\"😀\":2}", "{\"😀\":2,\"\uFB33\":1}", FormJCS, ""},
		"an empty object is content":                 {"{}", "{}", FormJCS, ""},
		"an escaped surrogate pair is one character": {"[\"\\ud83d\\ude00\"]", "[\"😀\"]", FormJCS, ""},
		"0.1 survives":                               {"[0.1]", "[0.1]", FormJCS, ""},
		"text":                                       {"Marta Exempel", "Marta Exempel", FormBytes, ""},
		"a scalar of JSON is text":                   {"1.0", "1.0", FormBytes, ""},
		"a quoted string of JSON is text":            {"\"x\"", "\"x\"", FormBytes, ""},
		"a byte order mark is no white space":        {"\uFEFF[1]", "\uFEFF[1]", FormBytes, ""},
		"no-break space is no white space":           {"\u00a0[1]", "\u00a0[1]", FormBytes, ""},
		"a repeated name":                            {"{\"a\":1,\"a\":1}", "{\"a\":1,\"a\":1}", FormBytes, ""},
		"a repeated name in another spelling":        {"{\"a\":1,\"\\u0061\":1}", "{\"a\":1,\"\\u0061\":1}", FormBytes, ""},
		"a lone surrogate":                           {"[\"\\ud800\"]", "[\"\\ud800\"]", FormBytes, ""},
		"invalid UTF-8":                              {"[\"\xff\"]", "[\"\xff\"]", FormBytes, ""},
		"an integer beyond 2^53":                     {"[9007199254740993]", "[9007199254740993]", FormBytes, ""},
		"a number beyond a double":                   {"[1e400]", "[1e400]", FormBytes, ""},
		"a number below a double":                    {"[1e-400]", "[1e-400]", FormBytes, ""},
		"negative zero":                              {"[-0]", "[-0]", FormBytes, ""},
		"more digits than a double has":              {"[0.10000000000000000555]", "[0.10000000000000000555]", FormBytes, ""},
		"two values":                                 {"[1] [2]", "[1] [2]", FormBytes, ""},
		"nesting of 1000":                            {nested(1000), nested(1000), FormJCS, ""},
		"nesting of 1001":                            {nested(1001), nested(1001), FormBytes, ""},
		"nesting of 10000":                           {nested(10000), nested(10000), FormBytes, ""},
		"an object cut off in a string":              {"{\"a\":\"Mar", "{\"a\":\"Mar", FormBytes, record.CapturedTruncated},
		"an array cut off in a rune":                 {"[\"a\xe2\x82", "[\"a\xe2\x82", FormBytes, record.CapturedTruncated},
		"an array cut off in an escape":              {"[\"a\\u00", "[\"a\\u00", FormBytes, record.CapturedTruncated},
		"an array cut off after a comma":             {"[1,", "[1,", FormBytes, record.CapturedTruncated},
		"an object cut off in a literal":             {"{\"a\":tr", "{\"a\":tr", FormBytes, record.CapturedTruncated},
		"text that begins as an array does":          {"[see above] and so on", "[see above] and so on", FormBytes, ""},
		"text that Gemini CLI says it cut":           {"{\"a\":...[TRUNCATED: original length 12345]", "{\"a\":...[TRUNCATED: original length 12345]", FormBytes, record.CapturedTruncated},
		"the words alone without a number":           {"...[TRUNCATED: original length ]", "...[TRUNCATED: original length ]", FormBytes, ""},
		"a placeholder in other case":                {"[redacted]", "[redacted]", FormBytes, ""},
		"a placeholder among other text":             {"[REDACTED] x", "[REDACTED] x", FormBytes, ""},
		"a placeholder as one element":               {"[\"[REDACTED]\"]", "[\"[REDACTED]\"]", FormJCS, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.state == "" {
				c.state = record.CapturedContent
			}
			want := Digest{sum(c.digested), c.form, int64(len(c.digested)), c.state}
			require.Equal(t, want, Plain.OfString(c.in))
			require.Equal(t, want, Plain.OfBytes([]byte(c.in)))
			got, err := Plain.OfReader(iotest.OneByteReader(strings.NewReader(c.in)))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestPlaceholdersAreNotDigested(t *testing.T) {
	for p := range placeholders {
		require.Equal(t, placeholder, Plain.OfString(p), p)
		require.LessOrEqual(t, len(p), maxPlaceholder)
	}
	require.Equal(t, placeholder, Plain.EmptyAsPlaceholder(Plain.OfString("{}")))
	require.Equal(t, placeholder, Plain.EmptyAsPlaceholder(Plain.OfString(" [ ] ")))
	require.Equal(t, Plain.OfString("[0]"), Plain.EmptyAsPlaceholder(Plain.OfString("[0]")))
}

func TestABareCredentialHasNoDigest(t *testing.T) {
	require.Equal(t, placeholder, Plain.OfString("ghp_0123456789abcdefABCDEF0123"))
	require.Equal(t, placeholder, Plain.OfBytes([]byte("\"Bearer 0123456789abcdef\"\n")))
	require.Equal(t, placeholder, Plain.OfRaw([]byte("Bearer 0123456789abcdef")))
	require.Equal(t, FormJCS, Plain.OfString(`{"token":"ghp_0123456789abcdefABCDEF0123"}`).Form)
}

func TestLargeValuesStream(t *testing.T) {
	largest := "[\"" + strings.Repeat("x", MaxJSONBytes-4) + "\"]"
	for name, c := range map[string]struct {
		in   string
		form Form
		want record.Captured
	}{
		"4 MiB of JSON is JSON":           {largest, FormJCS, record.CapturedContent},
		"one byte more is bytes":          {" " + largest, FormBytes, record.CapturedContent},
		"10 MB that a library cut":        {strings.Repeat("x", 10_000_000) + "...[TRUNCATED: original length 1]", FormBytes, record.CapturedTruncated},
		"10 MB that open 10,000,000 deep": {strings.Repeat("[", 10_000_000), FormBytes, record.CapturedContent},
	} {
		t.Run(name, func(t *testing.T) {
			want := Digest{sum(c.in), c.form, int64(len(c.in)), c.want}
			require.Equal(t, want, Plain.OfString(c.in))
			got, err := Plain.OfReader(iotest.HalfReader(strings.NewReader(c.in)))
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestAnErrorOfTheReaderIsReturned(t *testing.T) {
	broken := iotest.ErrReader(io.ErrClosedPipe)
	_, err := Plain.OfReader(broken)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = Plain.OfReader(io.MultiReader(bytes.NewReader(make([]byte, MaxJSONBytes+10)), broken))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func FuzzOfBytes(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\"a\":[1,2.5e3,-0.1,null,true,\"\\ud83d\\ude00\"]}", "[1e400]", "[\"", "{\"a\":1,\"a\":2}", "\xff", "[\"\xff\"]", "N/A",
		"...[TRUNCATED: original length 5]", "[[[[", "[-0.0e5]", "[123456789012345678901234567890]", "[\"\\ud800\"]", "[4.9e-324,1.7976931348623157e308]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		d := Plain.OfBytes(in)
		require.Equal(t, d, Plain.OfString(string(in)))
		fromReader, err := Plain.OfReader(bytes.NewReader(in))
		require.NoError(t, err)
		require.Equal(t, d, fromReader)
		switch {
		case d.State == record.CapturedPlaceholder:
			require.Empty(t, d.Value)
		case d.Form == FormBytes:
			require.Equal(t, sum(string(in)), d.Value)
		default:
			canonical, err := jcs.Transform(in)
			require.NoError(t, err)
			require.Equal(t, sum(string(canonical)), d.Value)
			require.Equal(t, d, Plain.OfBytes(canonical))
		}
	})
}

func BenchmarkOfStringJSON(b *testing.B) {
	in := "{\"customer_id\":\"KYC-000123\",\"name\":\"Marta Exempel\",\"risk\":{\"score\":0.25,\"class\":\"medium\"},\"accounts\":[1,2,3]}"
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		Plain.OfString(in)
	}
}
