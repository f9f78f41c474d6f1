// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// eventNames are names of span events and log events that conventions and
// libraries define. Any other name is taken to be text from outside.
var eventNames = patternSet(`
exception message
gen_ai.system.message gen_ai.user.message gen_ai.assistant.message gen_ai.tool.message gen_ai.choice gen_ai.content.prompt gen_ai.content.completion
gen_ai.client.inference.operation.details gen_ai.memory.operation.details gen_ai.evaluation.result gen_ai.client.operation.exception gen_ai.request.attempt
ai.stream.firstChunk ai.stream.finish
db.query.result db.query.embeddings db.search.result db.search.embeddings pinecone.query.request pinecone.query.result pinecone.query.result.N pinecone.query.result.N.metadata llm.content.completion.chunk
qdrant.search.request qdrant.search.result qdrant.search.result.N pinecone.query.result.N.values
memory.query memory.results memory.content tool.output rpc.message feature_flag.evaluation session.start session.end
tool_result tool_decision user_prompt assistant_response api_request api_response api_error api_request_body api_response_body mcp_server_connection
hook_execution_start hook_execution_complete plugin_loaded

claude_code.user_prompt claude_code.assistant_response claude_code.tool_result claude_code.tool_decision claude_code.tool.output claude_code.api_request
claude_code.api_response claude_code.api_error claude_code.api_request_body claude_code.api_response_body claude_code.mcp_server_connection
claude_code.hook_execution_start claude_code.hook_execution_complete claude_code.plugin_loaded
codex.conversation_starts codex.startup_phase codex.user_prompt codex.api_request codex.sse_event codex.websocket_connect codex.websocket_request
codex.websocket_event codex.tool_decision codex.tool_result codex.tool_call_received codex.tool_result_ready codex.sandbox_outcome codex.turn_ttft codex.turn_profile
gemini_cli.config gemini_cli.startup_stats gemini_cli.user_prompt gemini_cli.tool_call gemini_cli.hook_call gemini_cli.file_operation gemini_cli.api_request
gemini_cli.api_response gemini_cli.api_error gemini_cli.model_routing gemini_cli.flash_fallback gemini_cli.ripgrep_fallback gemini_cli.slash_command
gemini_cli.chat_compression gemini_cli.conversation_finished gemini_cli.loop_detected gemini_cli.next_speaker_check gemini_cli.agent.start gemini_cli.agent.finish
gemini_cli.plan.approval_mode_duration gemini_cli.plan.approval_mode_switch gemini_cli.conseca.verdict mcp.binding_catalog

claude_code.skill_activated claude_code.at_mention claude_code.compaction claude_code.auth claude_code.internal_error claude_code.plugin_installed
claude_code.permission_mode_changed claude_code.api_retries_exhausted claude_code.api_refusal claude_code.hook_registered claude_code.feedback_survey
skill_activated at_mention compaction permission_mode_changed api_retries_exhausted api_refusal hook_registered plugin_installed internal_error
codex.auth_recovery
qwen-code.config qwen-code.user_prompt qwen-code.user_retry qwen-code.tool_call qwen-code.repeated_tool_failure_guard qwen-code.api_request qwen-code.api_error
qwen-code.api_cancel qwen-code.api_response qwen-code.api_retry qwen-code.flash_fallback qwen-code.ripgrep_fallback qwen-code.ripgrep_runtime_recovery
qwen-code.next_speaker_check qwen-code.slash_command qwen-code.slash_command.model qwen-code.ide_connection qwen-code.chat_compression
qwen-code.chat.invalid_chunk qwen-code.chat.content_retry qwen-code.chat.content_retry_failure qwen-code.chat.protocol_tag_sanitized
qwen-code.conversation_finished qwen-code.malformed_json_response qwen-code.file_operation qwen-code.subagent_execution qwen-code.skill_launch qwen-code.auth
qwen-code.user_feedback qwen-code.tool_output_truncated qwen-code.prompt_suggestion qwen-code.speculation qwen-code.workflow_keyword qwen-code.workflow_run
qwen-code.workflow_size_warning qwen-code.memory.extract qwen-code.memory.dream qwen-code.memory.recall qwen-code.memory.recall.delivery qwen-code.memory.search
qwen-code.extension_install qwen-code.extension_uninstall qwen-code.extension_update qwen-code.extension_enable qwen-code.extension_disable
copilot_chat.session.start copilot_chat.tool.call copilot_chat.agent.turn copilot_chat.summarization
flue.log tool_schema user_message agent_message
`)

// KnownEventName reports whether the name of an event is one of a convention
// or a library, which says nothing about anybody.
func KnownEventName(name string) bool { return eventNames.has(name) }

