// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// This file is the list of content-bearing places. A further dialect adds rows
// here and in harmless.go, and its scopes, events and names to the lists in
// gates.go and names.go.
//
// A pattern is a key with wildcards: N is an index, * is any one segment,
// and a last segment ** is any number of segments. What a wildcard stands for
// is text of somebody's choosing: see vocabulary.

// contentPlaces hold prompts, arguments, results, documents, messages.
const contentPlaces = `
gen_ai.input.messages gen_ai.input.messages_delta gen_ai.output.messages gen_ai.system_instructions gen_ai.tool.definitions
gen_ai.tool.call.arguments gen_ai.tool.call.result gen_ai.tool.input gen_ai.tool.output gen_ai.tool.args gen_ai.tool.message gen_ai.tool.description
gen_ai.retrieval.query.text gen_ai.retrieval.query gen_ai.retrieval.documents
gen_ai.memory.query.text gen_ai.memory.records gen_ai.memory.search.query gen_ai.memory.metadata gen_ai.memory.input.messages gen_ai.memory.output.messages
gen_ai.prompt gen_ai.prompt.N.** gen_ai.prompt.variable.** gen_ai.prompt.prompt_filter_results gen_ai.prompt.template gen_ai.prompt.template_variables
gen_ai.completion gen_ai.completion.N.**
gen_ai.event.content gen_ai.choice gen_ai.user.message gen_ai.system.message gen_ai.assistant.message
gen_ai.content.prompt gen_ai.content.completion gen_ai.content.completion.chunk gen_ai.content.reasoning gen_ai.content.revised_prompt
gen_ai.request.messages gen_ai.request.content gen_ai.request.available_tools gen_ai.request.extra_body gen_ai.request.extra_query
gen_ai.request.stop_sequences gen_ai.request.user gen_ai.request.instructions gen_ai.request.functions.**
gen_ai.response.content gen_ai.response.text gen_ai.response.tool_calls gen_ai.response.object gen_ai.response.reasoning
gen_ai.embeddings.input gen_ai.evaluation.explanation gen_ai.task.input gen_ai.task.output gen_ai.workflow.input gen_ai.workflow.output
gen_ai.execution.payload gen_ai.orchestrator.agent.definitions gen_ai.framework.pipeline.input_data gen_ai.framework.pipeline.output_data
gen_ai.agent.description gen_ai.agent.goal gen_ai.agent.context gen_ai.agent.instructions gen_ai.agent.task gen_ai.agent.params gen_ai.agent.expected_output
gen_ai.agent.actual_output gen_ai.agent.human_input gen_ai.agent.tool_results gen_ai.agent.browse_url gen_ai.skill.description
gen_ai.serialized.** gen_ai.rerank.input_documents gen_ai.rerank.output_documents gen_ai.rerank.scoring_prompt gen_ai.realtime.** gen_ai.security.**
gen_ai.guardrail.input gen_ai.guardrail.output gen_ai.handoff.input gen_ai.handoff.context
microsoft.security.content.input.value microsoft.security.content.output.value

input.value output.value metadata metadata.** tool.parameters tool.result tool.description tool.json_schema system_prompt retrieval.query retrieval.document
llm.function_call llm.invocation_parameters llm.prompts llm.prompts.** llm.choices.** llm.tools.** llm.prompt_template.**
llm.input_messages.** llm.output_messages.** llm.request.functions.** llm.content.completion.chunk llm.content.completion.chunk.**
embedding.embeddings.** embedding.invocation_parameters embedding.text embedding.vector retrieval.documents.** reranker.**
message.** message_content.** document.content document.metadata audio.url audio.transcript image.url guard.explanation
llm.anthropic.** llm.azure.** llm.azure_ai.** llm.bedrock.** llm.cohere.** llm.deepseek.** llm.gemini.** llm.google.** llm.groq.** llm.huggingface.**
llm.litellm_proxy.** llm.mistral.** llm.ollama.** llm.openai.** llm.openrouter.** llm.sagemaker.** llm.together_ai.** llm.vertex_ai.** llm.watsonx.** llm.xai.**

traceloop.entity.input traceloop.entity.output traceloop.prompt.template traceloop.prompt.template_variables traceloop.prompt.template.**
traceloop.prompt.template_variables.** traceloop.association.properties.** crewai.**

mcp.request.argument mcp.request.argument.** mcp.request.params mcp.response.value mcp.session.init_options mcp.logging.message
mcp.tool.result.** mcp.prompt.result.** mcp.resource.result.** fastmcp.resource.output

tool_arguments tool_response tool_parameters tool_input function_args all_messages_events pydantic_ai.all_messages pydantic_ai.tool.deferral.metadata final_result
model_request_parameters request_data response_data raw_input mcp_data logfire.msg logfire.msg_template logfire.json_schema
gcp.vertex.agent.tool_call_args gcp.vertex.agent.tool_response gcp.vertex.agent.llm_request gcp.vertex.agent.llm_response gcp.vertex.agent.data
adk.experimental.grounding.web_search_queries adk.experimental.grounding.source_uris
genkit:input genkit:output mlflow.spanInputs mlflow.spanOutputs
spring.ai.tool.call.arguments spring.ai.tool.call.result spring.ai.tool.definition.description spring.ai.tool.definition.schema
spring.ai.chat.client.user.text spring.ai.chat.client.system.text spring.ai.chat.client.tool.**
haystack.*.input haystack.*.output haystack.*.input_data haystack.*.output_data haystack.*.metadata haystack.agent.step.tool.input haystack.agent.step.tool.output
haystack.agent.step.llm.input haystack.agent.step.llm.output haystack.agent.hook.human_in_the_loop.strategy.input haystack.agent.hook.human_in_the_loop.strategy.output
haystack.tool.description
mastra.*.input mastra.*.output mastra.log.cause mastra.log.details mastra.log.loggerVNext mastra.log.metrics mastra.log.tracing mastra.log.model
mastra.log.description mastra.metadata.**
flue.*.input flue.*.output flue.*.arguments flue.*.result flue.*.prompt flue.*.payload
lk.pii.** lk.function_tool.arguments lk.function_tool.output lk.chat_ctx lk.input_text lk.user_input lk.user_transcript lk.response.text lk.instructions
code.function.parameters.*.value code.function.return.value

langsmith.metadata.** langsmith.span.tags
langfuse.observation.input langfuse.observation.output langfuse.observation.metadata langfuse.observation.metadata.** langfuse.observation.status_message
langfuse.observation.model.parameters langfuse.observation.prompt.** langfuse.trace.input langfuse.trace.output langfuse.trace.metadata langfuse.trace.metadata.**
langfuse.experiment.item.expected_output langfuse.experiment.item.metadata langfuse.experiment.item.input langfuse.experiment.metadata

ai.**

full_command bash_command user_prompt system_prompt_preview request_text response_text verdict_rationale
copilot_chat.user_request copilot_chat.prompt_context copilot_chat.prompt_instructions copilot_chat.reasoning_content copilot_chat.markdown_content
copilot_chat.hook_input copilot_chat.hook_output copilot_chat.hook_command
crew_inputs crew_output crew_tasks_output task_output formatted_description formatted_expected_output crew_agents crew_tasks

db.query.text db.statement db.where_document db.filter db.metadata db.update.metadata db.update.values db.postgresql.plan db.postgresql.values
db.query.parameter.** db.operation.parameter.** db.query.result db.query.result.** db.search.result db.search.result.** db.query.embeddings.** db.search.embeddings.**
db.vector.query.content db.vector.query.filter db.vector.query.metadata_filter db.vector.query.response.documents db.vector.query.result.** db.vector.query.embeddings.**
db.elasticsearch.path_parts.** db.chroma.query.where db.chroma.query.where_document db.chroma.get.where db.chroma.get.where_document db.chroma.delete.where
db.chroma.delete.where_document db.milvus.search.filter db.milvus.query.filter db.milvus.delete.filter db.milvus.search.annsearch_request db.marqo.search.query
pinecone.query.filter pinecone.query.queries

tool.arguments input-json output-json gen_ai.agent.system_prompt agent_message new_context response.model_output tool_result tool_definition
copilot_chat.request.options copilot_chat.request.shape copilot_chat.repo.remote_url copilot_chat.file.relative_path github.copilot.tool.parameters.**
gen_ai.tool.arguments genkit:metadata:context flue.log.message flue.log.attributes flue.task.cwd lk.session_options lk.room_name lk.participant_identity
lk.response.function_calls lk.function_tools executor.input executor.output workflow.definition workflow.input workflow.output tools.definitions text_output
hook_definitions hook_input hook_output post_batch_stop_reason crew_fingerprint_metadata

http.request.body http.request.body.content http.response.body http.response.body.content
messaging.kafka.message.key messaging.message.body exception.message exception.stacktrace error.message error.stack

mcp.parameters mcp.params mcp.result mcp.request.payload mcp.response.payload mcp.tool.arguments mcp.tool.result mcp.tool.description mcp.error.message
mcp.error.data mcp.sampling.messages mcp.progress.message mcp.completion.argument.value mcp.completion.context.arguments mcp.completion.values
mcp.resource.description mcp.prompt.description mcp.fastmcp.server.instructions mcp.fastmcp.tool.annotations mcp.elicitation.schema
mlflow.chat.messages mlflow.chat.tools langsmith.span.runtime hidden_params guardrail_response guardrail_request pinecone.query.id
db.milvus.search.search_params db.weaviate.** weaviate.** openai.agent.handoff0 openai.agent.handoff1 openai.agent.handoff2 openai.agent.handoff3
gen_ai.memory.input gen_ai.message.content gen_ai.tool.result gen_ai.tool.schema gen_ai.tool.parameters gen_ai.tool.input_kwargs gen_ai.tool.error
gen_ai.vectordb.search.query gen_ai.knowledge.search.query gen_ai.execution.input gen_ai.execution.output gen_ai.execution.error gen_ai.rerank.query
gen_ai.framework.error.message gen_ai.framework.pipeline.metadata gen_ai.agent.step_messages gen_ai.agent.introduction gen_ai.workflow.description

gen_ai.action.error gen_ai.agent.action.log gen_ai.agent.action.tool_input gen_ai.agent.actions gen_ai.agent.evaluation gen_ai.agent.final_result gen_ai.agent.finish.log
gen_ai.agent.finish.output gen_ai.agent.input gen_ai.agent.memory gen_ai.agent.next_goal gen_ai.agent.page_title gen_ai.agent.thinking gen_ai.evaluation.result
gen_ai.response.description gen_ai.response.error gen_ai.response.image gen_ai.response.title gen_ai.response.warning gen_ai.tool.definition gen_ai.tools.message
gen_ai.guardrail.error.message error.response_text mcp.completion.argument_value mcp.completion.context_arguments mcp.fastmcp.prompt.arguments mcp.errors
mcp.cancelled.reason rpc.jsonrpc.error_message traceloop.association.properties llm.request.functions llm.chat.stop_sequences langsmith.metadata
langfuse.experiment.description lk.amd.reason db.vector.get.selector db.vector.delete.selector anthropic.tool_result.content
agent.workingMemory.content agent.workingMemory.finalContent eval.expected eval.input eval.output eval.scorer.error_message eval.scorer.metadata eval.scorer.result
guardrail.chunk.text guardrail.input.** guardrail.output.** guardrail.message guardrail.reason guardrail.metadata guardrail.result.metadata guardrail.warnings
middleware.input.** middleware.output.** middleware.metadata middleware.warnings rag.references tool.search.query search.query
workflow.context workflow.state workflow.stateSnapshot workflow.step.state suspension.data suspension.reason resume.data workspace.error workspace.fs.path workspace.fs.pattern
workspace.sandbox.args workspace.sandbox.command workspace.sandbox.cwd workspace.search.query workspace.search.results planagent.task.description
planagent.task.response_preview planagent.todos voltagent.trigger.context
vercel.ai.settings.context vercel.ai.settings.context.** vercel.ai.telemetry.metadata vercel.ai.telemetry.metadata.** vercel.ai.tool_call.context
sentry.description sentry.normalized_description sentry.normalized_db_query sentry.message.template sentry.message.parameter.** sentry.status.message span.status.message
db.params db.query db.query.parameter db.operation.parameter db.redis.parameters redis.command cloudflare.durable_object.query.bindings graphql.document
http.query http.request.body.data url.path.parameter.** url.path.params remix.action_form_data messaging.rocketmq.message.keys feature_flag.result.value
grpc.error.bad_request.field_violations grpc.error.debug_info.detail grpc.error.debug_info.stack_entries grpc.error.error_info.metadata
grpc.error.precondition_failure.violations grpc.error.quota_failure.violations grpc.error.resource_info.description

langchain.chain.inputs langchain.chain.outputs grpc.error_message
microsoft.security.decision.reason microsoft.security.risk.metadata microsoft.security.risk.metadata.** microsoft.session.description
microsoft.a365.agent.thought.process microsoft.channel.link microsoft.conversation.item.link
agent.instructions agent.messages agent.messages.ui agent.stateSnapshot llm.messages
prompt_text user_system_prompt system_reminders aws.s3.key aws.s3.copy_source
gen_ai.input.multimodal_metadata gen_ai.output.multimodal_metadata gen_ai.request.structured_output_schema

gen_ai.action.file_path gen_ai.agent.action_errors
gen_ai.agent.tool.errors gen_ai.browser.action.selector gen_ai.browser.action.target gen_ai.browser.action.value gen_ai.browser.console.logs
gen_ai.browser.error.message gen_ai.browser.javascript.errors gen_ai.browser.network.failed_requests gen_ai.browser.page.title gen_ai.browser.page.url
gen_ai.browser.page_title gen_ai.browser.task.description gen_ai.crawl.js_code gen_ai.crawl.proxy_config gen_ai.crawl.result.redirected_url
gen_ai.extraction.error gen_ai.extraction.instruction gen_ai.extraction.schema gen_ai.framework.document.sources gen_ai.framework.query.text
gen_ai.openai.file.filename gen_ai.rag.documents_path gen_ai.request.parameters gen_ai.request.speech.prompt gen_ai.response.audio.text
gen_ai.response.speech.diarized_transcript gen_ai.task.description gen_ai.task.expected_output
annotation.explanation annotation.metadata evaluation.explanation evaluation.metadata trace.annotations trace.evaluations session.annotations
session.evaluations build.error.message workflow.description workflow_builder.description mcp.auth.redirect_uri
tool_call.function.arguments vector_search.** full_text_search.**
llm.input_messages llm.output_messages llm.tools llm.request.tools llm.available_functions agent.goal agent.backstory tool.task_name tool.agent_role
tool.args tool.kwargs smolagents.task smolagents.additional_args agno.workflow.description function.arguments output.message.content
input.audio.url input.audio.transcript output.audio.url output.audio.transcript frame.error.message frame.metadata text.chunk
`

