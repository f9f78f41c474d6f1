// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/collector/component"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

var store = collector.MustNewIDWithName("evidence_store", "eu")

// everything is a rule that keeps a copy of everything that is read.
var everything = SourceRule{Match: SourceMatch{Scope: "*"}, Name: "all", Retention: Retention{
	Content: record.EvidenceCopy, EvidenceStore: store, Classification: "confidential", AccessPolicyRef: "pol_1",
}}

func keeping(fields ...FieldPath) SourceRule {
	rule := everything
	rule.Retention.Content, rule.Retention.Fields = record.Fields, fields
	return rule
}

// copiesOf returns the contents of the copies by digest. Each digest is recomputed.
func copiesOf(t testing.TB, key *content.Key, o Observation) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, c := range o.Copies {
		require.Equal(t, c.Digest, key.Sum(string(c.Content)))
		require.NotContains(t, out, c.Digest, "each content once")
		out[c.Digest] = string(c.Content)
	}
	if len(out) == 0 {
		require.Empty(t, o.Store)
	} else {
		require.Equal(t, "evidence_store/eu", o.Store)
		require.Equal(t, o.Store, o.Read.Retention.CopyRef)
	}
	return out
}

// digests are those of the contents of a read.
func digests(r *record.Read) []string {
	out := []string{r.Request.ArgumentsDigest, r.Response.ResultDigest}
	if r.Retrieval != nil {
		out = append(out, r.Retrieval.QueryDigest)
		for _, c := range r.Retrieval.Chunks {
			out = append(out, c.ContentDigest)
		}
	}
	if r.Memory != nil {
		for _, e := range r.Memory.Entries {
			out = append(out, e.ContentDigest)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" })
}

func TestEveryDigestOfTheCorpusHasItsCopyWhereEverythingIsKept(t *testing.T) {
	for name, key := range map[string]*content.Key{"plain": content.Plain, "keyed": testKey(t, "bank")} {
		var config DigestConfig
		if key != nil {
			config.DigestKey = keyFile(t, "bank")
		}
		l := keyedLifter(t, config, everything)
		reads, copied := 0, 0
		look := func(o Observation) {
			if o.Read == nil {
				require.Empty(t, o.Copies)
				return
			}
			reads++
			copies := copiesOf(t, key, o)
			copied += len(copies)
			for _, d := range digests(o.Read) {
				require.Contains(t, copies, d, name)
			}
			require.Len(t, copies, len(digests(o.Read)), "and nothing else")
			want := record.EvidenceCopy
			if len(copies) == 0 {
				want = record.DigestOnly
			}
			require.Equal(t, want, o.Read.Retention.ContentStored)
			require.NotContains(t, string(draft(t, o)), "CANARY")
		}
		for _, file := range append(tracesFiles(t), "../../testdata/kyc/kyc.traces.jsonl") {
			spans(t, file, func(in SpanInput) { look(l.Span(in)) })
		}
		for _, file := range logsFiles(t) {
			logs(t, file, func(_ int, in LogInput) { look(l.Log(in)) })
		}
		assert.Greater(t, reads, 50)
		assert.Greater(t, copied, 50)
	}
}

func TestACopyHoldsTheBytesThatWereDigested(t *testing.T) {
	l := newTestLifter(t, everything)
	o := l.Span(testSpan{attrs: map[string]any{
		operation: "retrieval", "gen_ai.retrieval.query.text": "first",
		"gen_ai.retrieval.documents": []any{
			map[string]any{"content": "first", "id": "1"},
			map[string]any{"content": `{ "b": 1.0, "a": 2 }`, "id": "2"},
			map[string]any{"content": map[string]any{"account": int64(9007199254740993)}, "id": "3"},
			map[string]any{"content": []any{[]byte{0xff}}, "id": "4"},
			map[string]any{"content": "[REDACTED]", "id": "5"},
			map[string]any{"content": "Bearer 0123456789abcdef", "id": "6"},
			map[string]any{"content": `{"cut":"of`, "id": "7"},
		},
	}}.input(t))
	copies := copiesOf(t, content.Plain, o)
	var contents []string
	for _, c := range o.Read.Retrieval.Chunks {
		contents = append(contents, copies[c.ContentDigest])
	}
	assert.Equal(t, []string{
		"first", `{"a":2,"b":1}`, `{"account":9007199254740993}`, `{"arrayValue":{"values":[{"bytesValue":"/w=="}]}}`, "", "", `{"cut":"of`,
	}, contents)
	assert.Equal(t, "first", copies[o.Read.Retrieval.QueryDigest], "which is that of a chunk too")
	assert.Contains(t, copies[o.Read.Response.ResultDigest], "arrayValue")
	assert.Equal(t, record.Retention{
		ContentStored: record.EvidenceCopy, CopyRef: "evidence_store/eu", Classification: "confidential", AccessPolicyRef: "pol_1",
		RedactionProfile: "strict/1/all",
	}, o.Read.Retention)
}

func TestARuleThatKeepsNothingOfAReadDoesNotSayThatItDid(t *testing.T) {
	want := record.Retention{
		ContentStored: record.DigestOnly, Classification: "confidential", AccessPolicyRef: "pol_1", RedactionProfile: "strict/1/all",
	}
	nothing := map[string]any{operation: "execute_tool", "gen_ai.tool.name": "t"}
	withheld := map[string]any{operation: "execute_tool", "gen_ai.tool.call.arguments": "[REDACTED]", "gen_ai.tool.call.result": "Bearer 0123456789abcdef"}
	for _, rule := range []SourceRule{everything, keeping(FieldPath{Result: "$.version"})} {
		l := newTestLifter(t, rule)
		for _, attrs := range []map[string]any{nothing, withheld} {
			o := l.Span(testSpan{attrs: attrs}.input(t))
			assert.Equal(t, want, o.Read.Retention)
			assert.Empty(t, copiesOf(t, content.Plain, o))
			draft(t, o)
		}
	}
	o := newTestLifter(t, keeping(FieldPath{Result: "$.version"})).Span(testSpan{attrs: toolAttributes}.input(t))
	assert.Equal(t, want, o.Read.Retention, "a path that selects nothing")

	// Without a rule there is no name in the profile, and nothing is kept.
	o = newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "other"}}).Span(testSpan{attrs: toolAttributes}.input(t))
	assert.Equal(t, record.Retention{ContentStored: record.DigestOnly, RedactionProfile: testProfile}, o.Read.Retention)
}

