// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// testKey is a key of tests, whose secret repeats the first letter of its id.
func testKey(t testing.TB, id string) *content.Key {
	t.Helper()
	k, err := content.NewKey(id, []byte(strings.Repeat(id[:1], 32)))
	require.NoError(t, err)
	return k
}

// keyFile is the configuration of the same key.
func keyFile(t testing.TB, id string) DigestKey {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id[:1], 32)))
	require.NoError(t, os.WriteFile(name, []byte(text+"\n"), 0o600))
	return DigestKey{Key: KeySource{File: name}, KeyID: id}
}

func keyedLifter(t testing.TB, d DigestConfig, sources ...SourceRule) *Lifter {
	t.Helper()
	l, err := New(Options{Digest: d, Sources: sources, Profile: testProfile})
	require.NoError(t, err)
	return l
}

var toolAttributes = map[string]any{
	operation: "execute_tool", "gen_ai.tool.name": "crm.get",
	"gen_ai.tool.call.arguments": `{"id":"KYC-000123"}`, "gen_ai.tool.call.result": "medium risk",
}

func TestTheKeyIsThatOfTheSourceElseOfTheRouteElseOfTheOrganization(t *testing.T) {
	l := keyedLifter(t,
		DigestConfig{DigestKey: keyFile(t, "bank"), Routes: []DigestRoute{
			{Attribute: "service.namespace", Value: "treasury", DigestKey: keyFile(t, "treasury")},
			{Attribute: "tenant", Value: "eu", DigestKey: keyFile(t, "eu")},
		}},
		SourceRule{Match: SourceMatch{Tool: "crm.*"}, Digest: keyFile(t, "crm")},
		SourceRule{Match: SourceMatch{Tool: "txn.*"}, System: "txn"},
		SourceRule{Match: SourceMatch{Index: "Policy *"}, Digest: keyFile(t, "policies")},
	)
	for _, c := range []struct {
		tool      string
		resource  map[string]any
		item, own string
	}{
		{"crm.get", nil, "crm", "bank"},
		{"txn.get", nil, "bank", "bank"},
		{"other", map[string]any{"service.namespace": "treasury"}, "treasury", "treasury"},
		{"other", map[string]any{"service.namespace": "Treasury", "tenant": "eu"}, "eu", "eu"},
		{"other", map[string]any{"service.namespace": "treasury", "tenant": "eu"}, "treasury", "treasury"},
		{"other", map[string]any{"service.namespace": []any{"treasury"}}, "bank", "bank"},
		{"crm.get", map[string]any{"tenant": "eu"}, "crm", "eu"},
	} {
		in := testSpan{attrs: toolAttributes}.input(t)
		in.Span.Attributes().PutStr("gen_ai.tool.name", c.tool)
		in.Span.SetName("about Marta Exempel")
		require.NoError(t, in.Resource.Attributes().FromRaw(c.resource))
		in.Cache.Use(testKey(t, "left-over"))
		o := l.Span(in)
		k := testKey(t, c.item)
		assert.Equal(t, k.OfString(`{"id":"KYC-000123"}`).Value, o.Read.Request.ArgumentsDigest)
		assert.Equal(t, k.OfString("medium risk").Value, o.Read.Response.ResultDigest)
		assert.EqualValues(t, 64, o.Read.Response.ResultSize)
		assert.Equal(t, k.Sum("about Marta Exempel"), o.Skeleton.NameDigest)
		assert.Equal(t, c.item, in.Cache.Key().ID(), "what is stripped of the item has the same key")
		assert.Equal(t, c.own, l.Key(in.Resource).ID())
		draft(t, o)
		lineage(t, o)
	}
	// The names by which a rule is found are digested with its key already.
	o := l.Span(testSpan{attrs: map[string]any{
		operation: "retrieval", "gen_ai.data_source.id": "Policy Manual EU", "gen_ai.retrieval.query.text": "what",
		"gen_ai.retrieval.documents": `[{"id":"doc 1.pdf","content":"first"}]`,
	}}.input(t))
	k := testKey(t, "policies")
	assert.Equal(t, k.Sum("Policy Manual EU"), o.Read.Retrieval.IndexID)
	assert.Equal(t, k.Sum("doc 1.pdf"), o.Read.Retrieval.Chunks[0].ID)
	assert.Equal(t, k.Sum("first"), o.Read.Retrieval.Chunks[0].ContentDigest)
	assert.Equal(t, k.Sum("what"), o.Read.Retrieval.QueryDigest)
	// A rule is about reads; what else matches it has the organization's key.
	in := testSpan{name: "free text", scope: "crm.x", attrs: map[string]any{operation: "chat", "gen_ai.tool.name": "crm.get"}}.input(t)
	assert.Equal(t, testKey(t, "bank").Sum("free text"), l.Span(in).Skeleton.NameDigest)
}