// urlPlaces hold URLs and command lines, which are content and may hold a
// credential besides, and ids of an application's own, which may be URLs.
const urlPlaces = `
mcp.websocket.url messaging.url aws.request.url
url.full url.original url.query url.fragment url.path http.url http.target mcp.resource.uri fastmcp.resource.uri fastmcp.proxy.backend_uri gen_ai.skill.source.uri
process.command_line process.command_args process.command process.working_directory
readtrail.document.id readtrail.record_refs
`

// headerPlaces hold headers and variables whose names anybody may choose.
const headerPlaces = `
http.request.header.** http.response.header.** rpc.request.metadata.** rpc.response.metadata.** rpc.grpc.request.metadata.** rpc.grpc.response.metadata.**
rpc.connect_rpc.request.metadata.** rpc.connect_rpc.response.metadata.** ai.request.headers.** ai.response.headers.** process.environment_variable.** messaging.header.**
`

// credentialPlaces hold credentials or whole sets of headers.
const credentialPlaces = `
llm.headers gen_ai.headers langsmith.request.headers langsmith.request.headers.** db.connection_string http.request.headers http.response.headers
http.request.cookies http.response.cookies
mcp.auth.authorization_code mcp.auth.code_challenge mcp.auth.code_verifier mcp.auth.state
`

