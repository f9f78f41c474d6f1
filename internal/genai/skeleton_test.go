// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

func TestASkeletonHasStructureAndNamesButNoContent(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{
		name: "invoke_agent kyc-refresh", kind: ptrace.SpanKindInternal,
		attrs: map[string]any{
			"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "kyc-refresh", "gen_ai.agent.id": "a1", "gen_ai.agent.version": "4.2.1",
			"gen_ai.request.model": "gpt-4o", "readtrail.edge.type": "delegated_job",
		},
		change: func(s ptrace.Span) {
			s.SetParentSpanID([8]byte{9})
			link := s.Links().AppendEmpty()
			link.SetTraceID([16]byte{1})
			link.SetSpanID([8]byte{2})
			s.Links().AppendEmpty() // without ids
		},
	}.input(t))
	assert.Equal(t, record.Span{
		SpanID: "0100000000000001", ParentSpanID: "0900000000000000", Name: "invoke_agent kyc-refresh", Kind: "internal", Class: "agent",
		StartedAt: record.TimeFromUnixNano(1_791_533_523_000_000_000), EndedAt: record.TimeFromUnixNano(1_791_533_523_418_000_000),
		Status: record.StatusOK, EdgeType: record.EdgeDelegatedJob,
		Links: []record.Link{{TraceID: "01000000000000000000000000000000", SpanID: "0200000000000000"}},
		Agent: &record.Agent{ID: "a1", Name: "kyc-refresh", Version: "4.2.1"}, Model: "gpt-4o",
	}, *o.Skeleton)
}

func TestASpanNameIsForwardedOnlyIfAttributesExplainAllOfIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		attrs map[string]any
		safe  bool
	}{
		{"execute_tool f", map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}, true},
		{"execute_tool f for Marta", map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}, false},
		{"execute_tool g", map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}, false},
		{"chat gpt-4o", map[string]any{"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}, true},
		{"ai.toolCall", map[string]any{"ai.operationId": "ai.toolCall"}, true},
		{"ai.toolCall kyc", map[string]any{"ai.operationId": "ai.toolCall"}, false},
		{"lookup", map[string]any{"openinference.span.kind": "TOOL", "tool.name": "lookup"}, true},
		{"lookup", map[string]any{"openinference.span.kind": "TOOL"}, false},
		{"GET", map[string]any{"http.request.method": "GET"}, true},
		{"GET /customers/{id}", map[string]any{"http.request.method": "GET", "http.route": "/customers/{id}"}, true},
		{"GET /customers/1234567", map[string]any{"http.request.method": "GET", "http.route": "/customers/1234567"}, false},
		{"SELECT accounts", map[string]any{"db.system.name": "postgresql", "db.operation.name": "SELECT", "db.collection.name": "accounts"}, true},
		{"SELECT * FROM accounts", map[string]any{"db.system.name": "postgresql"}, false},
		{"load_skill kyc", map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "load_skill", "gen_ai.skill.name": "kyc"}, true},
		{"read_skill_resource kyc", map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_skill_resource", "gen_ai.skill.name": "kyc",
		}, true},
		{"load_skill kyc", map[string]any{"gen_ai.operation.name": "load_skill", "gen_ai.skill.name": "kyc"}, true},
		{"load_skill Marta", map[string]any{"gen_ai.operation.name": "load_skill", "gen_ai.skill.name": "kyc"}, false},
		{"step 1", map[string]any{"gen_ai.operation.name": "agent_step"}, true},
		{"step 12", map[string]any{"gen_ai.operation.name": "agent_step"}, true},
		{"step 12345", map[string]any{"gen_ai.operation.name": "agent_step"}, false},
		{"step one", map[string]any{"gen_ai.operation.name": "agent_step"}, false},
		{"step ", map[string]any{"gen_ai.operation.name": "agent_step"}, false},
		{"step 1", map[string]any{}, false},
		{"tools/call f", map[string]any{"mcp.method.name": "tools/call"}, true},
		{"tools/call f", map[string]any{"mcp.method.name": "tools/call", "fastmcp.component.key": "tool:f@2"}, true},
		{"tools/call f", map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": "g"}, false},
		{"tools/call f for Marta", map[string]any{"mcp.method.name": "tools/call"}, false},
		{"initialize", map[string]any{}, true},
		{"tools/list", map[string]any{"rpc.system": "mcp"}, true},
		{"tools/list", map[string]any{"mcp.method.name": "tools/list"}, true},
		{"chat gpt-4o", map[string]any{"gen_ai.request.model": "gpt-4o"}, true},
		{"chat with Marta", map[string]any{"gen_ai.request.model": "gpt-4o"}, false},
		{"anything", map[string]any{}, false},
		{"", map[string]any{}, false},
	} {
		o := newTestLifter(t).Span(testSpan{name: c.name, attrs: c.attrs}.input(t))
		if c.safe {
			assert.Equal(t, c.name, o.SafeName)
			assert.Equal(t, c.name, o.Skeleton.Name)
			assert.Empty(t, o.Skeleton.NameDigest)
			continue
		}
		assert.Empty(t, o.SafeName, c.name)
		assert.Empty(t, o.Skeleton.Name)
		assert.True(t, strings.HasPrefix(o.Skeleton.NameDigest, "sha256:"))
	}
}

