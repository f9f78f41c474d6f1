// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

// This file is the list of harmless keys, each group with the shape that its
// values may have. Patterns are those of places.go; a key on both lists is
// harmless if its row here has no wildcard or a longer pattern.

type harmlessRow struct {
	shape Shape
	keys  string
}

var (
	shapeTokens = ShapeToken.List()
	shapeNames  = ShapeName.List()
	shapeHosts  = ShapeHost.List()
)

var harmlessRows = []harmlessRow{
	// Resource conventions.
	{ShapeName, "service.name service.namespace telemetry.sdk.name telemetry.distro.name deployment.environment deployment.environment.name deployment.name " +
		"process.runtime.name process.runtime.description os.name os.type device.model.name host.type host.arch host.image.name env"},
	{ShapeIdentifier, "service.instance.id host.id host.image.id deployment.id faas.instance device.model.identifier"},
	{ShapeVersion, "service.version telemetry.sdk.version telemetry.distro.version process.runtime.version os.version os.build_id host.image.version"},
	{ShapeToken, "telemetry.sdk.language deployment.status service.criticality"},
	{ShapeNumber, "process.pid process.parent_pid process.exit.code"},
	{ShapeHost, "host.name"},
	{shapeHosts, "host.ip host.mac"},
	{ShapeName, "cloud.provider cloud.platform cloud.region cloud.availability_zone faas.name"},
	{ShapeIdentifier, "cloud.account.id cloud.resource_id"},
	{ShapeVersion, "faas.version"},
	{ShapeName, "k8s.cluster.name k8s.namespace.name k8s.node.name k8s.pod.name k8s.deployment.name k8s.replicaset.name k8s.statefulset.name k8s.daemonset.name " +
		"k8s.job.name k8s.cronjob.name k8s.container.name container.name container.runtime container.runtime.name container.image.name"},
	{ShapeIdentifier, "k8s.cluster.uid k8s.node.uid k8s.pod.uid k8s.deployment.uid k8s.replicaset.uid k8s.statefulset.uid k8s.daemonset.uid k8s.job.uid container.id container.image.id"},
	{ShapeNumber, "k8s.container.restart_count"},
	{ShapeVersion, "container.runtime.version"},
	{ShapeVersion.List(), "container.image.tags"},
	{ShapeHost, "k8s.pod.ip"},
	{ShapeName, "openinference.project.name sentry.environment sentry.release gen_ai.application_name gen_ai.environment langfuse.environment"},
	{ShapeName, "corpus.origin"},

	// GenAI: names and ids.
	{ShapeToken, "gen_ai.operation.name gen_ai.provider.name gen_ai.system gen_ai.output.type gen_ai.tool.type gen_ai.token.type gen_ai.tool.status gen_ai.span.kind " +
		"gen_ai.framework gen_ai.execution.mode gen_ai.response.stop_reason gen_ai.response.finish_reason gen_ai.memory.operation gen_ai.memory.type gen_ai.task.kind " +
		"gen_ai.task.status gen_ai.caller.type gen_ai.evaluation.score.label gen_ai.graph.status gen_ai.request.reasoning.effort openai.api.type"},
	{shapeTokens, "gen_ai.response.finish_reasons gen_ai.request.encoding_formats finish_reasons"},
	{shapeNames, "gen_ai.agent.tools gen_ai.graph.nodes memory.store.names"},
	{ShapeName, "gen_ai.request.model gen_ai.response.model gen_ai.tool.name gen_ai.agent.name gen_ai.workflow.name gen_ai.prompt.name gen_ai.skill.name " +
		"gen_ai.evaluation.name gen_ai.task.name gen_ai.node.name gen_ai.caller.name gen_ai.function_id gen_ai.pipeline.name gen_ai.retrieval.source gen_ai.guardrail.name"},
	{ShapeVersion, "gen_ai.agent.version gen_ai.prompt.version gen_ai.skill.version gen_ai.sdk.version"},
	{ShapeIdentifier, "gen_ai.response.id gen_ai.tool.call.id gen_ai.tool.call_id gen_ai.agent.id gen_ai.agent.call.id gen_ai.conversation.id gen_ai.data_source.id " +
		"gen_ai.memory.store.id gen_ai.memory.record.id gen_ai.memory.id gen_ai.memory.agent_id gen_ai.memory.run_id gen_ai.memory.session_id gen_ai.session.id " +
		"gen_ai.agent.session_id gen_ai.thread.id gen_ai.thread.run.id gen_ai.message.id gen_ai.task.id gen_ai.task.parent.id gen_ai.skill.id gen_ai.response.system_fingerprint " +
		"openai.response.system_fingerprint gen_ai.openai.response.system_fingerprint aws.bedrock.knowledge_base.id aws.bedrock.guardrail.id aws.bedrock.agent.id"},
	{ShapeToken, "openai.request.service_tier openai.response.service_tier gen_ai.openai.request.service_tier gen_ai.openai.response.service_tier anthropic.message.stop_reason " +
		"gen_ai.anthropic.stop_reason aws.bedrock.invocation.latency"},
	{ShapeTimestamp, "gen_ai.event.start_time gen_ai.event.end_time"},
	// GenAI: numbers.
	{ShapeNumber, "gen_ai.request.temperature gen_ai.request.top_p gen_ai.request.top_k gen_ai.request.max_tokens gen_ai.request.seed gen_ai.request.choice.count " +
		"gen_ai.request.frequency_penalty gen_ai.request.presence_penalty gen_ai.retrieval.top_k gen_ai.retrieval.document_count gen_ai.memory.record.count " +
		"gen_ai.memory.search.limit gen_ai.memory.limit gen_ai.memory.top_k gen_ai.embeddings.dimension.count gen_ai.evaluation.score.value gen_ai.response.time_to_first_chunk " +
		"gen_ai.server.time_per_output_token gen_ai.server.time_to_first_token gen_ai.client.operation.duration gen_ai.client.token.usage " +
		"gen_ai.graph.edge_count gen_ai.graph.node_count gen_ai.graph.message_count"},
	{ShapeNumber, "gen_ai.usage.input_tokens gen_ai.usage.output_tokens gen_ai.usage.total_tokens gen_ai.usage.prompt_tokens gen_ai.usage.completion_tokens " +
		"gen_ai.usage.reasoning_tokens gen_ai.usage.reasoning.output_tokens gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_creation.input_tokens " +
		"gen_ai.usage.cache_write.input_tokens gen_ai.usage.cache_read_input_tokens gen_ai.usage.cache_creation_input_tokens gen_ai.usage.cached_tokens gen_ai.usage.cost " +
		"gen_ai.usage.input_tokens.cached gen_ai.usage.input_tokens.cache_write gen_ai.usage.output_tokens.reasoning gen_ai.usage.cost.input gen_ai.usage.cost.output gen_ai.usage.cost.total " +
		"gen_ai.usage.details.input_tokens gen_ai.usage.details.output_tokens gen_ai.usage.details.reasoning_tokens gen_ai.usage.details.cached_tokens " +
		"gen_ai.aggregated_usage.input_tokens gen_ai.aggregated_usage.output_tokens"},
	{ShapeBool, "gen_ai.request.stream gen_ai.request.is_stream gen_ai.response.streaming"},

	// MCP and JSON-RPC.
	{ShapeToken, "mcp.method.name mcp.transport mcp.lifecycle.phase mcp.tool.result.content_type mcp.prompt.result.message_role fastmcp.component.type fastmcp.provider.type fastmcp.span.kind"},
	{ShapeName, "mcp.tool.name mcp.prompt.name mcp.client.name mcp.server.name fastmcp.proxy.backend_name"},
	{ShapeVersion, "mcp.protocol.version mcp.client.version mcp.server.version jsonrpc.protocol.version"},
	{ShapeIdentifier, "mcp.session.id mcp.request.id jsonrpc.request.id rpc.request_id"},
	{ShapeNumber, "mcp.tool.result.content_count mcp.prompt.result.message_count mcp.protocol.ready rpc.jsonrpc.error_code"},
	{ShapeBool, "mcp.tool.result.is_error"},

	// OpenInference.
	{oneOf("openinference_span_kind", "TOOL", "RETRIEVER", "RERANKER", "LLM", "EMBEDDING", "AGENT", "CHAIN", "GUARDRAIL", "EVALUATOR", "PROMPT", "UNKNOWN"), "openinference.span.kind"},
	{ShapeName, "llm.model_name llm.request.model_name llm.response.model_name embedding.model_name reranker.model_name tool.name agent.name llm.prompt_template.version"},
	{ShapeToken, "llm.provider llm.system llm.finish_reason llm.request.type"},
	{ShapeMIMEType, "input.mime_type output.mime_type"},
	{ShapeIdentifier, "session.id tool_call.id tool.id tool.call_id graph.node.id graph.node.parent_id"},
	{ShapeName, "graph.node.name"},
	{ShapeNumber, "reranker.top_k llm.token_count.prompt llm.token_count.completion llm.token_count.total llm.token_count.prompt_details.cache_read " +
		"llm.token_count.prompt_details.cache_write llm.token_count.prompt_details.cache_input llm.token_count.prompt_details.audio llm.token_count.completion_details.reasoning " +
		"llm.token_count.completion_details.audio llm.cost.prompt llm.cost.completion llm.cost.total llm.usage.total_tokens"},
	{ShapeToken, "llm.input_messages.N.message.role llm.output_messages.N.message.role llm.input_messages.N.message.contents.N.message_content.type " +
		"llm.output_messages.N.message.contents.N.message_content.type llm.output_messages.N.message.finish_reason"},
	{ShapeName, "llm.input_messages.N.message.tool_calls.N.tool_call.function.name llm.output_messages.N.message.tool_calls.N.tool_call.function.name " +
		"llm.input_messages.N.message.contents.N.tool_call.function.name llm.output_messages.N.message.contents.N.tool_call.function.name"},
	{ShapeIdentifier, "llm.input_messages.N.message.tool_calls.N.tool_call.id llm.output_messages.N.message.tool_calls.N.tool_call.id " +
		"llm.input_messages.N.message.contents.N.tool_call.id llm.output_messages.N.message.contents.N.tool_call.id llm.input_messages.N.message.tool_call_id"},
	{ShapeIdentifier, "retrieval.documents.N.document.id reranker.input_documents.N.document.id reranker.output_documents.N.document.id"},
	{ShapeNumber, "retrieval.documents.N.document.score reranker.input_documents.N.document.score reranker.output_documents.N.document.score"},

	// Vercel AI SDK.
	{ShapeName, "ai.operationId ai.model.id ai.model.provider ai.toolCall.name ai.telemetry.functionId ai.response.model ai.pipeline.name operation.name resource.name"},
	{ShapeIdentifier, "ai.toolCall.id ai.response.id ai.telemetry.metadata.sessionId metadata.sessionId"},
	{ShapeToken, "ai.response.finishReason ai.settings.mode ai.settings.output ai.prompt.format ai.ranking.type ai.finishReason"},
	{ShapeTimestamp, "ai.response.timestamp"},
	{ShapeNumber, "ai.response.msToFirstChunk ai.response.msToFinish ai.response.avgCompletionTokensPerSecond ai.response.avgOutputTokensPerSecond ai.stream.msToFirstChunk " +
		"ai.settings.maxRetries ai.settings.maxSteps ai.settings.maxTokens ai.settings.maxOutputTokens ai.settings.temperature ai.settings.topP ai.settings.topK ai.settings.seed " +
		"ai.settings.frequencyPenalty ai.settings.presencePenalty ai.settings.timeout ai.settings.maxParallelCalls ai.settings.topN " +
		"ai.usage.promptTokens ai.usage.completionTokens ai.usage.totalTokens ai.usage.inputTokens ai.usage.outputTokens ai.usage.reasoningTokens ai.usage.cachedInputTokens ai.usage.tokens " +
		"ai.usage.inputTokenDetails.cacheReadTokens ai.usage.inputTokenDetails.cacheWriteTokens ai.usage.inputTokenDetails.noCacheTokens " +
		"ai.usage.outputTokenDetails.reasoningTokens ai.usage.outputTokenDetails.textTokens"},
	{ShapeBool, "ai.streaming ai.isContinued"},

	// OpenLLMetry and OpenLIT.
	{oneOf("traceloop_span_kind", "workflow", "task", "agent", "tool", "unknown", "session", "server", "handoff"), "traceloop.span.kind"},
	{ShapeName, "traceloop.entity.name traceloop.entity.path traceloop.workflow.name"},
	{ShapeVersion, "traceloop.entity.version"},
	{ShapeIdentifier, "traceloop.correlation.id traceloop.association.properties.session_id traceloop.association.properties.thread_id openlit.agent.version_hash"},
	{ShapeToken, "gen_ai.prompt.N.role gen_ai.completion.N.role gen_ai.completion.N.finish_reason"},
	{ShapeName, "gen_ai.prompt.N.tool_calls.N.name gen_ai.completion.N.tool_calls.N.name llm.request.functions.N.name"},
	{ShapeIdentifier, "gen_ai.prompt.N.tool_calls.N.id gen_ai.completion.N.tool_calls.N.id gen_ai.prompt.N.tool_call_id"},
	{ShapeIdentifier, "db.query.result.id db.search.result.id db.search.query.id db.vector.query.result.N.id"},
	{ShapeNumber, "db.query.result.score db.query.result.distance db.search.result.score db.search.result.distance db.vector.query.result.N.score " +
		"db.vector.query.result.matches_length db.vector.query.result.read_units"},

	// Other agent frameworks: ids, names, kinds.
	{ShapeToken, "langsmith.span.kind langfuse.observation.type langfuse.observation.level mastra.span.type spring.ai.kind mlflow.spanType genkit:metadata:subtype genkit:type genkit:state " +
		"sentry.op sentry.origin sentry.source span.type llm_request.context haystack.component.type logfire.span_type"},
	{ShapeName, "langsmith.trace.name langsmith.trace.session_name langfuse.observation.model.name spring.ai.tool.definition.name haystack.tool.name haystack.component.name " +
		"genkit:name lk.function_tool.name flue.tool.name flue.task.agent"},
	{ShapeIdentifier, "langsmith.trace.session_id langsmith.span.id langsmith.span.parent_id langsmith.metadata.session_id langsmith.metadata.thread_id langsmith.metadata.conversation_id " +
		"langfuse.session.id langfuse.observation.metadata.thread_id gcp.vertex.agent.session_id gcp.vertex.agent.invocation_id gcp.vertex.agent.event_id spring.ai.tool.call.id " +
		"spring.ai.chat.client.conversation.id haystack.tool.call.id lk.function_tool.id flue.tool.call_id flue.task.id copilot_chat.chat_session_id copilot_chat.session_id " +
		"copilot_chat.parent_chat_session_id agent_loop.cycle_id event_loop.cycle_id mastra.metadata.runId mastra.metadata.threadId mastra.metadata.sessionId"},
	{ShapeHex, "mastra.traceId mastra.spanId"},
	{ShapeBool, "lk.function_tool.is_error genkit:isRoot genkit:isFailureSource langfuse.internal.is_app_root memory.injected"},
	{ShapeNumber, "memory.entry.count memory.max_entries memory.max_search_results memory.result.count memory.store.count memory.store.failure_count interaction.duration_ms interaction.sequence"},
	{ShapeTimestamp, "mastra.completion_start_time event.timestamp"},

	// Coding agents.
	{ShapeName, "tool_name function_name model mcp_server_name mcp_server.name mcp_tool.name tool_namespace"},
	{ShapeIdentifier, "tool_use_id call_id conversation.id prompt.id prompt_id agent_id parent_agent_id turn.id turn_id thread_id"},
	{ShapeToken, "tool_source tool_type stop_reason decision_type tool_origin codex.tool.phase codex.turn.phase codex.request.reasoning_effort event.kind"},
	{ShapeVersion, "app.version"},
	{ShapeBool, "success output_truncated"},
	{ShapeNumber, "duration_ms ttft_ms input_tokens output_tokens cache_read_tokens cache_creation_tokens input_token_count output_token_count cached_token_count " +
		"cached_content_token_count cache_write_token_count thoughts_token_count reasoning_token_count tool_token_count total_token_count tool_result_size_bytes tool_input_size_bytes " +
		"prompt_length user_prompt_length response_length arguments_length output_length attempt cost_usd event.sequence status_code " +
		"codex.turn.token_usage.input_tokens codex.turn.token_usage.output_tokens codex.turn.token_usage.total_tokens codex.turn.token_usage.cached_input_tokens " +
		"codex.turn.token_usage.non_cached_input_tokens codex.turn.token_usage.cache_write_input_tokens codex.turn.token_usage.reasoning_output_tokens " +
		"codex.usage.total_tokens codex.usage.reasoning_output_tokens"},
	{ShapeEventName, "event.name"},

	// Further agent frameworks and coding agents.
	{ShapeName, "agent_name flue.workflow.name flue.operation.kind flue.harness.name lk.agent_name lk.tts.label tool.function_name workflow.name executor.type"},
	{ShapeToken, "aws.operation.name tool.result_status tool.failure_kind memory.operation_type hook_event copilot_chat.hook_type copilot_chat.hook_result_kind " +
		"flue.turn.purpose flue.log.level flue.provider.api gen_ai.thread.run.status gen_ai.message.status gen_ai.run_step.status"},
	{ShapeIdentifier, "flue.run_id flue.instance_id flue.dispatch_id flue.operation.id flue.turn.id lk.job_id lk.speech_id lk.generation_id lk.parent_generation_id " +
		"tool.use_id aws.request.id aws.request_id aws.agent.id memory.id gateway.id qwen-code.prompt_id qwen-code.subagent.id " +
		"qwen-code.subagent.parent_agent_id response_id workflow.id executor.id gen_ai.agent.run.id crew_id crew_key task_id task_key"},
	{ShapeName, "qwen-code.subagent.name"},
	{ShapeToken, "qwen-code.subagent.status qwen-code.subagent.terminate_reason qwen-code.subagent.invocation_kind"},
	{ShapeBool, "log.bridge aborted lk.interrupted is_error"},
	{ShapeNumber, "attempts latency_ms tools_count flue.duration_ms qwen-code.subagent.depth qwen-code.subagent.duration_ms turn.index lk.transcript_confidence " +
		"lk.response.ttft lk.response.ttfb lk.e2e_latency metrics.ttfb metrics.character_count content_length"},
	{ShapeVersion, "crewai_version python_version"},

	// Effects: HTTP, RPC, databases, messaging, processes.
	{ShapeHTTPMethod, "http.request.method http.method http.request.method_original"},
	{ShapeNumber, "http.response.status_code http.status_code http.request.resend_count http.resend_count http.request.body.size http.response.body.size " +
		"http.request_content_length http.response_content_length http.request.size http.response.size"},
	{ShapeRoute, "http.route url.template"},
	{ShapeURLScheme, "url.scheme http.scheme"},
	{ShapeVersion, "http.flavor network.protocol.version"},
	{ShapeHost, "server.address client.address network.peer.address network.local.address net.peer.name net.host.name net.sock.peer.addr"},
	{ShapePort, "server.port client.port network.peer.port network.local.port net.peer.port net.host.port net.sock.peer.port"},
	{ShapeToken, "network.transport network.type network.protocol.name net.transport network.connection.type"},
	{ShapeToken, "rpc.system rpc.system.name rpc.response.status_code rpc.grpc.status_code rpc.transport rpc.jsonrpc.version"},
	{ShapeName, "rpc.method rpc.service"},
	{ShapeQuerySummary, "db.query.summary"},
	{ShapeName, "db.system db.system.name db.operation.name db.operation db.collection.name db.namespace db.name db.sql.table db.mongodb.collection db.cassandra.table " +
		"db.cosmosdb.container db.stored_procedure.name db.query.namespace db.vector.query.result.namespace qdrant.search.collection_name db.milvus.search.collection_name pinecone.query.namespace"},
	{ShapeToken, "db.response.status_code"},
	{ShapeVersion, "db.sdk.version"},
	{ShapeIdentifier, "db.chroma.query.segment._query.collection_id"},
	{ShapeNumber, "db.response.returned_rows db.operation.batch.size db.vector.query.top_k db.vector.query.similarity_threshold db.vector.dimension_count db.vector.count " +
		"db.redis.database_index db.client.operation.duration db.n_results db.documents_count db.ids_count db.metadatas_count pinecone.query.top_k db.chroma.query.n_results " +
		"db.chroma.query.texts_count db.chroma.query.embeddings_count db.milvus.search.limit"},
	{ShapeBool, "db.vector.query.include_metadata db.vector.query.include_values"},
	{ShapeName, "db.vector.field_name db.vector.name messaging.system messaging.operation.name messaging.operation.type messaging.operation messaging.destination.name messaging.consumer.group.name"},
	{ShapeNumber, "messaging.batch.message_count messaging.message.body.size messaging.message.envelope.size"},
	{ShapeIdentifier, "messaging.message.id"},
	{ShapeProgram, "process.executable.name"},
	{ShapeTypeName, "error.type exception.type code.function.name code.namespace code.module code.module.name"},
	{ShapeBool, "exception.escaped"},
	{ShapeNumber, "code.line.number code.lineno thread.id busy_ns idle_ns"},

	// OpenTelemetry's audit draft and our own attributes (requirement E8).
	// The ids of records and documents are those of persons and cases
	// (places.go).
	{ShapeIdentifier, "execution_id event_id decision_id request_id readtrail.read_id readtrail.execution.id readtrail.correlation.id readtrail.step.id " +
		"readtrail.request.id readtrail.event.id readtrail.decision.id readtrail.call.id readtrail.action.id readtrail.document.object_version_id"},
	{ShapeName, "readtrail.source.system readtrail.data_boundary readtrail.purpose readtrail.retrieval.index_id"},
	{ShapeToken, "readtrail.source.kind readtrail.edge.type"},
	{ShapeVersion, "readtrail.tool.version readtrail.source.record_version readtrail.retrieval.build_version"},
	{ShapeTimestamp, "readtrail.source.as_of readtrail.document.received_at"},
	{ShapeChecksum, "readtrail.document.checksum_sha256"},
	{ShapeWhereabouts, "readtrail.content_location"},

	// Instrumentations of frameworks, vector databases and MCP.
	{ShapeComponent, "fastmcp.component.key"},
	{ShapeName, "fastmcp.server.name haystack.component.fully_qualified_type spring.ai.advisor.name spring.ai.tool.type openlit.sdk.name"},
	{ShapeIdentifier, "langsmith.trace.id gen_ai.run.id gen_ai.memory.result_id db.update.id db.delete.id db.operation.id"},
	{ShapeToken, "node.type mcp.operation.name mcp.logging.level gen_ai.task.type traceloop.prompt.key"},
	{ShapeIdentifier, "node.id node.execution_id"},
	{ShapeName, "qdrant.query.collection_name qdrant.search_batch.collection_name qdrant.scroll.collection_name qdrant.recommend.collection_name " +
		"qdrant.discover.collection_name qdrant.upsert.collection_name qdrant.delete.collection_name db.milvus.query.collection_name " +
		"db.milvus.get.collection_name db.milvus.insert.collection_name db.milvus.upsert.collection_name db.milvus.delete.collection_name"},
	{ShapeNumber, "qdrant.upsert.points_count qdrant.search_batch.requests_count db.milvus.query.limit db.milvus.insert.data_count db.milvus.upsert.data_count " +
		"db.milvus.search.result_count db.milvus.search.data_count db.milvus.search.embeddings_count db.vector.query.result_count db.vector.query.embeddings_count " +
		"db.vector.query.top_score db.vector.query.top_distance db.pinecone.query.result_count db.pinecone.query.embeddings_count pinecone.usage.read_units " +
		"pinecone.usage.write_units db.chroma.get.limit db.chroma.peek.limit db.chroma.get.ids_count db.chroma.add.ids_count db.chroma.add.documents_count " +
		"db.chroma.upsert.documents_count db.chroma.update.documents_count db.chroma.delete.ids_count db.marqo.search.processing_time"},
	{ShapeNumber, "gen_ai.memory.count gen_ai.memory.operation.result_count gen_ai.memory.result.count gen_ai.memory.search.threshold gen_ai.rerank.documents.count " +
		"mcp.output.size mcp.request.size mcp.response.size mcp.resource.size gen_ai.react.round haystack.agent.max_steps haystack.agent.step spring.ai.advisor.order"},
	{ShapeBool, "gen_ai.memory.infer llm.is_streaming gen_ai.is_streaming pinecone.query.include_values pinecone.query.include_metadata"},
	{ShapeName, "readtrail.memory.store_id"},
	{ShapeToken, "readtrail.memory.operation"},
	{ShapeNumber, "readtrail.retrieval.top_k"},
	{ShapeBool, "readtrail.document.with_content"},
}