func TestWithoutAKeyOfTheOrganizationOnlyTheSourceIsKeyed(t *testing.T) {
	l := keyedLifter(t, DigestConfig{}, SourceRule{Match: SourceMatch{Tool: "crm.*"}, Digest: keyFile(t, "crm")})
	in := testSpan{attrs: toolAttributes}.input(t)
	assert.Equal(t, testKey(t, "crm").Sum("medium risk"), l.Span(in).Read.Response.ResultDigest)
	in.Span.Attributes().PutStr("gen_ai.tool.name", "txn.get")
	assert.Equal(t, content.Plain.Sum("medium risk"), l.Span(in).Read.Response.ResultDigest)
	assert.Nil(t, l.Key(in.Resource))
}

func TestRecordRefsAreKeyedDigestsWhereConfigured(t *testing.T) {
	key := keyFile(t, "bank")
	key.RecordRefs = true
	rule := SourceRule{Match: SourceMatch{Tool: "crm.*"}, RecordRefs: []Value{{Arguments: "$.id"}, Literal("all_customers")}}
	l, k := keyedLifter(t, DigestConfig{DigestKey: key}, rule), testKey(t, "bank")
	in := testSpan{attrs: toolAttributes}.input(t)
	o := l.Span(in)
	assert.Equal(t, []string{k.Sum("KYC-000123"), k.Sum("all_customers")}, o.Read.Request.RecordRefs)
	assert.NotContains(t, string(draft(t, o)), "KYC")

	refs := in.Span.Attributes().PutEmptySlice("readtrail.record_refs")
	refs.AppendEmpty().SetStr("cust_1")
	refs.AppendEmpty().SetStr("no identifier")
	refs.AppendEmpty().SetStr("cust_1")
	assert.Equal(t, []string{k.Sum("cust_1")}, l.Span(in).Read.Request.RecordRefs)

	// Another key, of a source or a route, brings no ref back in clear.
	rule.Digest = keyFile(t, "crm")
	l = keyedLifter(t, DigestConfig{DigestKey: key}, rule)
	assert.Equal(t, []string{testKey(t, "crm").Sum("cust_1")}, l.Span(in).Read.Request.RecordRefs)
	rule.Digest = DigestKey{}
	route := DigestRoute{Attribute: "service.namespace", Value: "treasury", DigestKey: keyFile(t, "treasury")}
	l = keyedLifter(t, DigestConfig{DigestKey: key, Routes: []DigestRoute{route}}, rule)
	in.Resource.Attributes().PutStr(route.Attribute, route.Value)
	assert.Equal(t, []string{testKey(t, "treasury").Sum("cust_1")}, l.Span(in).Read.Request.RecordRefs)

	// A source may want it where the organization does not.
	rule.Digest = keyFile(t, "crm")
	l = keyedLifter(t, DigestConfig{DigestKey: keyFile(t, "bank")}, rule)
	assert.Equal(t, []string{"cust_1"}, l.Span(in).Read.Request.RecordRefs)
	rule.Digest.RecordRefs = true
	l = keyedLifter(t, DigestConfig{DigestKey: keyFile(t, "bank")}, rule)
	assert.Equal(t, []string{testKey(t, "crm").Sum("cust_1")}, l.Span(in).Read.Request.RecordRefs)
}

// An id that is derived from a text would confirm a guess of the text as a
// plain digest does.
func TestDerivedIDsOfKeyedItemsConfirmNoGuess(t *testing.T) {
	plain, keyed := newTestLifter(t), keyedLifter(t, DigestConfig{DigestKey: keyFile(t, "bank")})
	other := keyedLifter(t, DigestConfig{DigestKey: keyFile(t, "next")})
	withIDs := testSpan{attrs: toolAttributes}.input(t)
	assert.Equal(t, plain.Span(withIDs).Read.ReadID, keyed.Span(withIDs).Read.ReadID, "a key does not change the id of a span")

	without := testSpan{attrs: map[string]any{operation: "execute_tool"}, name: "about Marta", change: func(s ptrace.Span) {
		s.SetTraceID(pcommon.TraceID{})
	}}.input(t)
	ids := map[string]bool{}
	for _, l := range []*Lifter{plain, keyed, other} {
		id := l.Span(without).Read.ReadID
		assert.Equal(t, id, l.Span(without).Read.ReadID)
		ids[id] = true
	}
	assert.Len(t, ids, 3)

	log := plog.NewLogs()
	sl := log.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
	l := sl.LogRecords().AppendEmpty()
	require.NoError(t, l.Attributes().FromRaw(toolAttributes))
	l.SetTimestamp(1)
	l.Body().SetStr("medium risk")
	eachLog(log, func(in LogInput) {
		k := testKey(t, "bank")
		want := record.ReadIDOfLog([16]byte{}, [8]byte{}, 1, k.Sum(""), "", k.Sum("medium risk"))
		assert.Equal(t, want, keyed.Log(in).Read.ReadID)
	})
}

