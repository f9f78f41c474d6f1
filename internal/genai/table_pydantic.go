// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectPydantic    = "pydantic-ai"
	dialectLogfire     = "logfire"
	logfireAgentsScope = "logfire.openai_agents"
)

// pydanticRows are Pydantic AI in all versions of its instrumentation. The
// first two have keys and span names of their own and name no operation; since
// the third it writes the OpenTelemetry conventions.
func pydanticRows() []row {
	library := scope("pydantic-ai", "pydantic-ai.*", "pydantic_ai*")
	common := fields{
		executionID: attr("gen_ai.agent.call.id"),
		agentName:   attr("agent_name"),
	}.or(otelCommon)
	return []row{
		{
			dialect: dialectPydantic,
			when: all(library, either(
				is(operation, "execute_tool"),
				named("running tool", "running tool: *", "running output function*"),
				has("tool_arguments", "tool_response"),
			)),
			class: ClassTool,
			fields: common.plus(fields{
				toolName:   first(otelTool[toolName], nameTail("running tool: "), nameTail("running output function: ")),
				toolCallID: otelTool[toolCallID],
				arguments:  attr("tool_arguments", "gen_ai.tool.call.arguments"),
				result:     attr("tool_response", "gen_ai.tool.call.result"),
			}),
			names: append([]string{
				"running tool", "running tool: {gen_ai.tool.name}",
				"running output function", "running output function: {gen_ai.tool.name}",
			}, otelToolNames...),
		},
		{
			dialect: dialectPydantic,
			when: all(library, either(
				is(operation, otelAgent...),
				named("agent run", "agent run *"),
				has("all_messages_events", "pydantic_ai.all_messages", "final_result"),
			)),
			class: ClassAgent, fields: common,
			names: append([]string{"agent run", "{agent_name} run", "agent run {agent_name}"}, otelAgentNames...),
		},
		{
			dialect: dialectPydantic,
			when:    all(library, either(is(operation, otelInference...), all(lacks(operation), has("gen_ai.request.model")))),
			class:   ClassInference, fields: common,
			names: append([]string{"model request"}, append(otelInferenceNames, otelLegacyNames...)...),
		},
		{
			dialect: dialectPydantic, when: all(library, named("running tools", "running * tool*")), class: ClassOther, fields: common,
			names: []string{"running tools", "running {#} tools", "running {#} tool"},
		},
	}
}

// logfirePending is how Logfire tells that a span began: by another span, below
// the one that it exports when the work is done and which tells it all again.
func logfirePending() []row {
	return []row{{
		dialect: dialectLogfire, when: is("logfire.span_type", "pending_span"), class: ClassOther, fields: otelCommon,
	}}
}

// logfireRows are Logfire's bridges to the OpenAI Agents SDK and to MCP. Their
// span names are templates of messages and their keys common words, so that
// only the scope tells them.
func logfireRows() []row {
	agents := func(names ...string) condition { return all(scope(logfireAgentsScope), named(names...)) }
	// The server's side names the method in its span name only.
	mcpRequest := func(method string) condition {
		return all(scope("logfire.mcp"), either(is("rpc.method", method), named("MCP server handle request: "+method)))
	}
	mcpFields := fields{
		conversationID: attr("session.id"),
		requestID:      inside(attr("request"), "id"),
		result:         attr("response"),
	}
	return []row{
		{
			dialect: dialectLogfire, when: agents("Function: *"), class: ClassTool,
			fields: otelCommon.plus(fields{
				toolName:  first(attr("name"), nameTail("Function: ")),
				arguments: attr("input"),
				result:    attr("output"),
			}),
			names: []string{"Function: {tool}"},
		},
		{
			dialect: dialectLogfire, when: agents("Agent run*", "OpenAI Agents trace*", "Handoff*"), class: ClassAgent,
			fields: otelCommon,
		},
		{
			dialect: dialectLogfire,
			when:    either(agents("Responses API*", "Chat completion*"), besides(all(scope(logfireAgentsScope), has("gen_ai.request.model")))),
			class:   ClassInference, fields: otelCommon,
		},
		{dialect: dialectLogfire, when: agents("MCP*"), class: ClassMCP, fields: otelCommon},
		{dialect: dialectLogfire, when: besides(scope(logfireAgentsScope)), class: ClassOther, fields: otelCommon},
		{
			dialect: dialectLogfire, when: mcpRequest("tools/call"), class: ClassTool,
			fields: mcpFields.plus(fields{
				toolName: first(
					inside(attr("request"), "params", "name"),
					nameTail("MCP request: tools/call "),
				),
				arguments: inside(attr("request"), "params", "arguments"),
			}),
			names: []string{"MCP request: tools/call {tool}", "MCP request: tools/call", "MCP server handle request: tools/call"},
		},
		{
			dialect: dialectLogfire, when: mcpRequest("resources/read"), class: ClassDocument,
			fields: mcpFields.plus(fields{
				documentURI: inside(attr("request"), "params", "uri"),
				arguments:   inside(attr("request"), "params", "uri"),
			}),
			names: []string{"MCP request: resources/read", "MCP server handle request: resources/read"},
		},
		{
			dialect: dialectLogfire, when: besides(scope("logfire.mcp")), class: ClassMCP,
			fields: fields{conversationID: mcpFields[conversationID], requestID: mcpFields[requestID]},
			names:  []string{"MCP request: {rpc.method}", "MCP server log"},
		},
	}
}
