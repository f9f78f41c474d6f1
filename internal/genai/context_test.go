// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/contexts"
	"github.com/readtrail/readtrail/record"
)

// modelCallSpan is a span of a model call with further attributes.
func modelCallSpan(more attributes) testSpan {
	attrs := attributes{operation: "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5.1", ownExecutionID: "run-7"}
	maps.Copy(attrs, more)
	return testSpan{name: "chat gpt-5.1", attrs: attrs}
}

func contextOf(t *testing.T, more attributes) *record.Context {
	t.Helper()
	o := newTestLifter(t).Span(modelCallSpan(more).input(t))
	require.Nil(t, o.Unrecordable)
	contextDraft(t, o)
	return o.Context
}

const twoEntries = `[
	{"entry_id":"e1","object_id":"c-1","object_type":"Customer","property":"risk","side":"data","origin":{"source":"crm-eu","line":41},
	 "valid_time":"2026-10-01T02:00:00+02:00","record_time":"2026-10-09T08:12:03.5Z","ontology_version":"2026.3","value":"medium CANARY-1"},
	{"id":"e9","object_id":"rule-7","object_type":"Rule","property":"text","side":"instruction","origin":"policy-manual","pseudonym":false,
	 "value":{"text":"CANARY-2"},"comment":"CANARY-3"}]`

func TestAContextNamesItsEntriesAndHoldsNoValue(t *testing.T) {
	o := newTestLifter(t).Span(modelCallSpan(attributes{
		ownContextEntries: twoEntries, ownContextPlanKind: "kyc-review", ownContextPlanVersion: "4", ownContextPerson: "p-7", ownContextRole: "kyc analyst",
		ownPurpose: "kyc review", ownContextObjects: []any{"c-1"}, ownContextRanking: "recency.v2", ownContextLeftOut: 3,
	}).input(t))
	body := string(contextDraft(t, o))
	assert.NotContains(t, body, "CANARY")
	c := o.Context
	assert.Equal(t, []record.ContextEntry{
		{
			EntryID: "e1", ObjectID: "c-1", ObjectType: "Customer", Property: "risk", Side: record.SideData, Origin: record.Origin{Source: "crm-eu", Line: 41},
			ValidTime: timeOf("2026-10-01T00:00:00Z"), RecordTime: timeOf("2026-10-09T08:12:03.5Z"), OntologyVersion: "2026.3",
		},
		{EntryID: "e9", ObjectID: "rule-7", ObjectType: "Rule", Property: "text", Side: record.SideInstruction, Origin: record.Origin{Source: "policy-manual"}},
	}, c.Entries)
	assert.Equal(t, "run-7", c.Correlation.ExecutionID)
	assert.Equal(t, &record.Plan{Kind: "kyc-review", Version: "4"}, c.Plan)
	assert.Equal(t, &record.Rights{PersonRef: "p-7", AgentRole: "kyc analyst"}, c.Rights)
	assert.Equal(t, "kyc review", c.Purpose)
	assert.Equal(t, []string{"c-1"}, c.Objects)
	assert.Equal(t, "recency.v2", c.Selection.Ranking)
	assert.EqualValues(t, 3, *c.Selection.LeftOut)
	assert.Equal(t, record.FormEntries, c.ContextForm)
	assert.Equal(t, record.Model{Provider: "openai", Request: "gpt-5.1"}, c.Model)
}

func TestTheDigestIsComputedAgainFromTheRecordAndTheSource(t *testing.T) {
	c := contextOf(t, attributes{ownContextEntries: twoEntries})
	var entries []contexts.Entry
	for i, value := range []string{`"medium CANARY-1"`, `{"text": "CANARY-2"}`} {
		recorded, err := json.Marshal(&c.Entries[i])
		require.NoError(t, err)
		entries = append(entries, contexts.Entry{Recorded: recorded, Value: jsontext.Value(value)})
	}
	d, err := contexts.EntriesDigest(content.Plain, entries)
	require.NoError(t, err)
	assert.Equal(t, c.ContextDigest, d.Value)
	assert.Equal(t, c.ContextSize, d.Size)
}

