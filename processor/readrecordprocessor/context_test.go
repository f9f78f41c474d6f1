// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

func withContexts() *Config {
	cfg := defaults()
	cfg.Contexts = true
	return cfg
}

// modelSpan adds a model call with content.
func modelSpan(ss ptrace.ScopeSpans, id byte) ptrace.Span {
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(trace)
	span.SetSpanID(pcommon.SpanID{0, 0, 0, 0, 0, 0, 0, id})
	span.SetName("chat gpt-5.1")
	span.SetStartTimestamp(1_790_000_000_000_000_000)
	span.SetEndTimestamp(1_790_000_001_000_000_000 + pcommon.Timestamp(id))
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "chat")
	a.PutStr("gen_ai.request.model", "gpt-5.1")
	a.PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"`+canary+`"}]}]`)
	a.PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"tool_call","id":"call_a","name":"crm.customer.get","arguments":{"q":"`+canary+`"}}]}]`)
	return span
}

func TestAModelCallLeavesAContextBesideTheReads(t *testing.T) {
	td := ptrace.NewTraces()
	ss := newScope(td)
	toolSpan(ss, 1)
	span := modelSpan(ss, 2)
	span.Attributes().PutStr("readtrail.context.entries",
		`[{"entry_id":"e1","object_id":"c-1","object_type":"Customer","property":"risk","side":"data","origin":"crm-eu","value":"`+canary+`"}]`)
	span.Attributes().PutStr("readtrail.context.objects", "c-1")
	otherSpan(ss, 3)
	p, next := newTraces(t, settings(nil), withContexts())
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	batch := next.batch()
	require.Len(t, batch.Items, 2)
	assert.Equal(t, record.KindRead, batch.Items[0].Draft.Kind())
	d := batch.Items[1].Draft
	assert.Equal(t, record.KindContext, d.Kind())
	assert.False(t, d.OfActions())
	var c record.Context
	require.NoError(t, json.Unmarshal(d.Body(), &c))
	assert.Equal(t, record.FormEntries, c.ContextForm)
	assert.Equal(t, []record.RequestedCall{{ID: "call_a", ToolID: "crm.customer.get"}}, c.ToolCallsRequested)
	assert.NotContains(t, string(d.Body()), canary)
	assert.NotContains(t, next.json(t), canary)
	assert.NotContains(t, next.json(t), `"c-1"`, "the ids of objects do not go on to tracing")
	assert.Equal(t, 1, strings.Count(next.json(t), `"readtrail.read_id"`), "only reads are marked")
	verifyJournaled(t, batch)
}

func TestARetryOfAModelCallIsARepeat(t *testing.T) {
	var drafts []*record.Draft
	for range 2 {
		td := ptrace.NewTraces()
		modelSpan(newScope(td), 2)
		p, next := newTraces(t, settings(nil), withContexts())
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		drafts = append(drafts, next.batch().Items[0].Draft)
	}
	assert.Equal(t, drafts[0].ID(), drafts[1].ID())
	assert.Equal(t, drafts[0].Digest(), drafts[1].Digest())
}

func TestContextsAreMadeOnlyIfTheyAreWanted(t *testing.T) {
	for name, cfg := range map[string]*Config{"by default": defaults(), "without records": stripOnly()} {
		td := ptrace.NewTraces()
		modelSpan(newScope(td), 2)
		p, next := newTraces(t, settings(nil), cfg)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		if batch := next.batch(); batch != nil {
			assert.Empty(t, batch.Items, name)
		}
		assert.NotContains(t, next.json(t), canary, name)
	}
	cfg := stripOnly()
	cfg.Contexts = true
	require.ErrorContains(t, cfg.Validate(), "contexts")
}

func TestAContextThatCannotBeRecordedFailsNothingElse(t *testing.T) {
	td := ptrace.NewTraces()
	ss := newScope(td)
	modelSpan(ss, 2).Attributes().PutStr("readtrail.context.entries", canary)
	large := `{"entry_id":"e`
	entries := make([]string, 9000)
	for i := range entries {
		entries[i] = large + strings.Repeat("0", 80) + string(rune('a'+i%26)) + strings.Repeat("1", i/26%100) + strings.Repeat("2", i/2600) +
			`","object_id":"c","object_type":"T","property":"p","side":"data","origin":"s"}`
	}
	modelSpan(ss, 3).Attributes().PutStr("readtrail.context.entries", "["+strings.Join(entries, ",")+"]")
	toolSpan(ss, 1)
	p, next := newTraces(t, settings(nil), withContexts())
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	var reasons []string
	for _, item := range next.batch().Items[:2] {
		require.Equal(t, record.KindJournal, item.Draft.Kind())
		var j struct {
			Detail record.Unrecordable `json:"detail"`
		}
		require.NoError(t, json.Unmarshal(item.Draft.Body(), &j))
		reasons = append(reasons, j.Detail.Reason)
		assert.True(t, strings.HasPrefix(j.Detail.ItemID, "ctx_"))
	}
	assert.Equal(t, []string{record.ReasonInvalid, record.ReasonTooLarge}, reasons)
	assert.Equal(t, record.KindRead, next.batch().Items[2].Draft.Kind())
	assert.NotContains(t, next.json(t), canary)
}
