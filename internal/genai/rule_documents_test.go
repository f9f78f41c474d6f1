// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func TestErrorsInListsNameTheirPlaceAndWhatToDo(t *testing.T) {
	id := Value{Result: "$.id"}
	for want, rule := range map[string]SourceRule{
		"sources[0].documents.document_id: missing":                            {Documents: &DocumentsRule{}},
		"sources[0].documents.document_id: value is no identifier":             {Documents: &DocumentsRule{DocumentID: Literal("a b")}},
		"sources[0].documents.from: not a place":                               {Documents: &DocumentsRule{From: Literal("files"), DocumentID: id}},
		"sources[0].documents.from.result: ":                                   {Documents: &DocumentsRule{From: Value{Result: "$["}, DocumentID: id}},
		"sources[0].documents.from: the path has a .. that leads to every":     {Documents: &DocumentsRule{From: Value{Arguments: "$..files"}, DocumentID: id}},
		"sources[0].documents.checksum_sha256: value is no SHA-256":            {Documents: &DocumentsRule{DocumentID: id, ChecksumSHA256: Literal("a1")}},
		"sources[0].documents.object_version_id: more than one of a":           {Documents: &DocumentsRule{DocumentID: id, ObjectVersionID: Value{Result: "$.a", Arguments: "$.b"}}},
		"sources[0].documents.received_at: value is no RFC 3339 time":          {Documents: &DocumentsRule{DocumentID: id, ReceivedAt: Literal("today")}},
		"sources[0].retrieval.index_id: value is no identifier":                {Retrieval: &RetrievalRule{IndexID: Literal("a b")}},
		"sources[0].retrieval.build_version: value is no identifier":           {Retrieval: &RetrievalRule{BuildVersion: Literal("a b")}},
		"sources[0].retrieval.query: not a place":                              {Retrieval: &RetrievalRule{Query: Literal("q")}},
		"sources[0].retrieval.top_k: value is no integer":                      {Retrieval: &RetrievalRule{TopK: Literal("many")}},
		"sources[0].retrieval.chunks.from: missing; give {arguments: PATH} or": {Retrieval: &RetrievalRule{Chunks: &ChunkRule{}}},
		"sources[0].retrieval.chunks.score: not a place":                       {Retrieval: &RetrievalRule{Chunks: &ChunkRule{From: id, Score: Literal("1")}}},
		"sources[0].retrieval.chunks.content: the path has a ..":               {Retrieval: &RetrievalRule{Chunks: &ChunkRule{From: id, Content: Value{Result: "$..text"}}}},
		"sources[0].memory.store_id: value is no identifier":                   {Memory: &MemoryRule{StoreID: Literal("a b")}},
		"sources[0].memory.operation: value is no word":                        {Memory: &MemoryRule{Operation: Literal("a b")}},
		"sources[0].memory.entries.from: missing":                              {Memory: &MemoryRule{Entries: &EntryRule{ID: id}}},
		"sources[0].memory.entries.written_at: value is no RFC 3339":           {Memory: &MemoryRule{Entries: &EntryRule{From: id, WrittenAt: Literal("now")}}},
	} {
		rule.Match.Tool = "*"
		_, err := New(Options{Sources: []SourceRule{rule}})
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n", want)
	}
}

func TestListsInYAMLTakeNoValueWhoseSpellingIsLost(t *testing.T) {
	for yaml, want := range map[string]string{
		"documents: {document_id: 7}":                           "documents.document_id: YAML reads",
		"documents: {received_at: 2026-10-09T08:12:03Z}":        "documents.received_at: YAML reads",
		"retrieval: {build_version: 1.10}":                      "retrieval.build_version: YAML reads",
		"retrieval: {top_k: 1.5}":                               "retrieval.top_k: YAML reads",
		"retrieval: {chunks: {id: true}}":                       "retrieval.chunks.id: YAML reads",
		"memory: {entries: {written_at: 2026-10-09}}":           "memory.entries.written_at: YAML reads",
		"documents: {path: {result: $.a}}":                      "invalid keys: path",
		"retrieval: {chunks: {from: {result: $.a}, text: a}}":   "invalid keys: text",
		"memory: {entries: {from: {result: $.a}, path: $.b.c}}": "invalid keys: path",
	} {
		raw, err := confmap.NewRetrievedFromYAML([]byte("sources:\n  - match: {tool: '*'}\n    " + yaml))
		require.NoError(t, err)
		conf, err := raw.AsConf()
		require.NoError(t, err)
		var config struct {
			Sources []SourceRule `mapstructure:"sources"`
		}
		require.ErrorContains(t, conf.Unmarshal(&config), want, yaml)
	}
}

func TestTheExampleInTheDocumentationIsAConfiguration(t *testing.T) {
	_, example, found := strings.Cut(attributesDoc(t), "```yaml\nsources:")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	raw, err := confmap.NewRetrievedFromYAML([]byte("sources:" + example))
	require.NoError(t, err)
	conf, err := raw.AsConf()
	require.NoError(t, err)
	var config struct {
		Sources []SourceRule `mapstructure:"sources"`
	}
	require.NoError(t, conf.Unmarshal(&config))
	require.NoError(t, confmap.Validate(config))
	require.Len(t, config.Sources, 3)
	assert.NotNil(t, config.Sources[0].Documents)
	assert.NotNil(t, config.Sources[1].Retrieval)
	assert.NotNil(t, config.Sources[2].Memory)
}