func TestStatusIsWhatTheSpanTells(t *testing.T) {
	exception := func(s ptrace.Span) { s.Events().AppendEmpty().SetName("exception") }
	for name, c := range map[string]struct {
		change func(ptrace.Span)
		want   record.Status
	}{
		"an unset status of a span that ended is ok": {func(ptrace.Span) {}, record.StatusOK},
		"ok is ok":                  {func(s ptrace.Span) { s.Status().SetCode(ptrace.StatusCodeOk); exception(s) }, record.StatusOK},
		"error is error":            {func(s ptrace.Span) { s.Status().SetCode(ptrace.StatusCodeError) }, record.StatusError},
		"an error type is an error": {func(s ptrace.Span) { s.Attributes().PutStr("error.type", "E") }, record.StatusError},
		"an exception of which nobody spoke is unknown": {exception, record.StatusUnknown},
		"a span without an end is unknown":              {func(s ptrace.Span) { s.SetEndTimestamp(0) }, record.StatusUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "execute_tool"}, change: c.change}.input(t))
			assert.Equal(t, c.want, o.Read.Response.Status)
			assert.Equal(t, c.want, o.Skeleton.Status)
		})
	}
}

func TestTheSamplingThresholdIsKept(t *testing.T) {
	for state, want := range map[string]string{
		"ot=th:c": "ot=th:c", "vendor=1, ot=rv:1;th:8a": "ot=th:8a", "ot=th:xyz": "", "ot=th:": "", "ot=th:123456789abcdef": "", "": "", "th:c": "",
	} {
		o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "execute_tool"}, change: func(s ptrace.Span) {
			s.TraceState().FromRaw(state)
		}}.input(t))
		assert.Equal(t, want, o.Read.ObservedBy.Sampling, state)
	}
}

func TestObservedBySaysWhoSawWhat(t *testing.T) {
	in := testSpan{scope: "kyc.agent", attrs: map[string]any{"gen_ai.operation.name": "execute_tool"}}.input(t)
	in.Upstream = "authenticated:agents"
	want := record.ObservedBy{
		UpstreamContextSource: "authenticated:agents", Signal: record.SignalSpan, Dialect: "otel-genai", ScopeName: "kyc.agent", ScopeVersion: "1.2.3",
	}
	assert.Equal(t, want, newTestLifter(t).Span(in).Read.ObservedBy)
	in.Upstream = ""
	in.Scope.SetName("free text, with a comma")
	o := newTestLifter(t).Span(in)
	require.NotNil(t, o.Read)
	assert.Equal(t, record.UnverifiedInput, o.Read.ObservedBy.UpstreamContextSource)
	assert.Empty(t, o.Read.ObservedBy.ScopeName)
}