// spanNames are whole span names that libraries give without anything of the
// call in them. Names with a tool or model in them are internal/genai's to
// judge, which knows the attributes that explain them.
var spanNames = wordSet(`
GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH HTTP
initialize ping tools/list resources/list resources/templates/list prompts/list notifications/initialized notifications/cancelled notifications/progress
initialize.mcp tools/list.mcp tools/call.mcp resources/list.mcp resources/read.mcp prompts/list.mcp prompts/get.mcp mcp.client.session mcp.server ResponseStreamWriter
chat embeddings retrieval rerank generate_content text_completion execute_tool invoke_agent create_agent invoke_workflow plan
create_memory_store search_memory create_memory update_memory upsert_memory delete_memory delete_memory_store
llm_call tool_call schedule_tool_calls agent_call user_prompt system_prompt call_llm send_data invocation execute_event_loop_cycle function_tool
claude_code.interaction claude_code.llm_request claude_code.hook claude_code.tool claude_code.tool.blocked_on_user claude_code.tool.execution
ai.generateText ai.generateText.doGenerate ai.streamText ai.streamText.doStream ai.generateObject ai.generateObject.doGenerate
ai.streamObject ai.streamObject.doStream ai.embed ai.embed.doEmbed ai.embedMany ai.embedMany.doEmbed ai.rerank ai.rerank.doRerank ai.toolCall
haystack.pipeline.run haystack.component.run haystack.agent.run haystack.agent.step haystack.agent.step.llm haystack.agent.step.tool
litellm_request raw_gen_ai_request anthropic.messages.create

qwen-code.interaction qwen-code.llm_request qwen-code.hook qwen-code.tool qwen-code.tool.blocked_on_user qwen-code.tool.execution qwen-code.subagent
execute_agent_loop_cycle agent_session agent_turn llm_node llm_request tts_node tts_request workflow.run workflow.build message.send
session_task.turn run_turn model_client.stream_responses_api handle_responses mcp.tools.call mcp.request handle_tool_call
add_collaboration_tools add_core_tool_sources add_core_utility_tools add_mcp_resource_tools add_shell_tools agents_md.discover agents_md.load
agents_md.refresh app_server.serialized_request_queue app_server.thread_start.attach_listener app_server.thread_start.config_snapshot
app_server.thread_start.notify_started app_server.thread_start.resolve_status app_server.thread_start.send_response app_server.thread_start.upsert_thread
append_dynamic_tool_runtimes append_items append_mcp_tools build_extension_turn_input_items build_model_visible_specs build_prompt build_skill_outcome
build_skills_and_plugins build_tool_call build_tool_router built_tools capability_roots.resolve capability_roots.snapshot_for_step
capture_binding_with_metadata codex.exec codex.process.spawn codex.sampling codex.tool_blocking codex.turn_input collect_explicit_skill_mentions
consume_startup_prewarm_for_regular_turn dispatch_tool_call_with_state drain_in_flight emit_turn_start_lifecycle endpoint_session.stream_encoded_json_with
environments.resolve environments.snapshot environments.wait_until_ready exec_server.environment.wait_until_ready extension_tool_executors
finalize_tool_router flush_assistant_text_segments_all flush_assistant_text_segments_for_item fs.get_metadata fs.read_file get_default_model get_model_info
guardian_scoring_observation handle_output_item_done handle_tool_call_with_source hosted_model_tool_specs instructions.load list_models
list_tools_for_client_uncached load_plugins_from_layer_stack load_skill_prompts load_with_cli_overrides make_rmcp_client mcp.runtime.apps_catalog_wait
mcp.runtime.refresh_if_dirty mcp.runtime.refresh_wait mcp.runtime.resolve_for_step mcp.runtime_config.project_for_step merge_connector_selection
merge_into_namespaces op.dispatch.shutdown op.dispatch.turn_input persist_rollout_items plugins_for_config prepare_call_for_tool
realtime_conversation.running_state receiving_stream recommended_plugin_candidates_for_config recommended_plugins_mode_for_config
record_context_updates_and_set_reference_context_item record_conversation_items regular_task.prepare_run_turn render_available_skills
responses.stream_request run_hooks_and_record_inputs run_legacy_after_agent_hook run_pending_session_start_hooks run_pre_sampling_compact
run_sampling_request run_session_end_hooks run_turn.collect_post_sampling_state run_turn.prepare_sampling_request_input run_turn_stop_hooks
send_raw_response_items session.flush_rollout session_init.auth_mcp session_init.plugin_skill_warmup session_init.required_mcp_wait session_init.state_db
session_init.thread_name_lookup session_init.thread_persistence session_loop session_task.run set_previous_turn_settings shell_snapshot
skills.executor.refresh_executor_catalog skills.shadow_selection.rank skills_for_config step_context.capture stream_request thread/items/list
thread/unsubscribe tool_dispatch.exclusive_lock tool_dispatch.parallel_lock tool_dispatch.wait_until_ready track_turn_resolved_config_analytics
try_run_sampling_request turn/start turn_context.build turn_context.make turn_diff_display_roots unified_exec.collect_output unified_exec.exec_command
unified_exec.open_session world_state.build
pg.connect pg-pool.connect redis-connect redis-GET redis-SET redis-HGET redis-HSET redis-DEL
chroma.get chroma.peek chroma.update chroma.upsert chroma.delete chroma.modify chroma.query.segment._query pinecone.delete
milvus.query milvus.get milvus.hybrid_search milvus.upsert milvus.delete milvus.create_collection lancedb.add lancedb.search lancedb.delete
marqo.search marqo.add_documents marqo.delete_documents qdrant.query_points qdrant.search_batch qdrant.query_batch_points qdrant.scroll qdrant.delete
qdrant.recommend qdrant.discover qdrant.add qdrant.upload_points qdrant.upload_collection
db.weaviate.collections.query.fetch_objects db.weaviate.collections.query.fetch_object_by_id db.weaviate.collections.query.get
db.weaviate.collections.get db.weaviate.collections.create db.weaviate.collections.data.insert db.weaviate.collections.data.update
db.weaviate.collections.data.replace db.weaviate.collections.batch.add_object db.weaviate.client.graphql_raw_query db.weaviate.gql.get.do
db.weaviate.gql.filter.do db.weaviate.gql.aggregate.do db.weaviate.gql.query.get db.weaviate.gql.query.raw
openai.chat openai.completion openai.embeddings openai.response anthropic.chat anthropic.completion cohere.chat cohere.completion cohere.rerank
bedrock.converse bedrock.completion gemini.generate_content ollama.chat mistralai.chat groq.chat together.chat
enter_ai_application_system memory_operation fastmcp.resource.read
bedrock.retrieve bedrock.retrieve_and_generate bedrock.invoke_model bedrock.invoke_agent ClaudeAgent.query
qdrant.retrieve vector_index_retriever.retrieve retriever_query_engine.retrieve retriever_query_engine.query compact_and_refine.synthesize context_chat_engine.chat
elastic.query qdrant.search qdrant.upsert qdrant.query pinecone.query pinecone.upsert chroma.query chroma.add milvus.search milvus.insert weaviate.query
`)