func TestACredentialIsNeverKept(t *testing.T) {
	const uri = "https://h/x?api_key=hunter22"
	for _, rule := range []SourceRule{everything, keeping(FieldPath{Arguments: "$"}, FieldPath{Arguments: "$.token"}, FieldPath{Result: "$.token"})} {
		l := newTestLifter(t, rule)
		for _, attrs := range []map[string]any{
			{"mcp.method.name": "resources/read", "mcp.resource.uri": uri},
			{"mcp.method.name": "resources/read", "mcp.resource.uri": `{"token":"` + uri + `"}`},
			{operation: "execute_tool", "gen_ai.tool.call.arguments": "Bearer 0123456789abcdef"},
		} {
			o := l.Span(testSpan{attrs: attrs}.input(t))
			assert.Empty(t, copiesOf(t, content.Plain, o))
			draft(t, o)
		}
		o := l.Span(testSpan{attrs: map[string]any{
			operation: "execute_tool", "gen_ai.tool.call.result": map[string]any{"token": "ghp_0123456789abcdefABCDEF0123"},
		}}.input(t))
		assert.Empty(t, o.Read.Retention.Fields)
	}
}

func TestOnlyTheFieldsThatPathsSelectAreKept(t *testing.T) {
	arguments := `{"customer":{"id":"KYC-000123"},"limit":1e3}`
	result := `{"version":41,"exact":9007199254740993,"ratio":1.50,"name":"Marta Exempel","open":true,"closed":null,
		"address":{"zip": "1.0", "country":"DE"},"tags":["a","b","a"],"note":"{ \"a\": 1 }","hidden":"[REDACTED]","scores":[1.0, 1e400]}`
	var structured map[string]any
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(result, "1e400", "2")), &structured))
	rule := keeping(
		FieldPath{Arguments: "$.customer.id"}, FieldPath{Arguments: "$.limit"}, FieldPath{Result: "$.version"}, FieldPath{Result: "$.exact"},
		FieldPath{Result: "$.ratio"}, FieldPath{Result: "$['name']"}, FieldPath{Result: "$.open"}, FieldPath{Result: "$.closed"},
		FieldPath{Result: "$.address"}, FieldPath{Result: "$.tags[*]"}, FieldPath{Result: "$.note"}, FieldPath{Result: "$.hidden"},
		FieldPath{Result: "$.absent"}, FieldPath{Result: "$.scores"},
	)
	o := newTestLifter(t, rule).Span(testSpan{attrs: map[string]any{
		operation: "execute_tool", "gen_ai.tool.name": "crm.get", "gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result,
	}}.input(t))
	copies := copiesOf(t, content.Plain, o)
	var got []string
	for _, f := range o.Read.Retention.Fields {
		assert.EqualValues(t, len(copies[f.Digest]), f.Size)
		got = append(got, fmt.Sprintf("%s %s = %s (%s)", f.In, f.Path, copies[f.Digest], f.Canonicalization))
	}
	assert.Equal(t, []string{
		"arguments $.customer.id = KYC-000123 (bytes)",
		"arguments $.limit = 1e3 (bytes)",
		"result $.version = 41 (bytes)",
		"result $.exact = 9007199254740993 (bytes)",
		"result $.ratio = 1.50 (bytes)",
		"result $['name'] = Marta Exempel (bytes)",
		"result $.open = true (bytes)",
		"result $.closed = null (bytes)",
		`result $.address = {"country":"DE","zip":"1.0"} (jcs)`,
		"result $.tags[*] = a (bytes)",
		"result $.tags[*] = b (bytes)",
		"result $.tags[*] = a (bytes)",
		`result $.note = {"a":1} (jcs)`,
		"result $.scores = [1.0, 1e400] (bytes)",
	}, got)
	assert.Len(t, copies, len(got)-1, "equal values are one copy")
	assert.Equal(t, record.Fields, o.Read.Retention.ContentStored)
	assert.NotContains(t, copies, o.Read.Response.ResultDigest)
	body := string(draft(t, o))
	for _, value := range []string{"KYC", "Marta", "9007199254740993"} {
		assert.NotContains(t, body, value)
	}

	// A structure is the same as JSON of the same value.
	o = newTestLifter(t, rule).Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.call.result": structured}}.input(t))
	copies = copiesOf(t, content.Plain, o)
	got = nil
	for _, f := range o.Read.Retention.Fields {
		got = append(got, copies[f.Digest])
	}
	assert.Equal(t, []string{
		"41", "9007199254740992", "1.5", "Marta Exempel", "true", "null", `{"country":"DE","zip":"1.0"}`, "a", "b", "a", `{"a":1}`, "[1,2]",
	}, got)

	// What an MCP tool answered is found in its result.
	o = newTestLifter(t, keeping(FieldPath{Result: "$.version"})).Span(testSpan{attrs: map[string]any{
		operation: "execute_tool", "gen_ai.tool.call.result": `{"content":[{"type":"text","text":"{\"version\":\"v41\"}"}]}`,
	}}.input(t))
	assert.Equal(t, map[string]string{content.Plain.Sum("v41"): "v41"}, copiesOf(t, content.Plain, o))
}