// ruled lifts a tool call under one rule.
func ruled(t *testing.T, rule SourceRule, arguments, result any) *record.Read {
	t.Helper()
	rule.Match.Tool = "*"
	o := newTestLifter(t, rule).Span(testSpan{attrs: attributes{
		operation: "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result,
	}}.input(t))
	draft(t, o)
	return o.Read
}

func TestPathsOfTheOtherSideStartAtTheWhole(t *testing.T) {
	rule := SourceRule{Documents: &DocumentsRule{
		From: Value{Arguments: "$.ids"}, DocumentID: Value{Arguments: "$"}, ObjectVersionID: Value{Result: "$.version"}, ChecksumSHA256: Value{Result: "$.sums[*]"},
	}}
	sum := strings.Repeat("a1", 32)
	r := ruled(t, rule, `{"ids":["d1","d2"]}`, `{"version":"v7","sums":["`+sum+`","`+sum+`"]}`)
	assert.Equal(t, []record.Document{
		{DocumentID: "d1", ObjectVersionID: "v7", WithContent: true}, {DocumentID: "d2", ObjectVersionID: "v7", WithContent: true},
	}, r.Documents, "of two checksums nobody knows which is meant")
}

func TestWithoutAListSeveralIdsAreDocumentsOfWhichNothingElseIsKnown(t *testing.T) {
	rule := SourceRule{Documents: &DocumentsRule{DocumentID: Value{Result: "$.files[*].id"}, ObjectVersionID: Value{Result: "$.files[*].version"}}}
	one := `{"id":"d1","version":"1"}`
	assert.Equal(t, []record.Document{{DocumentID: "d1", ObjectVersionID: "1", WithContent: true}}, ruled(t, rule, "", `{"files":[`+one+`]}`).Documents)
	assert.Equal(t, []record.Document{{DocumentID: "d1", WithContent: true}, {DocumentID: "d2", WithContent: true}},
		ruled(t, rule, "", `{"files":[`+one+`,{"id":"d2","version":"1"}]}`).Documents)
}

func TestAContentIsDigestedAsItWasReceived(t *testing.T) {
	rule := SourceRule{Retrieval: &RetrievalRule{Chunks: &ChunkRule{From: Value{Result: "$.a[*].b"}, Content: Value{Result: "$.c"}}}}
	for _, c := range []string{`{"n":9007199254740993, "m":1}`, `[1.10,2]`, `7`, `true`, `1e400`} {
		r := ruled(t, rule, "", `{"a":[{"b":{"c":"first"}},{"b":{"c":`+c+`}}]}`)
		require.Len(t, r.Retrieval.Chunks, 2)
		assert.Equal(t, content.Plain.OfString("first").Value, r.Retrieval.Chunks[0].ContentDigest)
		want := content.Plain.OfString(c)
		assert.Equal(t, record.Chunk{ContentDigest: want.Value, ContentCanonicalization: string(want.Form), ContentSize: want.Size}, r.Retrieval.Chunks[1], c)
	}
}

func TestARetrievalOfAConventionHasWhatARuleSaysBesides(t *testing.T) {
	rule := SourceRule{
		Match:     SourceMatch{Index: "policies"},
		Retrieval: &RetrievalRule{BuildVersion: Literal("b_17"), Chunks: &ChunkRule{From: Value{Result: "$.nowhere"}}},
		Documents: &DocumentsRule{From: Value{Result: "$"}, DocumentID: Value{Result: "$.doc"}},
	}
	o := newTestLifter(t, rule).Span(testSpan{attrs: attributes{
		operation: "retrieval", "gen_ai.data_source.id": "policies", "gen_ai.retrieval.documents": `[{"id":"c1","doc":"d1","score":0.5},{"id":"c2","doc":"d1"}]`,
	}}.input(t))
	draft(t, o)
	assert.Equal(t, record.EventReadRetrieval, o.Read.EventType)
	assert.Equal(t, &record.Retrieval{IndexID: "policies", BuildVersion: "b_17", Chunks: []record.Chunk{{ID: "c1", Score: "0.5"}, {ID: "c2"}}}, o.Read.Retrieval)
	assert.Equal(t, []record.Document{{DocumentID: "d1", WithContent: true}}, o.Read.Documents)
	assert.Equal(t, record.BasisUnwrapped, o.Read.Basis["retrieval.chunks"])
}

