// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectClaudeCode = "claude-code"
	dialectCodex      = "codex"
	dialectCopilot    = "copilot"
)

// bySuccess is how coding agents say how a tool's call ended.
var bySuccess = outcomeOf("success", "true", "false")

// claudeCodeRows are Claude Code. One call of a tool is a span with others for
// its phases, of which only the outer one is a read, and a log record.
func claudeCodeRows() []row {
	common := fields{
		conversationID: attr("session.id"),
		agentID:        attr("agent_id"),
		model:          attr("model"),
	}.or(otelCommon)
	call := fields{toolCallID: attr("gen_ai.tool.call.id", "tool_use_id")}
	spans := func(name string, class Class, f fields) row {
		return row{dialect: dialectClaudeCode, when: named(name), class: class, fields: common.plus(f), names: []string{name}}
	}
	// Log records have the name of the event without a prefix in an attribute,
	// and with one in the body or in the newer field.
	event := func(names ...string) condition {
		var prefixed []string
		for _, name := range names {
			prefixed = append(prefixed, "claude_code."+name)
		}
		return either(all(named(names...), scope("com.anthropic.claude_code*")), named(prefixed...))
	}
	logs := func(class Class, when condition) row {
		return row{dialect: dialectClaudeCode, signal: isLog, when: when, class: class, fields: common}
	}
	return []row{
		{
			dialect: dialectClaudeCode, when: named("claude_code.tool"), class: ClassTool,
			fields: common.plus(call).plus(fields{
				toolName: attr("tool_name", "gen_ai.tool.name"),
				// What was asked stands in a key of the tool's own.
				arguments: attr("tool_input", "gen_ai.tool.call.arguments", "full_command", "file_path"),
				result: first(
					attr("gen_ai.tool.call.result", "tool_result"),
					eventAttr("tool.output", "output"), eventAttr("tool.output", "content"),
					wholeEvent("tool.output", "bash_command", "file_path"),
				),
			}),
			names: []string{"claude_code.tool"}, outcome: bySuccess,
		},
		spans("claude_code.tool.execution", ClassOther, call),
		spans("claude_code.tool.blocked_on_user", ClassOther, call),
		spans("claude_code.hook", ClassOther, nil),
		spans("claude_code.interaction", ClassAgent, nil),
		spans("claude_code.llm_request", ClassInference, nil),
		{
			dialect: dialectClaudeCode, signal: isLog, when: event("tool_result"), class: ClassTool,
			fields: common.plus(fields{
				toolName:   first(attr("tool_name"), inside(attr("tool_parameters"), "mcp_tool_name")),
				toolCallID: attr("tool_use_id"),
				arguments:  attr("tool_input", "tool_parameters"),
			}),
			outcome: bySuccess,
		},
		logs(ClassAgent, event("user_prompt")),
		logs(ClassInference, event("api_request", "api_response", "api_error", "api_request_body", "api_response_body", "assistant_response",
			"api_retries_exhausted", "api_refusal")),
		logs(ClassMCP, event("mcp_server_connection")),
		logs(ClassOther, either(scope("com.anthropic.claude_code*"), named("claude_code.*"))),
	}
}

// codexRows are Codex, of which spans hold no content and are named after
// functions of its source, and log records hold what tools were asked and
// answered. A span of a tool has the tool's name.
func codexRows() []row {
	library := either(scope("codex", "codex_*", "codex-*"), begins("code.module.name", "codex_"))
	common := fields{
		conversationID: attr("conversation.id", "gen_ai.conversation.id", "thread_id"),
		model:          attr("model", "gen_ai.request.model"),
	}
	tool := common.plus(fields{
		toolName:   attr("tool_name"),
		toolCallID: attr("call_id"),
	})
	logs := func(class Class, names ...string) row {
		return row{dialect: dialectCodex, signal: isLog, when: named(names...), class: class, fields: common}
	}
	return []row{
		{
			dialect: dialectCodex, when: all(either(is("codex.tool.phase", "dispatch"), namedBy("tool_name")), library, has("call_id")),
			class: ClassTool, fields: tool, names: []string{"{tool_name}"},
		},
		{
			dialect: dialectCodex, when: all(library, named("mcp.tools.call")), class: ClassMCP,
			fields: common.plus(fields{toolName: attr("tool.name"), toolCallID: attr("tool.call_id")}),
			names:  []string{"mcp.tools.call"},
		},
		{
			dialect: dialectCodex, when: all(library, named("model_client.stream_*")), class: ClassInference, fields: common,
			names: []string{"model_client.stream_responses_api", "model_client.stream_responses_websocket", "model_client.stream_chat_completions"},
		},
		// Requests within the program and those to the model's API are no effects
		// of a tool.
		{dialect: dialectCodex, when: besides(library), class: ClassOther, fields: common},
		{
			dialect: dialectCodex, signal: isLog, when: named("codex.tool_result"), class: ClassTool,
			fields: tool.plus(fields{
				arguments: attr("arguments"),
				result:    attr("output"),
			}),
			outcome: bySuccess,
		},
		logs(ClassAgent, "codex.user_prompt"),
		logs(ClassInference, "codex.api_request", "codex.sse_event", "codex.websocket_connect", "codex.websocket_request", "codex.websocket_event"),
		logs(ClassOther, "codex.*"),
	}
}

// copilotRows are GitHub Copilot Chat where it says more than the OpenTelemetry
// conventions.
func copilotRows() []row {
	library := either(
		scope("copilot-chat", "github.copilot*"),
		has("copilot_chat.chat_session_id", "copilot_chat.session_id", "copilot_chat.parent_chat_session_id"),
	)
	op := func(operations ...string) condition { return all(library, is(operation, operations...)) }
	common := fields{
		conversationID: attr("copilot_chat.chat_session_id", "copilot_chat.session_id"),
	}.or(otelCommon)
	return []row{
		{
			dialect: dialectCopilot, when: op("execute_tool"), class: ClassTool,
			fields: common.or(otelTool), names: otelToolNames,
		},
		{dialect: dialectCopilot, when: op(otelInference...), class: ClassInference, fields: common, names: otelInferenceNames},
		{dialect: dialectCopilot, when: op("embeddings"), class: ClassEmbedding, fields: common, names: otelInferenceNames},
		{dialect: dialectCopilot, when: op(otelAgent...), class: ClassAgent, fields: common, names: otelAgentNames},
		{
			dialect: dialectCopilot, when: either(is(operation, "content_event", "execute_hook"), op("user_message")), class: ClassOther, fields: common,
			names: []string{"{gen_ai.operation.name}", "execute_hook {copilot_chat.hook_type}"},
		},
		{
			dialect: dialectCopilot, signal: isLog, when: named("copilot_chat.tool.call"), class: ClassTool,
			fields: common.or(otelTool), outcome: bySuccess,
		},
		{dialect: dialectCopilot, signal: isLog, when: named("copilot_chat.agent.turn"), class: ClassAgent, fields: common},
		{dialect: dialectCopilot, signal: isLog, when: named("copilot_chat.*"), class: ClassOther, fields: common},
	}
}