func TestFieldsOfAKeyedSourceHaveKeyedDigests(t *testing.T) {
	rule := keeping(FieldPath{Arguments: "$.id"})
	rule.Digest = keyFile(t, "crm")
	o := keyedLifter(t, DigestConfig{}, rule).Span(testSpan{attrs: toolAttributes}.input(t))
	k := testKey(t, "crm")
	assert.Equal(t, map[string]string{k.Sum("KYC-000123"): "KYC-000123"}, copiesOf(t, k, o))
	assert.Equal(t, []record.Field{{Path: "$.id", In: "arguments", Digest: k.Sum("KYC-000123"), Canonicalization: "bytes", Size: 64}}, o.Read.Retention.Fields)
	draft(t, o)
}

// Objects have no order, and a retry has to give the same record.
func TestTheSameContentGivesTheSameRecord(t *testing.T) {
	members := map[string]any{}
	for i := range 40 {
		members[fmt.Sprintf("m%d", i)] = map[string]any{"id": fmt.Sprintf("id-%d", i), "list": []any{"x", fmt.Sprintf("y-%d", i)}}
	}
	text, err := json.Marshal(members)
	require.NoError(t, err)
	rule := keeping(FieldPath{Result: "$.*.id"}, FieldPath{Result: "$..list[-1,0]"}, FieldPath{Result: "$[?@.id > 'id-3']"})
	rule.RecordRefs = []Value{{Result: "$..id"}}
	rule.Retrieval = &RetrievalRule{Chunks: &ChunkRule{From: Value{Result: "$.*"}, ID: Value{Result: "$.id"}, Content: Value{Result: "$.list"}}}
	rule.Documents = &DocumentsRule{From: Value{Result: "$[?@.id]"}, DocumentID: Value{Result: "$.id"}}
	for _, result := range []any{members, string(text)} {
		var first []byte
		for range 20 {
			o := newTestLifter(t, rule).Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.call.result": result}}.input(t))
			require.NotNil(t, o.Read)
			require.Len(t, o.Read.Request.RecordRefs, 40)
			require.Len(t, copiesOf(t, content.Plain, o), 40+41+len(slices.DeleteFunc(slices.Clone(o.Read.Request.RecordRefs), func(id string) bool { return id <= "id-3" })))
			if body := draft(t, o); first == nil {
				first = body
			} else {
				require.Equal(t, string(first), string(body))
			}
		}
	}
}

