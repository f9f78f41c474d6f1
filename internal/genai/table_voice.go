// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectLiveKit = "livekit"
	dialectPipecat = "pipecat"
)

// liveKitRows are LiveKit Agents. Since 1.9 the keys of what is personal have a
// segment "pii".
func liveKitRows() []row {
	library := func(names ...string) condition { return all(scope("livekit-agents"), named(names...)) }
	common := fields{
		conversationID: attr("gen_ai.conversation.id", "lk.job_id", "session.id"),
		agentName:      attr("gen_ai.agent.name", "lk.agent_name", "lk.agent_label"),
	}.or(otelCommon)
	return []row{
		{
			dialect: dialectLiveKit, when: either(has("lk.function_tool.name", "lk.function_tool.id"), library("function_tool")), class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("lk.function_tool.name", "gen_ai.tool.name"),
				toolCallID: attr("lk.function_tool.id", "gen_ai.tool.call.id"),
				arguments:  attr("lk.pii.function_tool.arguments", "lk.function_tool.arguments", "gen_ai.tool.call.arguments"),
				result:     attr("lk.pii.function_tool.output", "lk.function_tool.output", "gen_ai.tool.call.result"),
			}),
			names:   append([]string{"function_tool"}, otelToolNames...),
			outcome: outcomeOf("lk.function_tool.is_error", "false", "true"),
		},
		{
			dialect: dialectLiveKit, when: library("llm_request", "realtime_inference"), class: ClassInference, fields: common,
			names: []string{"llm_request", "realtime_inference"},
		},
		{
			dialect: dialectLiveKit, when: library("agent_session", "agent_turn"), class: ClassAgent, fields: common,
			names: []string{"agent_session", "agent_turn"},
		},
		{
			// An attempt of a request, of which the request tells all.
			dialect: dialectLiveKit,
			when: library("llm_node", "llm_request_run", "tts_*", "user_*", "agent_speaking", "eou_*", "on_*", "job_entrypoint",
				"start_agent_activity", "drain_agent_activity", "realtime_metrics"),
			class: ClassOther, fields: common,
			names: []string{
				"llm_node", "llm_request_run", "tts_node", "tts_request", "tts_request_run", "user_turn", "user_speaking", "agent_speaking",
				"eou_detection", "eou_wait", "on_enter", "on_exit", "on_user_turn_completed", "job_entrypoint",
				"start_agent_activity", "drain_agent_activity", "realtime_metrics",
			},
		},
	}
}

// pipecatRows are Pipecat. Its spans of live models tell a call that a model
// asked for apart from the answer that it got.
func pipecatRows() []row {
	library := scope("pipecat", "pipecat.*")
	common := fields{conversationID: attr("conversation.id")}.or(otelCommon)
	names := []string{"llm", "llm_tool_call", "llm_tool_result", "llm_setup", "llm_response", "llm_request", "function_call", "stt", "tts", "turn", "conversation"}
	return []row{
		{
			dialect: dialectPipecat,
			when:    all(library, either(named("llm_tool_call"), is(operation, "llm_tool_call")), lacks("tool.result", "tool.result_status")),
			class:   ClassInference, fields: common, names: names,
		},
		{
			dialect: dialectPipecat,
			when: all(library, either(
				has("tool.function_name", "tool.call_id", "tool.result", "tool.result_status"), named("llm_tool_result"),
			)),
			class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("tool.function_name"),
				toolCallID: attr("tool.call_id"),
				arguments:  attr("tool.arguments"),
				result:     attr("tool.result"),
			}),
			names: names, outcome: outcomeOf("tool.result_status", "success", "error"),
		},
		{
			dialect: dialectPipecat,
			when:    all(library, either(is(operation, otelInference...), is(operation, "llm_request", "llm_response"))),
			class:   ClassInference, fields: common, names: append(names, otelInferenceNames...),
		},
		{dialect: dialectPipecat, when: all(library, named(names...)), class: ClassOther, fields: common, names: names},
	}
}