func TestTheSameContextGivenAgainHasTheSameDigestAndOneChangedPropertyAnother(t *testing.T) {
	same := contextOf(t, attributes{ownContextEntries: twoEntries})
	again := contextOf(t, attributes{ownContextEntries: strings.Join(strings.Fields(twoEntries), " ")})
	assert.Equal(t, same.ContextDigest, again.ContextDigest)
	for _, change := range [][2]string{{"CANARY-1", "CANARY-9"}, {`"risk"`, `"name"`}, {"2026.3", "2026.4"}, {"08:12:03.5Z", "08:12:03.6Z"}, {`"line":41`, `"line":42`}} {
		changed := contextOf(t, attributes{ownContextEntries: strings.Replace(twoEntries, change[0], change[1], 1)})
		assert.NotEqual(t, same.ContextDigest, changed.ContextDigest, change)
	}

	messages := func(text string) string {
		return contextOf(t, attributes{"gen_ai.input.messages": text, "gen_ai.system_instructions": "Be brief."}).ContextDigest
	}
	assert.Equal(t, messages(`[{"role":"user","content":"a"}]`), messages(`[{"content": "a", "role": "user"}]`))
	assert.NotEqual(t, messages(`[{"role":"user","content":"a"}]`), messages(`[{"role":"user","content":"b"}]`))
}

func TestMessagesHaveOneDigestAsStructureAndAsJSON(t *testing.T) {
	structured := contextOf(t, attributes{"gen_ai.input.messages": []any{map[string]any{"role": "user", "n": 2}}})
	asJSON := contextOf(t, attributes{"gen_ai.input.messages": `[{"n":2.0,"role":"user"}]`})
	assert.Equal(t, record.FormMessages, structured.ContextForm)
	assert.Equal(t, structured.ContextDigest, asJSON.ContextDigest)
	in, err := contexts.ParseInput([]byte(`{"input_messages":[{"role":"user","n":2}]}`))
	require.NoError(t, err)
	d, err := in.Digest(content.Plain)
	require.NoError(t, err)
	assert.Equal(t, d.Value, asJSON.ContextDigest)
}

func TestWithoutCapturedInputThereIsNoDigest(t *testing.T) {
	for name, attrs := range map[string]attributes{
		"nothing":                      {},
		"a placeholder":                {"gen_ai.input.messages": "__REDACTED__"},
		"instructions alone":           {"gen_ai.system_instructions": "Be brief."},
		"entries without their values": {ownContextEntries: `[{"entry_id":"e1","object_id":"c","object_type":"T","property":"p","side":"data","origin":"s"}]`},
	} {
		c := contextOf(t, attrs)
		assert.Empty(t, c.ContextDigest, name)
		assert.NotEqual(t, record.CapturedContent, c.Capture.Input, name)
	}
}

func TestAnApplicationCanGiveTheDigestOfEntriesWithoutValues(t *testing.T) {
	const entry = `[{"entry_id":"e1","object_id":"c","object_type":"T","property":"p","side":"data","origin":"s"}]`
	given := "sha256:" + strings.Repeat("0a", 32)
	c := contextOf(t, attributes{ownContextEntries: entry, ownContextDigest: given})
	assert.Equal(t, given, c.ContextDigest)
	assert.Equal(t, record.FormEntries, c.ContextForm)
	for _, none := range []string{"sha256:1", "CANARY", "hmac-sha256:k:" + strings.Repeat("z", 64), "hmac-sha256:" + strings.Repeat("0", 64)} {
		assert.Empty(t, contextOf(t, attributes{ownContextEntries: entry, ownContextDigest: none}).ContextDigest, none)
	}
	keyed := "hmac-sha256:bank:" + strings.Repeat("0a", 32)
	assert.Equal(t, keyed, contextOf(t, attributes{ownContextEntries: entry, ownContextDigest: keyed}).ContextDigest)
	assert.Empty(t, contextOf(t, attributes{ownContextDigest: given}).ContextDigest, "of no entries there is none")
}