func TestAReadThatWouldKeepTooMuchIsSaidToBeUnrecordable(t *testing.T) {
	many := "[" + strings.TrimSuffix(strings.Repeat("1,", maxFields+1), ",") + "]"
	nested := strings.Repeat("[", 40) + `"` + strings.Repeat("x", 1000) + `"` + strings.Repeat("]", 40)
	for _, c := range []struct {
		result string
		fields []FieldPath
		ok     bool
	}{
		{many, []FieldPath{{Result: "$[*]"}}, false},
		{many, []FieldPath{{Result: "$[1:]"}}, true},
		{many, []FieldPath{{Result: "$[1:]"}, {Result: "$[0]"}}, false},
		{nested, []FieldPath{{Result: "$..*"}}, false},
		{nested, []FieldPath{{Result: "$"}, {Result: "$[0]"}, {Result: "$[0][0]"}}, true},
		{"plain text", []FieldPath{{Result: "$..*"}}, true},
	} {
		o := newTestLifter(t, keeping(c.fields...)).Span(testSpan{attrs: map[string]any{operation: "execute_tool", "gen_ai.tool.call.result": c.result}}.input(t))
		if c.ok {
			require.NotNil(t, o.Read, c.fields)
			draft(t, o)
			continue
		}
		require.NotNil(t, o.Unrecordable, c.fields)
		assert.Equal(t, record.ReasonTooLarge, o.Unrecordable.Reason)
		assert.Empty(t, o.Copies)
	}
}

func TestChoicesThatCannotBeKeptAreRefused(t *testing.T) {
	change := func(f func(*Retention)) SourceRule {
		rule := keeping(FieldPath{Result: "$.a"})
		f(&rule.Retention)
		return rule
	}
	for want, rule := range map[string]SourceRule{
		"sources[0].retention.content must be digest_only, fields or evidence_copy":               change(func(r *Retention) { r.Content, r.Fields = "all", nil }),
		"sources[0].retention.evidence_store must be set":                                         change(func(r *Retention) { r.EvidenceStore = collector.ID{} }),
		"sources[0].retention.evidence_store: content is digest_only":                             change(func(r *Retention) { r.Content = "" }),
		"sources[0].retention.classification and access_policy_ref must be set":                   change(func(r *Retention) { r.AccessPolicyRef = "" }),
		"sources[0].retention.classification: value is no single printable line":                  change(func(r *Retention) { r.Classification = "a\nb" }),
		"sources[0].retention.fields: give at least one path with content: fields":                change(func(r *Retention) { r.Fields = nil }),
		"sources[0].retention.fields: give at least one path with content: fields, and none":      change(func(r *Retention) { r.Content = record.EvidenceCopy }),
		"sources[0].retention.fields[1]: set either arguments or result":                          change(func(r *Retention) { r.Fields = []FieldPath{{Result: "$.a"}, {}} }),
		"sources[0].retention.fields[0]: set either arguments or result":                          change(func(r *Retention) { r.Fields = []FieldPath{{Result: "$.a", Arguments: "$"}} }),
		"sources[0].retention.fields[0].arguments: ":                                              change(func(r *Retention) { r.Fields = []FieldPath{{Arguments: "as of"}} }),
		"sources[0].retention.fields[0].result: path must be one printable line of at most 1024 ": change(func(r *Retention) { r.Fields = []FieldPath{{Result: "$['\n']"}} }),
		"sources[0].name: value is no single word":                                                {Match: SourceMatch{Tool: "*"}, Name: "two words"},
	} {
		_, err := New(Options{Sources: []SourceRule{rule}})
		assert.ErrorContains(t, err, want)
	}
}