// genericPlaces have names that are too common to mean content wherever they
// stand: only under a gate (gates.go) do they.
const genericPlaces = `
input output inputs outputs request response events arguments prompt content message error body input.** output.** request.** response.**
text result results data args kwargs reasoning explanation user_input file_path file_content cwd tool_call policy
name transcript tools user_id stdout stderr hook_name skill.name diff to_agent from_agent actor.id namespace messaging.destination mcp_server_origin
system instructions system_instruction context_system_instruction
tool
`

// vocabulary are the segments that may stand for a wildcard in a key that
// stays: words of conventions, chosen by no user. A key with any other segment
// there is itself text from outside.
const vocabulary = `
content contents role name type toolCall text image url data message messages message_content tool_call tool_calls tool_call_id tool function functions
function_call_name function_call_arguments_json arguments id document documents metadata score finish_reason prompt completion embedding vector
json_schema description parameters input_schema template variables version model_name top_k query input_documents output_documents
encrypted_content signature mime_type detail object reasoning files providerMetadata toolCalls toolChoice tools format args result
headers value values embeddings ranking schema output usage context is_error content_type content_count message_content message_count
message_role doc serialized tags distance entity filter inputs outputs namespace
agent_run workflow_run workflow_step model_generation model_step model_inference model_chunk mcp_tool_call memory_operation processor_run
rag_embedding rag_vector_operation rag_action pipeline component agent step llm turn task workflow operation
pii function_tool chat_ctx input_text user_input user_transcript response instructions
pageContent page_content user_message assistant_message system_message
query queries data_object filters properties references fetch_objects fetch_object_by_id graphql_raw_query gql_query collections client limit uuid
function_call
`
