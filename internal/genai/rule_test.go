// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/record"
)

func TestSourcesAreReadFromYAML(t *testing.T) {
	raw, err := confmap.NewRetrievedFromYAML([]byte(`
sources:
  - match: {tool: "crm.*", scope: "kyc.*"}
    system: crm-eu
    kind: api
    tool_version: "2026-09-30"
    record_refs: [{arguments: $.customer_id}, cust_1]
    source_record_version: {result: $.version}
    as_of: {result: $.as_of}
    boundary: {data_boundary_ref: boundary_eu_kyc, purpose: kyc-periodic-review}
    content_location: crm-eu record history
  - match: {index: policy-manual}
    kind: index
`))
	require.NoError(t, err)
	conf, err := raw.AsConf()
	require.NoError(t, err)
	var config struct {
		Sources []SourceRule `mapstructure:"sources"`
	}
	require.NoError(t, conf.Unmarshal(&config))
	want := crmRule
	want.Match.Scope = "kyc.*"
	want.RecordRefs = append([]Value{}, crmRule.RecordRefs[0], Literal("cust_1"))
	assert.Equal(t, []SourceRule{want, {Match: SourceMatch{Index: "policy-manual"}, Kind: "index"}}, config.Sources)
	require.NoError(t, confmap.Validate(config))
}

func TestTheCollectorChecksSourcesAndNamesTheirPlace(t *testing.T) {
	config := struct {
		Sources []SourceRule `mapstructure:"sources"`
	}{[]SourceRule{crmRule, {Match: SourceMatch{Tool: "*"}, Kind: "crm"}}}
	require.ErrorContains(t, confmap.Validate(&config), "sources::1: kind: unknown kind")
}

func TestWhatYAMLReadsAsNoStringIsRefusedSinceItsSpellingIsLost(t *testing.T) {
	for _, yaml := range []string{
		"tool_version: 2026-09-30", "source_record_version: 41", "tool_version: 1.10", "as_of: 2026-10-09T08:12:03Z", "record_refs: [a, 7]",
	} {
		raw, err := confmap.NewRetrievedFromYAML([]byte("sources:\n  - match: {tool: '*'}\n    " + yaml))
		require.NoError(t, err)
		conf, err := raw.AsConf()
		require.NoError(t, err)
		var config struct {
			Sources []SourceRule `mapstructure:"sources"`
		}
		key, _, _ := strings.Cut(yaml, ":")
		err = conf.Unmarshal(&config)
		require.ErrorContains(t, err, key)
		require.ErrorContains(t, err, "put it in quotes")
		require.ErrorContains(t, err, "sources")
	}
}

func TestErrorsInSourcesNameTheirPlaceAndWhatToDo(t *testing.T) {
	ok := SourceMatch{Tool: "*"}
	for want, rule := range map[string]SourceRule{
		"sources[1].match: no criterion":                                          {System: "x"},
		"sources[1].kind: unknown kind; use one of api, database":                 {Match: ok, Kind: "crm"},
		"sources[1].as_of.result: ":                                               {Match: ok, AsOf: Value{Result: "$["}},
		"sources[1].record_refs[1].arguments: ":                                   {Match: ok, RecordRefs: []Value{Literal("a"), {Arguments: "customer"}}},
		"sources[1].record_refs[0]: empty":                                        {Match: ok, RecordRefs: []Value{{}}},
		"sources[1].tool_version: value is no identifier":                         {Match: ok, ToolVersion: Literal("a b")},
		"sources[1].as_of: value is no RFC 3339 time":                             {Match: ok, AsOf: Literal("today")},
		"sources[1].source_record_version: more than one of a literal, arguments": {Match: ok, SourceRecordVersion: Value{Arguments: "$.a", Result: "$.b"}},
		"sources[1].boundary.purpose: value is no single printable line":          {Match: ok, Boundary: Boundary{DataBoundaryRef: "b", Purpose: "a\nb"}},
		"sources[1].boundary.data_boundary_ref: value is no identifier":           {Match: ok, Boundary: Boundary{DataBoundaryRef: "b c", Purpose: "p"}},
		"sources[1].boundary: set both data_boundary_ref and purpose":             {Match: ok, Boundary: Boundary{DataBoundaryRef: "b"}},
		"sources[1].system: value is no identifier":                               {Match: ok, System: strings.Repeat("x", 300)},
		"sources[1].content_location: value is no single printable line":          {Match: ok, ContentLocation: "https://u:p@host/"},
		"sources[1].record_refs[0]: value is no identifier":                       {Match: ok, RecordRefs: []Value{Literal("jane@example.com")}},
	} {
		_, err := New(Options{Sources: []SourceRule{crmRule, rule}})
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n", want)
		_, place, _ := strings.Cut(want, ".")
		require.ErrorContains(t, rule.Validate(), place)
	}
	_, err := New(Options{Sources: []SourceRule{{System: "a b"}}})
	assert.Len(t, strings.Split(err.Error(), "\n"), 2, "every error is reported")
}

