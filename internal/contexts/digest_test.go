// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/content"
)

func plain(t *testing.T, entries []Entry) content.Digest {
	t.Helper()
	d, err := EntriesDigest(content.Plain, entries)
	require.NoError(t, err)
	return d
}

const customer = `{"entry_id":"e1","object_id":"c-1","object_type":"Customer","property":"risk","side":"data","origin":{"source":"crm-eu","line":3}}`

func TestTheDigestOfEntriesCoversTheArrayOfThemWithTheirValues(t *testing.T) {
	entries := []Entry{
		{jsontext.Value(customer), jsontext.Value(`{"b": 1.0, "a": "\u00e9"}`)},
		{jsontext.Value(`{"object_id":"c-1","entry_id":"e2"}`), jsontext.Value(`null`)},
	}
	b, form, err := EntriesBytes(entries)
	require.NoError(t, err)
	assert.Equal(t, content.FormJCS, form)
	want := `[{"entry_id":"e1","object_id":"c-1","object_type":"Customer","origin":{"line":3,"source":"crm-eu"},"property":"risk","side":"data",` +
		`"value":{"a":"é","b":1}},{"entry_id":"e2","object_id":"c-1","value":null}]`
	assert.Equal(t, want, string(b))
	sum := sha256.Sum256([]byte(want))
	d := plain(t, entries)
	assert.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), d.Value)
	assert.Equal(t, int64(len(want)), d.Size)
}

func TestTheSameContextHasTheSameDigestAndOneChangedPropertyAnother(t *testing.T) {
	of := func(recorded, value string) string {
		return plain(t, []Entry{{jsontext.Value(recorded), jsontext.Value(value)}}).Value
	}
	same := of(customer, `{"a":[1,"x"]}`)
	assert.Equal(t, same, of(customer, ` { "a" : [ 1.0 , "\u0078" ] } `))
	assert.Equal(t, same, of(strings.TrimSuffix(customer, "}")+`,"value_digest":"hmac-sha256:k:00","value_canonicalization":"jcs","value_size":64}`, `{"a":[1,"x"]}`))
	seen := map[string]string{same: "same"}
	for changed, d := range map[string]string{
		"value":    of(customer, `{"a":[1,"y"]}`),
		"property": of(strings.Replace(customer, `"risk"`, `"name"`, 1), `{"a":[1,"x"]}`),
		"object":   of(strings.Replace(customer, `"c-1"`, `"c-2"`, 1), `{"a":[1,"x"]}`),
		"side":     of(strings.Replace(customer, `"data"`, `"instruction"`, 1), `{"a":[1,"x"]}`),
		"line":     of(strings.Replace(customer, `3`, `4`, 1), `{"a":[1,"x"]}`),
		"type":     of(customer, `"{\"a\":[1,\"x\"]}"`),
	} {
		assert.NotContains(t, seen, d, changed)
		seen[d] = changed
	}
}

func TestTheOrderOfEntriesIsPartOfTheContext(t *testing.T) {
	first, second := Entry{jsontext.Value(`{"entry_id":"a"}`), jsontext.Value(`1`)}, Entry{jsontext.Value(`{"entry_id":"b"}`), jsontext.Value(`2`)}
	assert.NotEqual(t, plain(t, []Entry{first, second}).Value, plain(t, []Entry{second, first}).Value)
}

func TestANumberThatRFC8785WouldChangeKeepsItsLiteral(t *testing.T) {
	seen := map[string]string{}
	for _, literal := range []string{"9007199254740993", "9007199254740992", "0.10000000000000000555", "0.1", "-0", "0", "1e400"} {
		d := plain(t, []Entry{{jsontext.Value(customer), jsontext.Value(literal)}})
		assert.NotContains(t, seen, d.Value, literal)
		seen[d.Value] = literal
		want := content.FormJSON
		if literal == "0.1" || literal == "0" || literal == "9007199254740992" {
			want = content.FormJCS
		}
		assert.Equal(t, want, d.Form, literal)
	}
}

