// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func sum(s []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(s)) }

func digestOf(t require.TestingT, x any) content.Digest {
	return content.Plain.OfNode(Node(pdata(t, x)))
}

func TestStructuredValuesHaveTheFormThatContract2Names(t *testing.T) {
	for name, c := range map[string]struct {
		in       any
		form     content.Form
		digested string
	}{
		"a map in UTF-16 order":          {object{{"\uFB33", int64(1)}, {"😀", 0.5}, {"a", nil}}, content.FormJCS, `{"a":null,"😀":0.5,"` + "\uFB33" + `":1}`},
		"an array":                       {[]any{"<\u2028\x01\"", true, false, 1e21, int64(-3)}, content.FormJCS, "[\"<\u2028\\u0001\\\"\",true,false,1e+21,-3]"},
		"an empty map":                   {object{}, content.FormJCS, "{}"},
		"an integer beyond 2^53":         {object{{"n", int64(9007199254740993)}}, content.FormJSON, `{"n":9007199254740993}`},
		"negative zero":                  {[]any{math.Copysign(0, -1)}, content.FormJSON, "[-0]"},
		"bytes":                          {object{{"b", []byte("\xff")}, {"", int64(1)}, {"a", object{}}}, content.FormOTLPJSON, `{"kvlistValue":{"values":[{"key":"b","value":{"bytesValue":"/w=="}},{"value":{"intValue":"1"}},{"key":"a","value":{"kvlistValue":{}}}]}}`},
		"not a number":                   {[]any{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.5, nil, []any{}}, content.FormOTLPJSON, `{"arrayValue":{"values":[{"doubleValue":"NaN"},{"doubleValue":"Infinity"},{"doubleValue":"-Infinity"},{"doubleValue":"-0"},{"doubleValue":0.5},{},{"arrayValue":{}}]}}`},
		"a repeated name":                {object{{"a", true}, {"a", "x"}}, content.FormOTLPJSON, `{"kvlistValue":{"values":[{"key":"a","value":{"boolValue":true}},{"key":"a","value":{"stringValue":"x"}}]}}`},
		"a string that is no UTF-8":      {[]any{"\xff"}, content.FormOTLPJSON, `{"arrayValue":{"values":[{"invalidUtf8Value":"/w=="}]}}`},
		"a name that is no UTF-8":        {object{{"\xff", "a"}}, content.FormOTLPJSON, `{"kvlistValue":{"values":[{"invalidUtf8Key":"/w==","value":{"stringValue":"a"}}]}}`},
		"a scalar string is text":        {"{\"a\": 1}", content.FormJCS, `{"a":1}`},
		"a scalar integer is its digits": {int64(math.MinInt64), content.FormBytes, "-9223372036854775808"},
		"a scalar double":                {1e-7, content.FormBytes, "1e-7"},
		"a scalar NaN":                   {math.NaN(), content.FormBytes, "NaN"},
		"a scalar bool":                  {true, content.FormBytes, "true"},
		"scalar bytes are never JSON":    {[]byte("{\"a\": 1}"), content.FormBytes, "{\"a\": 1}"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, content.Digest{Value: sum([]byte(c.digested)), Form: c.form, Size: int64(len(c.digested)), State: record.CapturedContent}, digestOf(t, c.in))
		})
	}
	assert.Equal(t, content.Digest{State: record.CapturedNothing}, digestOf(t, nil))
	assert.Equal(t, content.Digest{State: record.CapturedPlaceholder}, digestOf(t, "[REDACTED]"))
	assert.Equal(t, content.Digest{State: record.CapturedPlaceholder}, content.Plain.EmptyAsPlaceholder(digestOf(t, object{})))
}

func TestTheExamplesOfTheDocumentationAreTrue(t *testing.T) {
	page, err := os.ReadFile("../../docs/content.md")
	require.NoError(t, err)
	for in, form := range map[any]content.Form{
		"{ \"limit\": 1e3, \"customer_id\": \"KYC-000123\" }":          content.FormJCS,
		&object{{"limit", int64(1000)}, {"customer_id", "KYC-000123"}}: content.FormJCS,
		&object{{"account", int64(9007199254740993)}}:                  content.FormJSON,
		&object{{"scan", []byte("\xff")}}:                              content.FormOTLPJSON,
		"medium risk":                                                  content.FormBytes,
	} {
		if o, ok := in.(*object); ok {
			in = *o
		}
		d := digestOf(t, in)
		assert.Equal(t, form, d.Form)
		assert.Contains(t, string(page), d.Value)
		assert.Contains(t, string(page), fmt.Sprintf("(%d, `%s`)", d.Size, d.Form))
	}
}