func TestTheFirstRuleWhoseCriteriaAllMatchApplies(t *testing.T) {
	rule := func(system string, m SourceMatch) SourceRule { return SourceRule{Match: m, System: system} }
	l := newTestLifter(
		t,
		rule("both", SourceMatch{Tool: "crm.*", Scope: "kyc"}),
		rule("tool", SourceMatch{Tool: "crm.*"}),
		rule("index", SourceMatch{Index: "pol?cy*"}),
		rule("any", SourceMatch{Tool: "*"}),
	)
	system := func(scope string, attrs map[string]any) string {
		return l.Span(testSpan{scope: scope, attrs: attrs}.input(t)).Read.Source.System
	}
	tool := func(name string) map[string]any {
		return map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
	}
	assert.Equal(t, "both", system("kyc", tool("crm.get")))
	assert.Equal(t, "tool", system("other", tool("crm.get")))
	assert.Equal(t, "any", system("kyc", tool("txn.get")))
	assert.Equal(t, "index", system("kyc", map[string]any{"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "policy-manual"}))
	assert.Equal(t, "index", system("kyc", map[string]any{"gen_ai.operation.name": "search_memory", "gen_ai.memory.store.id": "policy"}))
}

func TestPatternsMatchAsTheyAreDocumented(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "anything", true},
		{"*", "", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c*e", "abcde", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"abc", "abcd", false},
		{"a*b", "acbd", false},
		{"**", "x", true},
		{"a/*", "a/b/c", true},
		{"[a]", "a", false},
	} {
		assert.Equal(t, c.want, wildcard(c.pattern, c.s), "%s ~ %s", c.pattern, c.s)
	}
	assert.False(t, wildcard(strings.Repeat("a*", 100)+"b", strings.Repeat("a", 10_000)))
}

func refsOf(t *testing.T, argumentsValue any, path string) []string {
	t.Helper()
	l := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, RecordRefs: []Value{{Arguments: path}}})
	return l.Span(testSpan{attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": argumentsValue,
	}}.input(t)).Read.Request.RecordRefs
}

func TestPathsSelectExactlyFromJSONAndFromStructures(t *testing.T) {
	structured := map[string]any{"ids": []any{9007199254740993, "a", 1.5, true, map[string]any{"id": "b"}, "not an id"}}
	text := `{"ids":[9007199254740993,"a",1.5,true,{"id":"b"},"not an id",1e3]}`
	for _, arguments := range []any{structured, text, `"{\"ids\":[9007199254740993,\"a\"]}"`} {
		assert.Equal(t, []string{"9007199254740993", "a"}, refsOf(t, arguments, "$.ids[*]"))
	}
	assert.Equal(t, []string{"b"}, refsOf(t, structured, "$..id"))
	assert.Equal(t, []string{"a"}, refsOf(t, text, "$.ids[?@ == 'a']"))
}

func TestPathsSelectNothingFromWhatIsAmbiguousBrokenOrTooLarge(t *testing.T) {
	for _, arguments := range []any{
		`{"id":"a","id":"b"}`, `{"id":"a"`, "plain text", 7, true,
		[]any{},
		"",
		strings.Repeat(`{"id":`, maxTreeDepth+2) + `"a"` + strings.Repeat("}", maxTreeDepth+2),
		`{"id":"a","x":"` + strings.Repeat("y", 5<<20) + `"}`,
		map[string]any{"id": "a", "x": strings.Repeat("y", 5<<20)},
	} {
		assert.Empty(t, refsOf(t, arguments, "$..id"))
	}
}

