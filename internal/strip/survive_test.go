// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// mustSurvive are the keys without whose values a trace is no longer one that
// its owner can use.
const mustSurvive = `
service.name service.namespace service.version telemetry.sdk.name telemetry.sdk.language telemetry.sdk.version host.name host.arch os.type
process.pid process.runtime.name process.runtime.version deployment.environment
gen_ai.operation.name gen_ai.provider.name gen_ai.system gen_ai.request.model gen_ai.response.model gen_ai.response.id gen_ai.output.type
gen_ai.tool.name gen_ai.tool.type gen_ai.tool.call.id gen_ai.tool.call_id gen_ai.agent.name gen_ai.agent.id gen_ai.conversation.id gen_ai.data_source.id gen_ai.workflow.name
gen_ai.prompt.name gen_ai.request.max_tokens gen_ai.request.temperature gen_ai.request.top_p gen_ai.request.top_k
gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.usage.total_tokens gen_ai.usage.cache_read.input_tokens gen_ai.usage.prompt_tokens gen_ai.usage.completion_tokens
openinference.span.kind llm.model_name llm.provider llm.system llm.token_count.prompt llm.token_count.completion llm.token_count.total input.mime_type output.mime_type
tool.name tool_call.id session.id agent.name embedding.model_name
ai.operationId operation.name resource.name ai.model.id ai.model.provider ai.toolCall.name ai.toolCall.id ai.response.id ai.response.model ai.response.timestamp ai.response.finishReason
ai.response.msToFinish ai.response.msToFirstChunk ai.usage.inputTokens ai.usage.outputTokens ai.usage.totalTokens ai.usage.tokens ai.settings.maxRetries
ai.telemetry.functionId ai.telemetry.metadata.sessionId
traceloop.span.kind traceloop.entity.name traceloop.workflow.name langfuse.observation.type langsmith.span.kind mastra.span.type genkit:name genkit:metadata:subtype
mcp.method.name mcp.tool.name mcp.request.id mcp.protocol.version mcp.server.name mcp.transport rpc.system rpc.method
db.system db.system.name db.operation.name db.collection.name db.namespace db.response.returned_rows db.vector.query.top_k
http.request.method http.response.status_code server.address server.port network.peer.address network.peer.port url.scheme error.type exception.type
tool_name tool_use_id call_id function_name model duration_ms input_tokens output_tokens conversation.id event.name prompt.id
`

var surviving = func() map[string]bool {
	set := map[string]bool{}
	for key := range strings.FieldsSeq(mustSurvive) {
		set[key] = true
	}
	return set
}()

// survivors checks that every value under a key of mustSurvive is there after
// stripping as it was before.
func survivors(t *testing.T, before, after pcommon.Map) {
	t.Helper()
	for key, want := range before.All() {
		if !surviving[key] || want.Type() == pcommon.ValueTypeEmpty {
			continue
		}
		got, ok := after.Get(key)
		if assert.True(t, ok, "%s=%s was removed", key, want.AsString()) {
			assert.Equal(t, want.AsRaw(), got.AsRaw(), key)
		}
	}
}

func TestWhatATraceIsUsedForSurvivesStrictMode(t *testing.T) {
	files, err := filepath.Glob("../../testdata/corpus/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			lines, err := os.ReadFile(file)
			require.NoError(t, err)
			stripper, err := New(Options{})
			require.NoError(t, err)
			for line := range bytes.Lines(lines) {
				if strings.HasSuffix(file, ".logs.jsonl") {
					logsSurvive(t, stripper, line)
				} else {
					tracesSurvive(t, stripper, line)
				}
			}
		})
	}
}

func tracesSurvive(t *testing.T, stripper *Stripper, line []byte) {
	before, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
	require.NoError(t, err)
	after := ptrace.NewTraces()
	before.CopyTo(after)
	stripper.traces(after)
	require.Equal(t, before.SpanCount(), after.SpanCount())
	for i, r := range before.ResourceSpans().All() {
		r2 := after.ResourceSpans().At(i)
		survivors(t, r.Resource().Attributes(), r2.Resource().Attributes())
		for j, scope := range r.ScopeSpans().All() {
			scope2 := r2.ScopeSpans().At(j)
			require.Equal(t, scope.Scope().Name(), scope2.Scope().Name())
			require.Equal(t, scope.Scope().Version(), scope2.Scope().Version())
			for k, span := range scope.Spans().All() {
				spanSurvives(t, span, scope2.Spans().At(k))
			}
		}
	}
}

func spanSurvives(t *testing.T, before, after ptrace.Span) {
	require.Equal(t, before.TraceID(), after.TraceID())
	require.Equal(t, before.SpanID(), after.SpanID())
	require.Equal(t, before.ParentSpanID(), after.ParentSpanID())
	require.Equal(t, before.Kind(), after.Kind())
	require.Equal(t, before.Flags(), after.Flags())
	require.Equal(t, before.StartTimestamp(), after.StartTimestamp())
	require.Equal(t, before.EndTimestamp(), after.EndTimestamp())
	require.Equal(t, before.Status().Code(), after.Status().Code())
	require.Equal(t, before.Events().Len(), after.Events().Len())
	require.Equal(t, before.Links().Len(), after.Links().Len())
	require.NotEmpty(t, after.Name())
	survivors(t, before.Attributes(), after.Attributes())
	for i, e := range before.Events().All() {
		require.Equal(t, e.Timestamp(), after.Events().At(i).Timestamp())
		survivors(t, e.Attributes(), after.Events().At(i).Attributes())
	}
	for i, l := range before.Links().All() {
		require.Equal(t, l.TraceID(), after.Links().At(i).TraceID())
		require.Equal(t, l.SpanID(), after.Links().At(i).SpanID())
	}
}

func logsSurvive(t *testing.T, stripper *Stripper, line []byte) {
	before, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
	require.NoError(t, err)
	after := plog.NewLogs()
	before.CopyTo(after)
	stripper.logs(after)
	require.Equal(t, before.LogRecordCount(), after.LogRecordCount())
	for i, r := range before.ResourceLogs().All() {
		r2 := after.ResourceLogs().At(i)
		survivors(t, r.Resource().Attributes(), r2.Resource().Attributes())
		for j, scope := range r.ScopeLogs().All() {
			for k, log := range scope.LogRecords().All() {
				log2 := r2.ScopeLogs().At(j).LogRecords().At(k)
				require.Equal(t, log.TraceID(), log2.TraceID())
				require.Equal(t, log.SpanID(), log2.SpanID())
				require.Equal(t, log.Timestamp(), log2.Timestamp())
				require.Equal(t, log.SeverityText(), log2.SeverityText())
				require.Equal(t, log.SeverityNumber(), log2.SeverityNumber())
				survivors(t, log.Attributes(), log2.Attributes())
			}
		}
	}
}