func TestWhoeverSaysItFirstSaysWhatKindOfReadItIs(t *testing.T) {
	all := SourceRule{
		Documents: &DocumentsRule{DocumentID: Literal("d1")}, Retrieval: &RetrievalRule{IndexID: Literal("i1")}, Memory: &MemoryRule{StoreID: Literal("s1")},
	}
	r := ruled(t, all, "", "x")
	assert.Equal(t, record.EventReadDocument, r.EventType)
	assert.Equal(t, "i1", r.Retrieval.IndexID)
	assert.Equal(t, "s1", r.Memory.StoreID)
	o := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, Documents: all.Documents}).Span(testSpan{attrs: attributes{
		operation: "execute_tool", "gen_ai.tool.name": "f", ownStoreID: "s2",
	}}.input(t))
	assert.Equal(t, record.EventReadMemory, o.Read.EventType)
	assert.Equal(t, "d1", o.Read.Documents[0].DocumentID)
}

func TestAChecksumIsReadInTheSpellingsOfSHA256(t *testing.T) {
	sum := strings.Repeat("a1", 32)
	for _, s := range []string{sum, strings.ToUpper(sum), "sha256:" + sum, strings.Repeat("oaGh", 10) + "oaE="} {
		assert.Equal(t, sum, checksum(s), s)
	}
	for _, s := range []string{"", sum[1:], sum + "00", "sha512:" + sum, "md5:" + sum, strings.Repeat("z", 64), strings.Repeat("oaGh", 10) + "oaF=", "etag-" + sum, "__REDACTED__"} {
		assert.Empty(t, checksum(s), s)
	}
}

func TestListsTakeMemoryInProportionToTheirSize(t *testing.T) {
	rule := SourceRule{Retrieval: &RetrievalRule{Chunks: &ChunkRule{
		From: Value{Result: "$.a[*].b"}, ID: Value{Result: "$.id"}, Score: Value{Result: "$.s"}, Content: Value{Result: "$.c"},
	}}}
	allocs := func(n int) float64 {
		result := `{"a":[` + strings.Repeat(`{"b":{"id":"x","s":1,"c":"y"}},`, n-1) + `{"b":{}}]}`
		return testing.AllocsPerRun(1, func() { assert.Len(t, ruled(t, rule, "", result).Retrieval.Chunks, n) })
	}
	assert.Less(t, allocs(2000), 6*allocs(500))
}

// A path into the other side starts at the whole for each element of the list.
func TestTheOtherSideIsLookedThroughOnce(t *testing.T) {
	other := Value{Arguments: "$.v[*]"}
	rule := SourceRule{
		Documents: &DocumentsRule{From: Value{Result: "$"}, DocumentID: Value{Result: "$.id"}, ObjectVersionID: other},
		Retrieval: &RetrievalRule{Chunks: &ChunkRule{From: Value{Result: "$"}, Score: other}},
	}
	payload := SourceRule{Documents: &DocumentsRule{From: Value{Arguments: "$.v"}, DocumentID: Value{Arguments: "$"}, ObjectVersionID: Value{Result: "$.none"}}}
	allocs := func(rule SourceRule, n int) float64 {
		arguments := `{"v":[` + strings.Repeat(`"x",`, n-1) + `"x"]}`
		result := "[" + strings.Repeat(`{"id":"d"},`, n-1) + `{"id":"d"}]`
		if rule.Retrieval == nil {
			result = `{"content":[{"type":"text","text":` + strconv.Quote(result) + `}]}`
		}
		return testing.AllocsPerRun(1, func() { assert.Len(t, ruled(t, rule, arguments, result).Documents, 1) })
	}
	assert.Less(t, allocs(rule, 1600), 6*allocs(rule, 400))
	assert.Less(t, allocs(payload, 1600), 6*allocs(payload, 400))
}

func TestWhatElementsShareIsReadOnce(t *testing.T) {
	allocated := func(n int) uint64 {
		ids := `{"ids":["x"` + strings.Repeat(`,"x"`, n-1) + `]}`
		rule := SourceRule{Retrieval: &RetrievalRule{Chunks: &ChunkRule{
			From: Value{Arguments: "$.ids"}, ID: Value{Arguments: "$"}, Score: Value{Result: "$.s"}, Content: Value{Result: "$.list[*].text"},
		}}}
		result := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 100*n) + `"}],"list":[{}` + strings.Repeat(`,{}`, n) + `]}`
		return bytesOf(func() { require.Len(t, ruled(t, rule, ids, result).Retrieval.Chunks, n) })
	}
	assert.Less(t, allocated(1600), 8*allocated(400), "for each element all of the other side was read again")
}

func TestMoreThanAReadMayHoldIsNotLookedForOneByOne(t *testing.T) {
	lifted := func(from string) uint64 {
		l, err := New(Options{Sources: []SourceRule{{
			Match: SourceMatch{Tool: "*"}, Documents: &DocumentsRule{From: Value{Result: from}, DocumentID: Value{Result: "$"}},
		}}})
		require.NoError(t, err)
		in := testSpan{attrs: map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.result": "[1" + strings.Repeat(",1", 300_000) + "]",
		}}.input(t)
		return bytesOf(func() { assert.Equal(t, record.ReasonTooLarge, l.Span(in).Unrecordable.Reason) })
	}
	assert.Less(t, lifted("$[*]"), 2*lifted("$"), "the place of each was kept")
}

// bytesOf returns how many bytes f allocates.
func bytesOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
