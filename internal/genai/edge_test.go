// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

func TestAToolsNameSaysNothingAboutHowItsWorkIsHandedOver(t *testing.T) {
	for _, tool := range []string{"ssh_exec", "http_get", "delegate_job", "ssh", "POST", "sql.query", "kafka_send", "mcp__crm__get", "protocol_call"} {
		for _, kind := range []ptrace.SpanKind{internal, client, producer, consumer, ptrace.SpanKindUnspecified} {
			o := newTestLifter(t).Span(testSpan{name: "execute_tool " + tool, scope: "agent", kind: kind, attrs: map[string]any{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": `{"command":"ssh host","url":"http://x"}`,
			}}.input(t))
			require.NotNil(t, o.Read)
			assert.Empty(t, o.Skeleton.EdgeType, tool)
			assert.Nil(t, o.Skeleton.Effect, tool)
		}
	}
}

func TestAnEdgeIsRecordedWhereWorkIsHandedOver(t *testing.T) {
	tool := func(more map[string]any) map[string]any {
		attrs := map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "run"}
		for key, v := range more {
			attrs[key] = v
		}
		return attrs
	}
	for name, c := range map[string]struct {
		span   testSpan
		edge   record.EdgeType
		effect *record.Effect
	}{
		"the application says so":         {testSpan{kind: internal, attrs: tool(map[string]any{"readtrail.edge.type": "local_call"})}, record.EdgeLocalCall, nil},
		"the application says what is no": {testSpan{kind: internal, attrs: tool(map[string]any{"readtrail.edge.type": "teleport"})}, "", nil},
		"the application knows better than the protocol": {
			testSpan{kind: client, attrs: map[string]any{"http.method": "GET", "readtrail.edge.type": "delegated_job"}},
			record.EdgeDelegatedJob, &record.Effect{System: "http", Operation: "GET"},
		},
		"an MCP client": {testSpan{kind: client, attrs: map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": "run"}}, record.EdgeProtocolCall, nil},
		"an MCP client, whose span has the attributes of its transport": {
			testSpan{kind: client, attrs: tool(map[string]any{"mcp.method.name": "tools/call", "rpc.system": "mcp", "http.request.method": "POST", "server.address": "mcp"})},
			record.EdgeProtocolCall, nil,
		},
		"an MCP client of JSON-RPC": {testSpan{kind: client, attrs: map[string]any{"rpc.system": "jsonrpc", "rpc.method": "tools/call"}}, record.EdgeProtocolCall, nil},
		"an MCP server":             {testSpan{kind: server, attrs: map[string]any{"mcp.method.name": "tools/call", "rpc.system": "mcp"}}, "", nil},
		"an instrumentation of MCP": {
			testSpan{scope: "@traceloop/instrumentation-mcp", kind: client, attrs: map[string]any{"gen_ai.tool.name": "run"}}, record.EdgeProtocolCall, nil,
		},
		"an instrumentation of MCP, without a request": {testSpan{scope: "@traceloop/instrumentation-mcp", kind: client}, "", nil},
		"a tool that is a command": {
			testSpan{kind: internal, attrs: tool(map[string]any{"process.executable.name": "psql", "process.exit.code": 2})},
			"", &record.Effect{System: "process", Target: "psql", Status: "2"},
		},
		"a tool that is SSH": {
			testSpan{kind: internal, attrs: tool(map[string]any{"process.executable.name": "ssh", "server.address": "bastion", "process.exit.code": 0})},
			record.EdgeExternalAction, &record.Effect{System: "ssh", Operation: "ssh", Target: "bastion", Status: "0"},
		},
		"a retrieval that is a request to a database": {
			testSpan{kind: client, attrs: map[string]any{
				"gen_ai.operation.name": "retrieval", "db.system": "chroma", "db.operation": "query", "db.collection.name": "policies", "db.response.returned_rows": 2,
			}},
			record.EdgeExternalAction, &record.Effect{System: "chroma", Operation: "query", Collection: "policies", Rows: rows64(2)},
		},
		"an agent elsewhere, by no protocol": {testSpan{kind: client, attrs: map[string]any{"gen_ai.operation.name": "invoke_agent"}}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTestLifter(t).Span(c.span.input(t))
			assert.Equal(t, c.edge, o.Skeleton.EdgeType)
			assert.Equal(t, c.effect, o.Skeleton.Effect)
		})
	}
}
