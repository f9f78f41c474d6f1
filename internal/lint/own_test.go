// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/lint"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
	"github.com/readtrail/readtrail/record"
)

// toolSpan returns a request with the span of a tool call.
func toolSpan(t *testing.T, attributes map[string]any) string {
	t.Helper()
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName("execute_tool dms.fetch")
	span.SetEndTimestamp(1)
	attributes["gen_ai.operation.name"], attributes["gen_ai.tool.name"] = "execute_tool", "dms.fetch"
	require.NoError(t, span.Attributes().FromRaw(attributes))
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return string(line)
}

// TestWhoSaysWhatAttributesMDOffersHasNothingToLookAt: a pipeline that demands
// exit code 0 must not fail for our own attributes, in none of their spellings.
func TestWhoSaysWhatAttributesMDOffersHasNothingToLookAt(t *testing.T) {
	own := func(more map[string]any) map[string]any {
		out := map[string]any{
			"readtrail.read_id": "read_1", "readtrail.event.id": "evt_1", "readtrail.execution.id": "run_1", "readtrail.correlation.id": "c_1",
			"readtrail.step.id": "s_1", "readtrail.request.id": "r_1", "execution_id": "run_1", "request_id": "r_1", "call_id": "call_1",
			"readtrail.edge.type": "local_call", "readtrail.action.id": "act_1", "readtrail.source.system": "dms-eu", "readtrail.source.kind": "document", "readtrail.tool.version": "1.2",
			"readtrail.record_refs": []any{"cust_1"}, "readtrail.source.record_version": 41, "readtrail.source.as_of": "2026-10-09T08:12:03Z",
			"readtrail.data_boundary": "b_eu", "readtrail.purpose": "kyc review", "readtrail.content_location": "s3://archive/x",
			"readtrail.document.id": "doc_1", "readtrail.document.checksum_sha256": strings.Repeat("aB", 32), "readtrail.document.object_version_id": "3",
			"readtrail.document.received_at": "2026-10-09T08:12:03Z", "readtrail.document.with_content": true, "readtrail.documents": []any{"doc_2"},
			"readtrail.retrieval.index_id": "idx", "readtrail.retrieval.build_version": "7", "readtrail.retrieval.top_k": 5, "readtrail.retrieval.chunks": []any{"c"},
			"readtrail.memory.store_id": "prefs", "readtrail.memory.operation": "search", "readtrail.memory.entries": `[{"id":"m"}]`,
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	for _, more := range []map[string]any{
		{},
		{"readtrail.record_refs": "cust_1", "readtrail.content_location": "crm-eu record history", "readtrail.document.checksum_sha256": "sha256:" + strings.Repeat("ab", 32)},
		{"readtrail.document.id": 4711, "readtrail.document.checksum_sha256": "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE="},
	} {
		r := lintText(t, toolSpan(t, own(more)))
		require.Equal(t, int64(1), r.Summary.Reads)
		assert.False(t, r.Summary.LookAt(), "%+v\n%s", r.Summary, spelled(t, r))
		assert.Empty(t, r.Keep)
	}
}

// TestSignalsAreToldApartWithoutRecordsToo: without records the lifter makes no
// record that would tell.
func TestSignalsAreToldApartWithoutRecordsToo(t *testing.T) {
	config := readrecordprocessor.NewFactory().CreateDefaultConfig().(*readrecordprocessor.Config)
	config.Records = false
	lifter, stripper, err := config.Compile()
	require.NoError(t, err)
	l := lint.New(lint.Options{Lifter: lifter, Stripper: stripper})
	require.NoError(t, l.Read(t.Context(), "in", strings.NewReader(oneSpan+"\n"+oneLog+"\n"+toolSpan(t, map[string]any{}))))
	r := l.Report()
	assert.Equal(t, [2]int64{2, 1}, [2]int64{r.Summary.Spans, r.Summary.LogRecords})
	for _, g := range r.Groups {
		assert.NotEmpty(t, g.Signal)
	}
}

func TestWhatIsKeptIsSaid(t *testing.T) {
	config := readrecordprocessor.NewFactory().CreateDefaultConfig().(*readrecordprocessor.Config)
	rule := genai.SourceRule{Match: genai.SourceMatch{Tool: "dms.*"}, Retention: genai.Retention{
		Content: record.Fields, Fields: []genai.FieldPath{{Result: "$.version"}},
		EvidenceStore: component.MustNewID("evidence_store"), Classification: "secret", AccessPolicyRef: "pol_1",
	}}
	config.Sources = []genai.SourceRule{rule}
	lines := toolSpan(t, map[string]any{"gen_ai.tool.call.result": `{"version":"v41"}`}) + "\n" + toolSpan(t, map[string]any{})
	for _, records := range []bool{true, false} {
		config.Records = records
		lifter, stripper, err := config.Compile()
		require.NoError(t, err)
		l := lint.New(lint.Options{Lifter: lifter, Stripper: stripper, Records: records})
		require.NoError(t, l.Read(t.Context(), "in", strings.NewReader(lines)))
		want := map[record.ContentStored]int64{record.Fields: 1, record.DigestOnly: 1}
		if !records {
			want = nil
		}
		assert.Equal(t, want, l.Report().Groups[0].Kept)
	}
}
