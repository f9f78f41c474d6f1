// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectGeminiCLI = "gemini-cli"
	dialectQwenCode  = "qwen-code"
)

// geminiRows are Gemini CLI and, in log records, its fork Qwen Code. What spans
// hold under the keys of messages are the arguments and the result of a tool as
// its scheduler has them, which are no messages.
func geminiRows() []row {
	op := func(operations ...string) condition {
		return all(is(operation, operations...), either(
			scope("gemini-cli*", "qwen-code*"), is("gen_ai.agent.name", "gemini-cli", "qwen-code"), has("gen_ai.tool.call_id"),
		))
	}
	// Every call of a model is a trace of its own; what holds a run together is
	// the id of its prompt.
	messages := attr("gen_ai.input.messages")
	common := fields{
		executionID: first(inside(messages, "prompt_id"), inside(messages, "0", "prompt_id")),
	}.or(otelCommon)
	names := []string{"{gen_ai.operation.name}"}
	return append([]row{
		{
			dialect: dialectGeminiCLI, when: op("tool_call"), class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("gen_ai.tool.name"),
				toolCallID: attr("gen_ai.tool.call_id", "gen_ai.tool.call.id"),
				arguments:  attr("gen_ai.input.messages"),
				result:     attr("gen_ai.output.messages"),
			}),
			names: names,
		},
		{
			dialect: dialectGeminiCLI, when: op("llm_call"), class: ClassInference,
			fields: common.plus(fields{executionID: attr("gen_ai.prompt.name")}), names: names,
		},
		{dialect: dialectGeminiCLI, when: op("agent_call", "user_prompt"), class: ClassAgent, fields: common, names: names},
		// It repeats the arguments and results of the calls that it schedules.
		{dialect: dialectGeminiCLI, when: op("schedule_tool_calls", "system_prompt"), class: ClassOther, fields: common, names: names},
	}, append(geminiLogRows(dialectGeminiCLI, "gemini_cli"), geminiLogRows(dialectQwenCode, "qwen-code")...)...)
}

// geminiTool are the keys of a tool's call in a log record, which has the
// result's size only.
var geminiTool = fields{
	conversationID: attr("session.id"),
	executionID:    attr("prompt_id"),
	toolName:       attr("function_name"),
	toolCallID:     attr("call_id", "tool.call_id"),
	arguments:      attr("function_args"),
}

func geminiLogRows(dialect, prefix string) []row {
	common := fields{
		conversationID: attr("session.id"),
		executionID:    attr("prompt_id"),
		model:          attr("model"),
	}
	event := func(class Class, names ...string) row {
		for i, name := range names {
			names[i] = prefix + "." + name
		}
		return row{dialect: dialect, signal: isLog, when: named(names...), class: class, fields: common}
	}
	tool := event(ClassTool, "tool_call")
	tool.fields, tool.outcome = geminiTool, bySuccess
	return []row{
		tool,
		event(ClassAgent, "user_prompt", "agent.start", "agent.finish", "subagent_execution"),
		event(ClassInference, "api_request", "api_response", "api_error", "api_cancel"),
		event(ClassOther, "*"),
	}
}

// qwenRows are the spans of Qwen Code, which has a tree of its own: that of
// Claude Code under other names. A processor of it makes spans of log records
// for those who take no logs.
func qwenRows() []row {
	common := fields{
		conversationID: attr("gen_ai.conversation.id", "session.id"),
		executionID:    attr("qwen-code.prompt_id", "prompt_id"),
		agentName:      attr("qwen-code.subagent.name"),
	}.or(otelCommon)
	call := fields{toolCallID: attr("gen_ai.tool.call.id", "tool.call_id", "call_id")}
	spans := func(name string, class Class, f fields) row {
		return row{dialect: dialectQwenCode, when: named(name), class: class, fields: common.plus(f), names: []string{name}}
	}
	bridge := func(class Class, f fields, names ...string) row {
		return row{dialect: dialectQwenCode, when: all(has("log.bridge"), is("event.name", names...)), class: class, fields: f}
	}
	tool := bridge(ClassTool, geminiTool, "qwen-code.tool_call")
	tool.outcome = bySuccess
	return []row{
		{
			dialect: dialectQwenCode, when: named("qwen-code.tool"), class: ClassTool,
			fields: common.plus(call).plus(fields{
				toolName:  attr("gen_ai.tool.name", "tool.name", "tool_name"),
				arguments: attr("gen_ai.tool.call.arguments", "tool_input"),
				result:    attr("gen_ai.tool.call.result", "tool_result"),
			}),
			names: []string{"qwen-code.tool"}, outcome: bySuccess,
		},
		spans("qwen-code.tool.execution", ClassOther, call),
		spans("qwen-code.tool.blocked_on_user", ClassOther, call),
		spans("qwen-code.hook", ClassOther, call),
		spans("qwen-code.interaction", ClassAgent, nil),
		spans("qwen-code.subagent", ClassAgent, nil),
		spans("qwen-code.llm_request", ClassInference, nil),
		tool,
		bridge(ClassAgent, common, "qwen-code.user_prompt", "qwen-code.subagent_execution"),
		bridge(ClassInference, common, "qwen-code.api_request", "qwen-code.api_response", "qwen-code.api_error"),
		{dialect: dialectQwenCode, when: all(has("log.bridge"), begins("event.name", "qwen-code.")), class: ClassOther, fields: common},
	}
}