func TestValuesHaveADigestOfTheirOwnOnlyWithAKey(t *testing.T) {
	for _, e := range contextOf(t, attributes{ownContextEntries: twoEntries}).Entries {
		assert.Empty(t, e.ValueDigest)
	}
	t.Setenv("READTRAIL_TEST_KEY", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	l, err := New(Options{Contexts: true, Profile: testProfile, Digest: DigestConfig{DigestKey: DigestKey{
		Key: KeySource{Env: "READTRAIL_TEST_KEY"}, KeyID: "bank-2026", RecordRefs: true,
	}}})
	require.NoError(t, err)
	o := l.Span(modelCallSpan(attributes{ownContextEntries: twoEntries, ownContextObjects: "c-1", ownContextPerson: "p-7", ownContextRole: "r"}).input(t))
	body := string(contextDraft(t, o))
	for _, e := range o.Context.Entries {
		assert.True(t, strings.HasPrefix(e.ValueDigest, "hmac-sha256:bank-2026:"))
		assert.True(t, strings.HasPrefix(e.ObjectID, "hmac-sha256:bank-2026:"))
	}
	assert.True(t, strings.HasPrefix(o.Context.ContextDigest, "hmac-sha256:bank-2026:"))
	assert.NotContains(t, body, `"c-1"`)
	assert.NotContains(t, body, `"p-7"`)
}

func TestNothingTellsOfWhatWasLeftOutButANumber(t *testing.T) {
	const secret = "obj-CANARY-left-out"
	entries := `[{"entry_id":"e1","object_id":"c-1","object_type":"Customer","property":"risk","side":"data","origin":"crm","value":1,
		"left_out":["` + secret + `"],"withheld":"` + secret + `","origin_hidden":{"object_id":"` + secret + `"}}]`
	plain := contextOf(t, attributes{ownContextEntries: entries, ownContextRanking: "recency"})
	for name, leftOut := range map[string]any{
		"a list of ids":     []any{secret},
		"a list in JSON":    `["` + secret + `"]`,
		"an object":         map[string]any{secret: 1},
		"an id":             secret,
		"a negative number": -1,
	} {
		o := newTestLifter(t).Span(modelCallSpan(attributes{
			ownContextEntries: entries, ownContextRanking: "recency", ownContextLeftOut: leftOut,
			"readtrail.context.left_out": secret, "readtrail.context.selection.denied": []any{secret}, "readtrail.context.withheld": secret,
		}).input(t))
		assert.NotContains(t, string(contextDraft(t, o)), "CANARY", name)
		assert.NotContains(t, string(lineage(t, o)), "CANARY", name)
		assert.Nil(t, o.Context.Selection.LeftOut, name)
		assert.Equal(t, plain.ContextDigest, o.Context.ContextDigest, name)
	}
	assert.EqualValues(t, 0, *contextOf(t, attributes{ownContextLeftOut: 0}).Selection.LeftOut)
	assert.EqualValues(t, 12, *contextOf(t, attributes{ownContextLeftOut: "12"}).Selection.LeftOut)
}

func TestAClaimIsSupportedOnlyByEntriesOfItsContext(t *testing.T) {
	c := contextOf(t, attributes{ownContextEntries: twoEntries, ownContextClaims: `[
		{"claim_id":"cl-1","entry_ids":["e1","e9"]},{"claim_id":"cl-2","entry_ids":["e1","of-another-execution"]},{"id":"cl-3","entry_ids":[]},{"claim_id":"cl-4"}]`})
	assert.Equal(t, []record.Claim{
		{ClaimID: "cl-1", EntryIDs: []string{"e1", "e9"}, Supported: true},
		{ClaimID: "cl-2", EntryIDs: []string{"e1", "of-another-execution"}},
		{ClaimID: "cl-3", EntryIDs: []string{}},
		{ClaimID: "cl-4", EntryIDs: []string{}},
	}, c.Claims)
}

func TestASummaryCarriesTheIdsOfItsEntriesOn(t *testing.T) {
	c := contextOf(t, attributes{ownContextEntries: `[
		{"entry_id":"s1","object_id":"c","object_type":"T","property":"summary","side":"data","origin":"runtime","derived_from":["e1","e2"],"value":"x"}]`})
	assert.Equal(t, []string{"e1", "e2"}, c.Entries[0].DerivedFrom)
}

func TestAListThatCannotBeRecordedWholeIsNotRecorded(t *testing.T) {
	const whole = `{"entry_id":"e1","object_id":"c","object_type":"T","property":"p","side":"data","origin":"s"}`
	without := func(member string) string { return strings.Replace(whole, `"`+member+`"`, `"x"`, 1) }
	for name, attrs := range map[string]attributes{
		"no list":               {ownContextEntries: "CANARY"},
		"without entry_id":      {ownContextEntries: "[" + whole + "," + without("entry_id") + "]"},
		"without object_id":     {ownContextEntries: "[" + without("object_id") + "]"},
		"without object_type":   {ownContextEntries: "[" + without("object_type") + "]"},
		"without property":      {ownContextEntries: "[" + without("property") + "]"},
		"without side":          {ownContextEntries: "[" + without("side") + "]"},
		"without origin":        {ownContextEntries: "[" + without("origin") + "]"},
		"a side of its own":     {ownContextEntries: "[" + strings.Replace(whole, `"data"`, `"CANARY"`, 1) + "]"},
		"an entry twice":        {ownContextEntries: "[" + whole + "," + whole + "]"},
		"derived from no name":  {ownContextEntries: "[" + strings.Replace(whole, `{`, `{"derived_from":[{}],`, 1) + "]"},
		"derived from one text": {ownContextEntries: "[" + strings.Replace(whole, `{`, `{"derived_from":"e0",`, 1) + "]"},
		"claims that are none":  {ownContextClaims: "CANARY"},
		"a claim without id":    {ownContextClaims: `[{"entry_ids":["e1"]}]`},
		"a citation of no name": {ownContextClaims: `[{"claim_id":"c","entry_ids":["e1",{}]}]`},
		"a citation as text":    {ownContextClaims: `[{"claim_id":"c","entry_ids":"e1"}]`},
	} {
		o := newTestLifter(t).Span(modelCallSpan(attrs).input(t))
		require.NotNil(t, o.Unrecordable, name)
		assert.Nil(t, o.Context, name)
		assert.Equal(t, record.ReasonInvalid, o.Unrecordable.Reason, name)
		d, err := record.NewUnrecordableDraft(*o.Header, *o.Unrecordable)
		require.NoError(t, err)
		assert.NotContains(t, string(complete(t, d)), "CANARY", name)
	}
	many := "[" + strings.TrimSuffix(strings.Repeat(whole+",", maxContextEntries+1), ",") + "]"
	o := newTestLifter(t).Span(modelCallSpan(attributes{ownContextEntries: many}).input(t))
	require.NotNil(t, o.Unrecordable)
	assert.Equal(t, record.ReasonTooLarge, o.Unrecordable.Reason)
}

func TestWhatBreaksARuleOrTheSchemaHasNoDraft(t *testing.T) {
	const entry = `{"entry_id":"e1","object_id":"c","object_type":"T","property":"p","side":"data","origin":"s"}`
	for name, attrs := range map[string]attributes{
		"an entry derived from itself": {ownContextEntries: "[" + strings.Replace(entry, "{", `{"derived_from":["e1"],`, 1) + "]"},
		"a claim twice":                {ownContextClaims: `[{"claim_id":"c","entry_ids":[]},{"claim_id":"c","entry_ids":[]}]`},
		"what looks like a password":   {ownContextEntries: "[" + strings.Replace(entry, `"c"`, `"password=hunter2"`, 1) + "]"},
	} {
		o := newTestLifter(t).Span(modelCallSpan(attrs).input(t))
		if o.Unrecordable != nil {
			continue
		}
		d, err := o.ContextDraft()
		if err == nil {
			assert.NotContains(t, string(complete(t, d)), "hunter2", name)
			continue
		}
		assert.Equal(t, record.ReasonInvalid, record.ReasonOf(err), name)
	}
}

func BenchmarkContextDraft(b *testing.B) {
	in := modelCallSpan(attributes{ownContextEntries: twoEntries, "gen_ai.output.messages": `[{"parts":[{"type":"tool_call","id":"call_1","name":"lookup"}]}]`}).input(b)
	l := newTestLifter(b)
	for b.Loop() {
		o := l.Span(in)
		if _, err := o.ContextDraft(); err != nil {
			b.Fatal(err)
		}
		o.Release()
	}
}

func TestWhatWasDroppedOnTheWayMakesTheInputTruncated(t *testing.T) {
	span := modelCallSpan(attributes{"gen_ai.input.messages": `[{"role":"user","content":"a"}]`})
	span.change = func(s ptrace.Span) { s.SetDroppedAttributesCount(1) }
	assert.Equal(t, record.CapturedTruncated, newTestLifter(t).Span(span.input(t)).Context.Capture.Input)
	assert.Equal(t, record.CapturedContent, contextOf(t, span.attrs).Capture.Input)
	fewer := contextOf(t, attributes{
		"gen_ai.input.messages": `[{"role":"user","content":"a"}]`, "sentry.sdk_meta.gen_ai.input.messages.original_length": 3,
	})
	assert.Equal(t, record.CapturedTruncated, fewer.Capture.Input)
}

func TestRequestedCallsAreFoundWhereLibrariesWriteThemAndNowhereElse(t *testing.T) {
	want := []record.RequestedCall{{ID: "call_1", ToolID: "lookup"}}
	for name, output := range map[string]string{
		"the conventions": `[{"role":"assistant","parts":[{"type":"text","content":"x"},{"type":"tool_call","id":"call_1","name":"lookup","arguments":{"id":"call_2","name":"no"}}]}]`,
		"OpenAI":          `{"choices":[{"message":{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"lookup","arguments":"{\"tool_calls\":[{\"id\":\"2\",\"name\":\"no\"}]}"}}]}}]}`,
		"OpenAI's answer": `{"output":[{"type":"function_call","call_id":"call_1","id":"fc_1","name":"lookup","arguments":"{}"}]}`,
		"Anthropic":       `[{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"lookup","input":{"type":"tool_use","id":"call_2","name":"no"}}]}]`,
		"Gemini":          `{"candidates":[{"content":{"parts":[{"functionCall":{"id":"call_1","name":"lookup","args":{"functionCall":{"name":"no"}}}}]}}]}`,
		"Bedrock":         `[{"content":[{"toolUse":{"toolUseId":"call_1","name":"lookup","input":{}}}]}]`,
		"Vercel":          `[{"toolCallId":"call_1","toolName":"lookup","input":"{\"toolCallId\":\"2\",\"toolName\":\"no\"}"}]`,
		"Genkit":          `{"message":{"content":[{"toolRequest":{"ref":"call_1","name":"lookup","input":{}}}]}}`,
		"twice":           `[{"parts":[{"type":"tool_call","id":"call_1","name":"lookup"}],"tool_calls":[{"id":"call_1","name":"lookup"}]}]`,
	} {
		assert.Equal(t, want, contextOf(t, attributes{"gen_ai.output.messages": output}).ToolCallsRequested, name)
	}
	for name, output := range map[string]string{
		"text":            `CANARY`,
		"a result":        `[{"type":"tool_call_response","id":"call_1","name":"lookup"}]`,
		"a text part":     `[{"parts":[{"type":"text","content":"{\"type\":\"tool_call\"}","id":"call_1"}]}]`,
		"a name of prose": `[{"parts":[{"type":"tool_call","id":"call_1","name":"Please do call CANARY for me today!"}]}]`,
	} {
		assert.Empty(t, contextOf(t, attributes{"gen_ai.output.messages": output}).ToolCallsRequested, name)
	}
}

func TestSpansThatAreNoModelCallsAndLogsWithoutInputMakeNoContext(t *testing.T) {
	l := newTestLifter(t)
	o := l.Span(testSpan{name: "execute_tool f", attrs: attributes{operation: "execute_tool", "gen_ai.tool.name": "f", ownContextEntries: twoEntries}}.input(t))
	assert.Nil(t, o.Context)
	require.NotNil(t, o.Read)
	off, err := New(Options{Profile: testProfile})
	require.NoError(t, err)
	assert.Nil(t, off.Span(modelCallSpan(attributes{ownContextEntries: twoEntries}).input(t)).Context)
	found := 0
	logs(t, filepath.Join(corpus, "otel-js-openai-0.21.0.logs.jsonl"), func(_ int, in LogInput) {
		if o := l.Log(in); o.Context != nil {
			found++
			assert.Equal(t, inferenceDetails, in.Log.EventName())
			assert.Equal(t, record.SignalLog, o.Context.ObservedBy.Signal)
		}
	})
	assert.Equal(t, 1, found)
}

func TestAContextIdIsGivenOrDerivedFromTheSpan(t *testing.T) {
	assert.Equal(t, "ctx-1", contextOf(t, attributes{ownContextID: "ctx-1"}).ContextID)
	derived := contextOf(t, nil).ContextID
	assert.True(t, strings.HasPrefix(derived, "ctx_"))
	assert.Equal(t, derived, contextOf(t, attributes{"gen_ai.input.messages": "[]"}).ContextID, "a span with ids is known by them")
	strangers := map[string]bool{}
	for _, text := range []string{"[1]", "[2]"} {
		span := modelCallSpan(attributes{"gen_ai.input.messages": text, ownExecutionID: ""})
		span.change = func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{}); s.SetSpanID(pcommon.SpanID{}) }
		c := newTestLifter(t).Span(span.input(t)).Context
		strangers[c.ContextID] = true
		assert.Equal(t, record.ItemExecution(c.ContextID), c.Correlation.ExecutionID)
	}
	assert.Len(t, strangers, 2)
}

// Whatever a row reads of a model call holds content, so that it is stripped too.
func TestWhatAModelCallIsReadFromHoldsContent(t *testing.T) {
	policy, err := content.NewPolicy(ContentPlaces(), nil)
	require.NoError(t, err)
	checked := 0
	for dialect := range modelCalls {
		all := modelCall(dialect)
		for _, f := range []field{inputMessages, systemInstructions, toolDefinitions, outputMessages} {
			for _, key := range keysOf(all[f]) {
				key = strings.Replace(key, "**", "0.content", 1)
				assert.Equal(t, content.Content, policy.Rule(key, 0).Class, key)
				checked++
			}
		}
	}
	assert.Positive(t, checked)
}
