// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

const dialectMCP = "otel-mcp"

func mcpMethod(methods ...string) condition { return is("mcp.method.name", methods...) }

var mcpCommon = otelCommon.plus(fields{
	conversationID: attr("gen_ai.conversation.id", "session.id", "mcp.session.id"),
	requestID:      attr("jsonrpc.request.id", "mcp.request.id"),
})

// mcpTool are the fields of a tools/call. Its JSON-RPC id is no tool call id.
// FastMCP names the tool in a key of its own.
var mcpTool = mcpCommon.plus(fields{
	toolName: first(
		attr("gen_ai.tool.name", "mcp.tool.name"),
		fastMCPComponent("tool:", func(name, _ string) string { return name }),
		nameTail("tools/call "),
	),
	toolCallID:  attr("gen_ai.tool.call.id"),
	toolVersion: fastMCPComponent("tool:", func(_, version string) string { return version }),
	// Sentry writes one attribute for each argument and for each part of a result,
	// OpenLLMetry whole requests and responses.
	arguments: first(
		attr("gen_ai.tool.call.arguments", "mcp.tool.arguments", "mcp.parameters"), gathered("mcp.request.argument.", ""),
		unwrapped(attr("mcp.request.argument"), "arguments", "name", "arguments"), attr("mcp.request.argument"),
	),
	result: first(
		attr("gen_ai.tool.call.result", "mcp.tool.result.content", "mcp.tool.result"), gathered("mcp.tool.result.", ".content"),
		attr("mcp.response.value", "output.value"), // the latter LoongSuite
	),
})

var mcpToolNames = []string{
	"{mcp.method.name} {gen_ai.tool.name}", "{mcp.method.name} {mcp.tool.name}", "{mcp.method.name} {tool}", "{mcp.method.name}",
	"execute_tool {gen_ai.tool.name}",
}

// fastMCPComponent reads a part of the key of a FastMCP component, such as
// "tool:lookup" or "tool:lookup@2.0".
func fastMCPComponent(prefix string, part func(name, version string) string) []source {
	return []source{{read: func(it *item) value {
		key, ok := strings.CutPrefix(it.text("fastmcp.component.key"), prefix)
		if !ok {
			return value{}
		}
		name, version := key, ""
		if i := strings.LastIndexByte(key, '@'); i > 0 {
			name, version = key[:i], key[i+1:]
		}
		return valueOf(pcommon.NewValueStr(part(name, version)))
	}}}
}

// mcpReads are the reads among the conventions for MCP clients and servers. A
// tools/call is a tool that was executed.
func mcpReads() []row {
	return []row{
		{
			dialect: dialectMCP,
			when:    all(mcpMethod("tools/call"), datastore),
			class:   ClassRetrieval,
			fields:  mcpTool.or(otelRetrieval), documents: toolDocuments, names: mcpToolNames,
		},
		{
			dialect: dialectMCP,
			when:    mcpMethod("tools/call"),
			class:   ClassTool,
			fields:  mcpTool, names: mcpToolNames,
		},
		{
			dialect: dialectMCP,
			when:    mcpMethod("resources/read"),
			class:   ClassDocument,
			fields: mcpCommon.plus(fields{
				documentURI: attr("mcp.resource.uri"),
				arguments:   attr("gen_ai.tool.call.arguments", "mcp.resource.uri"),
				result:      attr("gen_ai.tool.call.result", "output.value"),
			}),
			names: []string{"{mcp.method.name}"},
		},
	}
}

// mcpOthers are the methods that read nothing.
func mcpOthers() []row {
	return []row{{
		dialect: dialectMCP,
		when:    has("mcp.method.name"),
		class:   ClassMCP,
		fields:  mcpCommon,
		names:   []string{"{mcp.method.name}", "{mcp.method.name} {gen_ai.prompt.name}", "{mcp.method.name} {mcp.prompt.name}"},
	}}
}