func TestAReadOfMoreThanAThousandRecordsIsUnrecordable(t *testing.T) {
	numbers := func(n int) []any {
		ids := make([]any, n)
		for i := range ids {
			ids[i] = i
		}
		return ids
	}
	said := func(n int) Observation {
		return newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "execute_tool", "readtrail.record_refs": numbers(n)}}.input(t))
	}
	ruled := func(n int) Observation {
		rule := SourceRule{Match: SourceMatch{Tool: "*"}, RecordRefs: []Value{{Arguments: "$[*]"}}}
		return newTestLifter(t, rule).Span(testSpan{attrs: map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.arguments": numbers(n),
		}}.input(t))
	}
	for name, lift := range map[string]func(int) Observation{"said": said, "ruled": ruled} {
		t.Run(name, func(t *testing.T) {
			assert.Len(t, lift(maxRefs).Read.Request.RecordRefs, maxRefs)
			o := lift(maxRefs + 1)
			require.NotNil(t, o.Unrecordable)
			assert.Equal(t, record.ReasonTooLarge, o.Unrecordable.Reason)
		})
	}
}

func TestAValueThatAPathFindsTwiceOrInAWrongShapeIsAbsent(t *testing.T) {
	l := newTestLifter(t, SourceRule{
		Match: SourceMatch{Tool: "*"}, SourceRecordVersion: Value{Result: "$..v"}, AsOf: Value{Result: "$.t"}, ToolVersion: Value{Arguments: "$.none"},
	})
	read := func(result string) *record.Read {
		return l.Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": result}}.input(t)).Read
	}
	r := read(`{"v":"1","w":{"v":"2"},"t":"yesterday"}`)
	assert.Empty(t, r.Response.SourceRecordVersion)
	assert.True(t, r.Response.AsOf.IsZero())
	assert.Empty(t, r.Basis)
	r = read(`{"v":41,"t":"2026-10-09T08:12:03.1234567+02:00"}`)
	assert.Equal(t, "41", r.Response.SourceRecordVersion)
	assert.Equal(t, "2026-10-09T06:12:03.123456700Z", r.Response.AsOf.String())
}

func TestABoundaryHasItsReferenceAndItsPurposeFromOnePlace(t *testing.T) {
	ruled := &record.Boundary{DataBoundaryRef: "of-rule", Purpose: "rule"}
	for name, c := range map[string]struct {
		rule           Boundary
		span, resource attributes
		want           *record.Boundary
		basis          record.Basis
	}{
		"half a pair is left out":       {span: attributes{ownDataBoundary: "of-span"}},
		"a rule wins over half a pair":  {rule: ruledBoundary, span: attributes{ownPurpose: "span"}, want: ruled, basis: record.BasisRule},
		"halves of two places stay two": {span: attributes{ownPurpose: "span"}, resource: attributes{ownDataBoundary: "of-resource"}},
		"the span wins": {
			ruledBoundary,
			attributes{ownDataBoundary: "of-span", ownPurpose: "span"},
			attributes{ownDataBoundary: "of-resource", ownPurpose: "resource"},
			&record.Boundary{DataBoundaryRef: "of-span", Purpose: "span"}, record.BasisAttribute,
		},
		"the resource wins over a rule": {
			ruledBoundary,
			attributes{ownPurpose: "span"},
			attributes{ownDataBoundary: "of-resource", ownPurpose: "resource"},
			&record.Boundary{DataBoundaryRef: "of-resource", Purpose: "resource"}, record.BasisAttribute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, Boundary: c.rule})
			in := testSpan{attrs: c.span}.input(t)
			in.Span.Attributes().PutStr(operation, "execute_tool")
			require.NoError(t, in.Resource.Attributes().FromRaw(c.resource))
			o := l.Span(in)
			assert.Equal(t, c.want, o.Read.Boundary)
			assert.Equal(t, c.basis, o.Read.Basis["boundary.data_boundary_ref"])
			assert.Equal(t, c.basis, o.Read.Basis["boundary.purpose"])
			draft(t, o)
		})
	}
}

var ruledBoundary = Boundary{DataBoundaryRef: "of-rule", Purpose: "rule"}