func TestKeysAreReadAtCreationAndErrorsHoldNothingOfThem(t *testing.T) {
	const pasted = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
	short := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(short, []byte("MDEyMw=="), 0o600))
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.WriteFile(open, []byte(pasted), 0o600))
	require.NoError(t, os.Chmod(open, 0o644))
	t.Setenv("READTRAIL_TEST_KEY", pasted)
	t.Setenv("READTRAIL_TEST_SHORT", "MDEyMw==")
	for _, c := range []struct {
		from KeySource
		want string
	}{
		{KeySource{Env: "READTRAIL_TEST_KEY"}, ""},
		{KeySource{Env: "READTRAIL_TEST_ABSENT"}, "key.env: the environment variable is not set"},
		{KeySource{Env: pasted}, "key.env: the environment variable is not set"},
		{KeySource{Env: pasted + "="}, "key.env: value is no name of an environment variable"},
		{KeySource{Env: "READTRAIL_TEST_SHORT"}, "key.env: key has 4 bytes, fewer than 32"},
		{KeySource{File: short}, "key.file: key has 4 bytes, fewer than 32"},
		{KeySource{File: open}, "key.file: key file has mode 0644"},
		{KeySource{File: pasted}, "key.file: key file cannot be read: no such file or directory"},
		{KeySource{}, "key: set either file or env"},
		{KeySource{File: short, Env: "X"}, "key: set either file or env"},
	} {
		key := DigestKey{Key: c.from, KeyID: "k"}
		for path, o := range map[string]Options{
			"digest.":            {Digest: DigestConfig{DigestKey: key}},
			"digest.routes[0]":   {Digest: DigestConfig{Routes: []DigestRoute{{Attribute: "a", Value: "b", DigestKey: key}}}},
			"sources[0].digest.": {Sources: []SourceRule{{Match: SourceMatch{Tool: "*"}, Digest: key}}},
		} {
			_, err := New(o)
			if c.want == "" {
				assert.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, c.want)
			assert.ErrorContains(t, err, path)
			assert.NotContains(t, err.Error(), pasted[:8])
			assert.NotContains(t, err.Error(), "MDEyMw")
		}
	}
}

func TestSectionsAboutKeysThatCannotWorkAreRefused(t *testing.T) {
	file := KeySource{File: "key"}
	for name, c := range map[string]struct {
		config  DigestConfig
		sources []SourceRule
		want    string
	}{
		"a key without an id":            {DigestConfig{DigestKey: DigestKey{Key: file}}, nil, "key_id must be"},
		"an id that is none":             {DigestConfig{DigestKey: DigestKey{Key: file, KeyID: "a:b"}}, nil, "key_id must be"},
		"an id without a key":            {DigestConfig{DigestKey: DigestKey{KeyID: "a"}}, nil, "key: set either file or env"},
		"refs without a key":             {DigestConfig{DigestKey: DigestKey{RecordRefs: true}}, nil, "key: set either file or env"},
		"a route without a key":          {DigestConfig{Routes: []DigestRoute{{Attribute: "a", Value: "b"}}}, nil, "key and key_id must be set"},
		"a route without its attribute":  {DigestConfig{Routes: []DigestRoute{{Value: "b"}}}, nil, "attribute must be set"},
		"a route without its value":      {DigestConfig{Routes: []DigestRoute{{Attribute: "a"}}}, nil, "value must be set"},
		"a route that is never reached":  {DigestConfig{Routes: []DigestRoute{{Attribute: "a", Value: "b"}, {Attribute: "a", Value: "b"}}}, nil, "routes[1] is never reached"},
		"one id of two keys":             {DigestConfig{DigestKey: DigestKey{Key: file, KeyID: "k"}}, []SourceRule{{Digest: DigestKey{Key: KeySource{Env: "K"}, KeyID: "k"}}}, "sources[0].digest.key_id is that of digest, which has another key"},
		"one name of two rules":          {DigestConfig{}, []SourceRule{{Name: "crm"}, {}, {}, {Name: "crm"}}, "sources[3].name is that of sources[0]"},
		"refs without a key at a source": {DigestConfig{}, []SourceRule{{Match: SourceMatch{Tool: "*"}, Digest: DigestKey{RecordRefs: true}}}, "sources[0].digest.key: set either file or env"},
	} {
		_, err := New(Options{Digest: c.config, Sources: c.sources})
		assert.ErrorContains(t, err, c.want, name)
	}
	// One key may stand in several places under its id.
	same := keyFile(t, "k")
	keyedLifter(t, DigestConfig{DigestKey: same}, SourceRule{Match: SourceMatch{Tool: "*"}, Digest: same})
}

func TestAKeyInPlaceOfAVariableIsNotPrintedWithTheConfiguration(t *testing.T) {
	const pasted = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	config := DigestConfig{DigestKey: DigestKey{Key: KeySource{Env: pasted}, KeyID: "k"}}
	asJSON, err := json.Marshal(config)
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", config, config, config, asJSON), pasted)
}