// spanPhrases are span names of several words, one a line. Those of Logfire are
// templates, with the names of attributes in braces and not their values.
var spanPhrases = lineSet(`
OpenAI Agents trace: {name}
Agent run: {name!r}
Function: {name}
Responses API with {gen_ai.request.model!r}
Chat completion with {gen_ai.request.model!r}
Handoff: {from_agent} → {to_agent}
Guardrail {name!r} triggered={triggered}
Custom span: {name}
`)

func lineSet(lines string) map[string]struct{} {
	set := make(map[string]struct{})
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			set[line] = struct{}{}
		}
	}
	return set
}

// KnownSpanName reports whether a span name is one that a library gives to
// every span of its kind.
func KnownSpanName(name string) bool {
	if _, ok := spanNames[name]; ok {
		return true
	}
	_, ok := spanPhrases[name]
	return ok
}

// RedactedName stands for a name that was not known to be harmless. OTLP
// requires a span to have a name.
const RedactedName = "redacted"

// severities are the severity texts of the OpenTelemetry data model and of
// common logging libraries.
var severities = wordSet(`TRACE TRACE2 TRACE3 TRACE4 DEBUG DEBUG2 DEBUG3 DEBUG4 INFO INFO2 INFO3 INFO4 WARN WARN2 WARN3 WARN4 WARNING
	ERROR ERROR2 ERROR3 ERROR4 FATAL FATAL2 FATAL3 FATAL4 CRITICAL NOTICE ALERT EMERGENCY VERBOSE SEVERE`)

// KnownSeverity reports whether s is a severity text, in any case.
func KnownSeverity(s string) bool {
	const longest = 16
	if len(s) > longest {
		return false
	}
	_, ok := severities[strings.ToUpper(s)]
	return ok
}

// IsSchemaURL reports whether a schema URL is one that OpenTelemetry
// publishes.
func IsSchemaURL(s string) bool {
	version, ok := strings.CutPrefix(s, "https://opentelemetry.io/schemas/")
	return ok && len(version) <= 16 && version != "" && allOf("0123456789.")(version)
}

// Threshold returns what a W3C tracestate says about sampling, "ot=" with its
// first th and rv members, or "": everything else in it is its vendor's.
func Threshold(traceState string) string {
	for entry := range strings.SplitSeq(traceState, ",") {
		members, ok := strings.CutPrefix(strings.TrimSpace(entry), "ot=")
		if !ok {
			continue
		}
		var kept []string
		var th, rv bool
		for member := range strings.SplitSeq(members, ";") {
			name, value, _ := strings.Cut(member, ":")
			if value == "" || len(value) > 14 || !isHex(value) {
				continue
			}
			switch {
			case name == "th" && !th:
				th = true
			case name == "rv" && !rv:
				rv = true
			default:
				continue
			}
			kept = append(kept, member)
		}
		if kept != nil {
			return "ot=" + strings.Join(kept, ";")
		}
	}
	return ""
}