func TestTheSameValueAsStructureAndAsTextHasOneDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawObject(t, false, 3)
		structured, text := digestOf(t, x), digestOf(t, jsonText(x))
		if structured.Form == content.FormJCS {
			require.Equal(t, structured, text)
			canonical, err := jcs.Transform([]byte(jsonText(x)))
			require.NoError(t, err)
			require.Equal(t, sum(canonical), structured.Value)
			return
		}
		require.Equal(t, content.FormJSON, structured.Form)
		require.Equal(t, content.FormBytes, text.Form)
	})
}

func TestValuesShareADigestOnlyIfTheyMeanTheSame(t *testing.T) {
	seen := map[content.Digest]string{}
	meanings := map[string]content.Digest{}
	rapid.Check(t, func(t *rapid.T) {
		x := draw(t, true, 2)
		if _, ok := x.(object); !ok {
			x = []any{x}
		}
		d, means := digestOf(t, x), meaning(x)
		if other, ok := seen[d]; ok {
			require.Equal(t, other, means)
		}
		if other, ok := meanings[means]; ok {
			require.Equal(t, other, d)
		}
		seen[d], meanings[means] = means, d
	})
	require.Less(t, 10, len(seen))
}

func TestOTLPJSONIsWhatPdataEncodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := append(drawObject(t, true, 2), keyed{"bytes", []byte("x")})
		if hasNoOTLPJSON(x) {
			t.Skip("OTLP/JSON or RFC 8785 loses this value")
		}
		d := digestOf(t, x)
		require.Equal(t, content.FormOTLPJSON, d.Form)
		logs := plog.NewLogs()
		pdata(t, x).CopyTo(logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body())
		encoded, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
		require.NoError(t, err)
		var envelope struct {
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []struct{ Body json.RawMessage }
				}
			}
		}
		require.NoError(t, json.Unmarshal(encoded, &envelope))
		canonical, err := jcs.Transform(envelope.ResourceLogs[0].ScopeLogs[0].LogRecords[0].Body)
		require.NoError(t, err)
		require.Equal(t, sum(canonical), d.Value)
	})
}

func hasNoOTLPJSON(x any) bool {
	means := spellMeaning(x, false)
	return strings.Contains(means, "-0") || strings.Contains(means, "\\x")
}

func TestHostileStructuresAreDigested(t *testing.T) {
	deep := func(depth int) content.Digest {
		root := pcommon.NewValueEmpty()
		v := root
		for i := range depth {
			if i%2 == 0 {
				v = v.SetEmptySlice().AppendEmpty()
			} else {
				v = v.SetEmptyMap().PutEmpty("k")
			}
		}
		return content.Plain.OfNode(Node(root))
	}
	require.Equal(t, content.FormJCS, deep(content.MaxJSONDepth).Form)
	require.Equal(t, content.FormJSON, deep(content.MaxJSONDepth+1).Form)
	require.Equal(t, content.FormJSON, deep(10_000).Form)
	require.Equal(t, content.FormJSON, deep(1_000_000).Form)

	big := []any{strings.Repeat("x", 10_000_000)}
	want := sum([]byte(`["` + strings.Repeat("x", 10_000_000) + `"]`))
	require.Equal(t, content.Digest{Value: want, Form: content.FormJSON, Size: 10_000_004, State: record.CapturedContent}, digestOf(t, big))

	wide := make([]any, 100_000)
	require.Equal(t, content.FormJCS, digestOf(t, wide).Form)
}

func TestTheCacheDigestsOnceAndNeverMixesValuesUp(t *testing.T) {
	m := pcommon.NewMap()
	m.PutStr("a", strings.Repeat("x", 10_000))
	m.PutEmptySlice("b").AppendEmpty().SetInt(1)
	var cache Cache
	for range 2 {
		for _, v := range m.All() {
			require.Equal(t, content.Plain.OfNode(Node(v)), cache.Digest(v))
			require.Equal(t, content.Plain.OfNode(Node(v)), (*Cache)(nil).Digest(v))
		}
	}
	v, _ := m.Get("a")
	m.PutEmptyMap("c").PutInt("x", 1)
	m.PutEmptyMap("d").PutInt("x", 2)
	moved, _ := m.Get("d")
	cache.Digest(moved)
	gone, _ := m.Get("c")
	cache.Digest(gone)
	m.Remove("c") // another attribute may take its place
	moved, _ = m.Get("d")
	require.Equal(t, content.Plain.OfString(`{"x":2}`), cache.Digest(moved))
	v, _ = m.Get("a")
	require.Zero(t, testing.AllocsPerRun(100, func() { cache.Digest(v) }))
	v.SetStr("other")
	require.Equal(t, content.Plain.OfString("other"), cache.Digest(v))
	list, _ := m.Get("b")
	list.SetStr("x")
	require.Equal(t, content.Plain.OfString("x"), cache.Digest(list))
	cache.Reset()
	(*Cache)(nil).Reset()
	require.Equal(t, 0, len(cache.strings)+len(cache.maps)+len(cache.slices))
}

