// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectMCP = "otel-mcp"

// mcpRows are the conventions for MCP clients and servers (#39). A tools/call
// is a tool that was executed; its JSON-RPC id is no tool call id.
func mcpRows() []row {
	method := func(methods ...string) condition { return is("mcp.method.name", methods...) }
	common := otelCommon.plus(fields{
		conversationID: attr("gen_ai.conversation.id", "session.id", "mcp.session.id"),
		requestID:      attr("jsonrpc.request.id", "mcp.request.id"),
	})
	return []row{
		{
			dialect: dialectMCP,
			when:    method("tools/call"),
			class:   ClassTool,
			fields: common.plus(fields{
				toolName:   first(attr("gen_ai.tool.name", "mcp.tool.name"), nameTail("tools/call ")),
				toolCallID: attr("gen_ai.tool.call.id"),
				arguments:  attr("gen_ai.tool.call.arguments"),
				result:     attr("gen_ai.tool.call.result"),
			}),
			names: []string{
				"{mcp.method.name} {gen_ai.tool.name}", "{mcp.method.name} {mcp.tool.name}", "{mcp.method.name}",
				"execute_tool {gen_ai.tool.name}",
			},
		},
		{
			dialect: dialectMCP,
			when:    method("resources/read"),
			class:   ClassDocument,
			fields: common.plus(fields{
				documentURI: attr("mcp.resource.uri"),
				arguments:   attr("gen_ai.tool.call.arguments", "mcp.resource.uri"),
				result:      attr("gen_ai.tool.call.result"),
			}),
			names: []string{"{mcp.method.name}"},
		},
		{
			dialect: dialectMCP,
			when:    has("mcp.method.name"),
			class:   ClassMCP,
			fields:  common,
			names:   []string{"{mcp.method.name}", "{mcp.method.name} {gen_ai.prompt.name}"},
		},
	}
}