func TestEntriesWithoutACanonicalFormHaveNoDigest(t *testing.T) {
	for name, e := range map[string]Entry{
		"no value":              {jsontext.Value(customer), nil},
		"a name twice":          {jsontext.Value(customer), jsontext.Value(`{"a":1,"a":2}`)},
		"a lone surrogate":      {jsontext.Value(customer), jsontext.Value(`"\ud800"`)},
		"text that ends early":  {jsontext.Value(customer), jsontext.Value(`{"a":`)},
		"two values":            {jsontext.Value(customer), jsontext.Value(`1 2`)},
		"a value in the record": {jsontext.Value(`{"value":1}`), jsontext.Value(`1`)},
		"an entry that is none": {jsontext.Value(`[]`), jsontext.Value(`1`)},
		"too deep":              {jsontext.Value(customer), jsontext.Value(strings.Repeat("[", 2000) + strings.Repeat("]", 2000))},
	} {
		_, err := EntriesDigest(content.Plain, []Entry{e})
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	_, err := EntriesDigest(content.Plain, nil)
	require.ErrorIs(t, err, ErrNoInput)
}

func TestTheDigestOfAModelInputIsTheSameHoweverItWasKept(t *testing.T) {
	asSent := Input{
		Messages:     Part{[]byte(`[{"content":"hi","role":"user"}]`), content.FormJCS},
		Instructions: Part{[]byte(`Answer briefly.`), content.FormBytes},
	}
	b, form, err := asSent.Bytes()
	require.NoError(t, err)
	assert.Equal(t, content.FormJCS, form)
	assert.Equal(t, `{"input_messages":[{"content":"hi","role":"user"}],"system_instructions":"Answer briefly."}`, string(b))
	want, err := asSent.Digest(content.Plain)
	require.NoError(t, err)
	for _, kept := range []string{
		`{"input_messages":[{"role":"user","content":"hi"}],"system_instructions":"Answer briefly."}`,
		`{ "system_instructions": "Answer briefly.", "input_messages": "[{\"role\": \"user\", \"content\": \"hi\"}]" }`,
	} {
		in, err := ParseInput([]byte(kept))
		require.NoError(t, err, kept)
		got, err := in.Digest(content.Plain)
		require.NoError(t, err)
		assert.Equal(t, want, got, kept)
	}
}

func TestAPartThatWasNotCapturedIsNoEmptyPart(t *testing.T) {
	one, err := ParseInput([]byte(`{"input_messages":[]}`))
	require.NoError(t, err)
	two, err := ParseInput([]byte(`{"input_messages":[],"tool_definitions":[]}`))
	require.NoError(t, err)
	first, err := one.Digest(content.Plain)
	require.NoError(t, err)
	second, err := two.Digest(content.Plain)
	require.NoError(t, err)
	assert.NotEqual(t, first.Value, second.Value)
	_, err = (&Input{}).Digest(content.Plain)
	require.ErrorIs(t, err, ErrNoInput)
}

func TestWhatIsNoModelInputIsRefusedInOneLineWithoutItsText(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{"CANARY-1":[]}`, `{"input_messages":[1,]}`, `{"input_messages":[]}x`, `{"input_messages":"Bearer CANARYabcdefghijklmnop"}`,
		`{"input_messages":[],"input_messages":[]}`, `{"input_messages":""}`,
	} {
		_, err := ParseInput([]byte(text))
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "CANARY")
		assert.NotContains(t, err.Error(), "\n")
	}
}

func TestAKeyedDigestNamesItsKeyAndHidesTheSize(t *testing.T) {
	key, err := content.NewKey("bank-2026", bytes.Repeat([]byte{7}, 32))
	require.NoError(t, err)
	d, err := EntriesDigest(key, []Entry{{jsontext.Value(customer), jsontext.Value(`"low"`)}})
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(d.Value, "hmac-sha256:bank-2026:"))
	assert.Zero(t, d.Size%64)
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(customer), []byte(`{"a":[1,2.50,"x"]}`))
	f.Add([]byte(`{"entry_id":"e","value_digest":"x"}`), []byte(`9007199254740993`))
	f.Fuzz(func(t *testing.T, recorded, value []byte) {
		b, form, err := EntriesBytes([]Entry{{recorded, value}})
		if err != nil {
			return
		}
		again := jsontext.Value(bytes.Clone(b))
		require.True(t, again.IsValid())
		if form == content.FormJCS {
			require.NoError(t, again.Canonicalize())
			require.Equal(t, string(again), string(b))
		}
	})
}

func FuzzInput(f *testing.F) {
	f.Add([]byte(`{"input_messages":[{"role":"user"}],"system_instructions":"x","tool_definitions":"[1]"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := ParseInput(text)
		if err != nil {
			return
		}
		b, _, err := in.Bytes()
		if err != nil {
			return
		}
		again, err := ParseInput(b)
		require.NoError(t, err)
		same, _, err := again.Bytes()
		require.NoError(t, err)
		require.Equal(t, string(b), string(same))
	})
}