func TestTheCacheMakesNoDigestWithAKeyThatIsNoLongerUsed(t *testing.T) {
	first, err := content.NewKey("first", make([]byte, 32))
	require.NoError(t, err)
	second, err := content.NewKey("second", make([]byte, 32))
	require.NoError(t, err)
	m := pcommon.NewMap()
	m.PutStr("a", "x")
	m.PutEmptySlice("b").AppendEmpty().SetInt(1)
	m.PutEmptyMap("c").PutInt("x", 1)
	m.PutInt("d", 7)
	var cache Cache
	require.Nil(t, cache.Key())
	require.Nil(t, (*Cache)(nil).Key())
	for _, k := range []*content.Key{first, second, content.Plain, first} {
		cache.Use(k)
		require.Same(t, k, cache.Key())
		for range 2 {
			for _, v := range m.All() {
				require.Equal(t, k.OfNode(Node(v)), cache.Digest(v))
			}
		}
		cache.Reset()
		require.Same(t, k, cache.Key(), "an item without a key of its own is never plain by accident")
	}
}

func TestThePreimageOfAStructureIsWhatWasDigested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := pdata(t, draw(t, rapid.Bool().Draw(t, "strange"), 4))
		d := content.Plain.OfNode(Node(v))
		if d.Value == "" {
			return
		}
		preimage := content.PreimageOfNode(Node(v), d.Form)
		require.Equal(t, d.Value, sum(preimage))
		require.Equal(t, d.Size, int64(len(preimage)))
	})
	require.Nil(t, content.PreimageOfNode(Node(pcommon.NewValueEmpty()), content.FormBytes))
}

func TestOnlyValuesOfTheShapeMatch(t *testing.T) {
	number, names := content.ShapeNumber, content.ShapeName.List()
	for _, x := range []any{nil, int64(1), 0.5, "1e3", ""} {
		assert.True(t, Matches(number, pdata(t, x)), x)
	}
	for _, x := range []any{math.NaN(), math.Inf(1), true, "x", []byte("1"), []any{int64(1)}, object{}} {
		assert.False(t, Matches(number, pdata(t, x)), x)
	}
	for _, x := range []any{"stop", []any{"stop", "tool calls"}, []any{}, "N/A"} {
		assert.True(t, Matches(names, pdata(t, x)), x)
	}
	for _, x := range []any{
		[]any{"stop", "no, sir"},
		[]any{[]any{"stop"}},
		object{},
		make([]any, 200), "sk-abcdefghijklmnopqrstuvwx",
		[]any{"stop", "sk-abcdefghijklmnopqrstuvwx"},
		`["sk-abcdefghijklmnopqrstuvwx"]`, "https://h/token=S",
	} {
		assert.False(t, Matches(names, pdata(t, x)), x)
	}
}

func TestCredentialsAreFoundInEveryKindOfValue(t *testing.T) {
	const token = "Bearer 0123456789abcdef"
	for name, c := range map[string]struct {
		in                     any
		looks, givesAway, held bool
	}{
		"a text":                      {token, true, true, true},
		"bytes":                       {[]byte(token), true, true, true},
		"a list":                      {[]any{"x", token}, true, true, true},
		"a list in a map":             {object{{"a", []any{object{{"b", token}}}}}, false, true, true},
		"a name in a map":             {object{{"a", object{{"accessToken", "S"}}}}, false, true, true},
		"a name of a parameter":       {object{{"key", "S"}}, false, false, true},
		"a name of a list":            {object{{"password", []any{"S"}}}, false, true, true},
		"a name without a secret":     {object{{"password", true}, {"secret", nil}, {"api_key", ""}}, false, false, false},
		"a URL":                       {"https://u:p@h/", false, true, true},
		"words of a command line":     {[]any{"tool", "--password", "S"}, false, false, true},
		"an environment of a command": {[]any{"env", "PGPASSWORD=S", "psql"}, false, true, true},
		"a command line in JSON":      {`["psql","--password","S"]`, false, false, true},
		"bytes that are too many":     {make([]byte, content.MaxSearched+1), false, false, true},
		"a text without one":          {"lookup_customer", false, false, false},
		"a number":                    {int64(7), false, false, false},
		"a structure without one":     {object{{"a", []any{"x", 1.5, []byte("y")}}}, false, false, false},
	} {
		v := pdata(t, c.in)
		assert.Equal(t, c.looks, LooksLikeCredential(v), name)
		assert.Equal(t, c.givesAway, GivesAwayCredential(v), name)
		assert.Equal(t, c.held, HoldsCredential(v), name)
	}
	deep := pcommon.NewValueStr(token)
	for range 100 {
		outer := pcommon.NewValueSlice()
		deep.MoveTo(outer.Slice().AppendEmpty())
		deep = outer
	}
	assert.False(t, GivesAwayCredential(deep), "what is too deep is not looked at")
	assert.True(t, HoldsCredential(deep), "what can't be searched may hold one")
}
