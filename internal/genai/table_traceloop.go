// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectTraceloop = "openllmetry"

func traceloopKind(kinds ...string) condition { return is("traceloop.span.kind", kinds...) }

const (
	traceloopInput  = "traceloop.entity.input"
	traceloopOutput = "traceloop.entity.output"
)

var traceloopCommon = otelCommon.plus(fields{
	conversationID: attr("gen_ai.conversation.id", "traceloop.association.properties.session_id",
		"traceloop.association.properties.thread_id", "session.id"),
	agentName: attr("gen_ai.agent.name", "traceloop.entity.name"),
})

// traceloopAsked are the arguments of a tool: those that LangChain's callback or
// an MCP request wraps, else what was received.
func traceloopAsked() []source {
	received := attr("gen_ai.tool.call.arguments", traceloopInput)
	return first(
		unwrapped(received, "inputs", "input_str", "inputs", "kwargs"),
		unwrapped(received, "input_str", "input_str", "inputs", "kwargs"),
		unwrapped(received, "arguments", "tool_name", "arguments"),
		received,
	)
}

func traceloopAnswered() []source {
	received := attr("gen_ai.tool.call.result", traceloopOutput)
	return first(unwrapped(received, "output", "output", "kwargs"), received)
}

var traceloopToolNames = []string{
	"{traceloop.entity.name}.tool", "{gen_ai.tool.name}.tool", "execute_tool {gen_ai.tool.name}", "execute_tool {traceloop.entity.name}",
}

// traceloopReads are the reads of OpenLLMetry (Traceloop), in Python and
// JavaScript. The same bytes stand under several keys.
func traceloopReads() []row {
	executed := either(
		traceloopKind("tool"),
		all(has("traceloop.entity.name", traceloopInput, traceloopOutput), is(operation, "execute_tool")),
	)
	return []row{
		{
			dialect: dialectTraceloop,
			when:    either(is(operation, "vector_db_retrieve"), all(has("traceloop.span.kind"), named("vector_db_retrieve *"))),
			class:   ClassRetrieval,
			fields: traceloopCommon.plus(fields{
				query: first(
					unwrapped(attr(traceloopInput, "gen_ai.task.input"), "query", "query", "kwargs"),
					attr(traceloopInput, "gen_ai.task.input"),
				),
				result: attr(traceloopOutput, "gen_ai.task.output"),
			}),
			documents: []documentSource{documentsIn(attr(traceloopOutput, "gen_ai.task.output"))},
			names:     []string{"vector_db_retrieve {traceloop.entity.name}"},
		},
		{
			dialect: dialectTraceloop,
			when:    executed,
			class:   ClassTool,
			fields: traceloopCommon.plus(fields{
				toolName:    first(attr("gen_ai.tool.name", "traceloop.entity.name"), nameTail("execute_tool ")),
				toolCallID:  attr("gen_ai.tool.call.id"),
				toolVersion: attr("traceloop.entity.version"),
				arguments:   traceloopAsked(),
				result:      traceloopAnswered(),
			}),
			names: traceloopToolNames,
		},
		{
			dialect: dialectTraceloop,
			when:    all(traceloopMCP, named("resources/read.mcp", "fastmcp.resource.read")),
			class:   ClassDocument,
			fields: traceloopCommon.plus(fields{
				documentURI: first(inside(attr(traceloopInput), "uri"), attr("fastmcp.resource.uri")),
				arguments:   attr(traceloopInput, "fastmcp.resource.uri"),
				result:      attr(traceloopOutput, "fastmcp.resource.output", "mcp.response.value"),
			}),
			names: []string{"resources/read.mcp", "fastmcp.resource.read"},
		},
		{
			// The step of LlamaIndex's agents that runs a tool is a task.
			dialect: dialectTraceloop,
			when:    all(is("traceloop.entity.name", "call_tool.task"), has("tool.name")),
			class:   ClassTool,
			fields: traceloopCommon.plus(fields{
				toolName:   attr("tool.name"),
				toolCallID: inside(attr(traceloopInput), "ev", "tool_id"),
				arguments:  attr("tool.arguments", traceloopInput),
				result:     first(inside(attr(traceloopOutput), "tool_output"), attr(traceloopOutput)),
			}),
			names: []string{"{traceloop.entity.name}"},
		},
		{
			// LlamaIndex's retrievers are tasks, told by the name of their class.
			dialect: dialectTraceloop,
			when:    all(ends("traceloop.entity.name", "Retriever", "Retriever.task"), traceloopKind("task")),
			class:   ClassRetrieval,
			fields: traceloopCommon.plus(fields{
				query:     inside(attr(traceloopInput), "str_or_query_bundle"),
				arguments: attr(traceloopInput),
				result:    attr(traceloopOutput),
			}),
			documents: []documentSource{documentsIn(attr(traceloopOutput))},
			names:     []string{"{traceloop.entity.name}.task", "{traceloop.entity.name}"},
		},
		{
			// In TypeScript the span's name has the class and the method. The
			// query engine's own retrieve only calls that of its retriever.
			dialect: dialectTraceloop,
			when:    all(scope("@traceloop/instrumentation-llamaindex"), nameEnds("retriever.retrieve")),
			class:   ClassRetrieval,
			fields: traceloopCommon.plus(fields{
				query:     inside(attr(traceloopInput), "kwargs", "query"),
				arguments: attr(traceloopInput),
				result:    attr(traceloopOutput),
			}),
			documents: []documentSource{documentsIn(attr(traceloopOutput))},
		},
		{
			// LlamaIndex's rerankers: the query is a message.
			dialect: dialectTraceloop,
			when:    all(traceloopKind("task", "workflow"), is(operation, "rerank")),
			class:   ClassRetrieval,
			fields: traceloopCommon.plus(fields{
				query:     attr("gen_ai.input.messages"),
				arguments: attr(traceloopInput),
				result:    attr(traceloopOutput),
			}),
			documents: []documentSource{documentsIn(attr(traceloopOutput))},
			names:     []string{"{traceloop.entity.name}.task", "{traceloop.entity.name}"},
		},
		{
			// The documents of a reranker are messages of its prompt.
			dialect: dialectTraceloop,
			when:    is("llm.request.type", "rerank"),
			class:   ClassRetrieval,
			fields: traceloopCommon.plus(fields{
				arguments: gathered("gen_ai.prompt.", ".content"),
				result:    gathered("gen_ai.completion.", ".content"),
			}),
		},
	}
}

// traceloopMCP holds for OpenLLMetry's instrumentations of MCP, which write
// no key of MCP's conventions.
var traceloopMCP = scope("@traceloop/instrumentation-mcp", "opentelemetry.instrumentation.mcp")

// traceloopSteps are steps of a chain that bear an operation's name, and agents
// that bear a model's.
func traceloopSteps() []row {
	return []row{
		{
			dialect: dialectTraceloop, when: all(is(operation, "execute_task", "workflow"), has("traceloop.span.kind")),
			class: ClassOther, fields: traceloopCommon,
			names: []string{
				"{gen_ai.operation.name} {traceloop.entity.name}", "{gen_ai.operation.name} {traceloop.workflow.name}",
				"{traceloop.entity.name}.{traceloop.span.kind}",
			},
		},
		{
			dialect: dialectTraceloop, when: all(traceloopKind("agent"), lacks(operation)), class: ClassAgent, fields: traceloopCommon,
			names: []string{"{traceloop.entity.name}.agent", "{gen_ai.agent.name}.agent"},
		},
	}
}

// traceloopOthers are what is no read and has no operation of the conventions.
func traceloopOthers() []row {
	return []row{
		{dialect: dialectTraceloop, when: traceloopMCP, class: ClassMCP, fields: traceloopCommon},
		{dialect: dialectTraceloop, when: traceloopKind("agent"), class: ClassAgent, fields: traceloopCommon},
		{
			dialect: dialectTraceloop, when: has("traceloop.span.kind"), class: ClassOther, fields: traceloopCommon,
			names: []string{"{traceloop.entity.name}.{traceloop.span.kind}", "{traceloop.workflow.name}.{traceloop.span.kind}"},
		},
	}
}

// traceloopModels are model calls from before operations had names. Their
// model says that they are calls, and this key of which kind.
func traceloopModels() []row {
	kind := func(kinds ...string) condition { return all(isAnyCase("llm.request.type", kinds...), lacks(operation)) }
	return []row{
		{dialect: dialectTraceloop, when: kind("embedding", "aembedding"), class: ClassEmbedding, fields: traceloopCommon},
		{
			dialect: dialectTraceloop, when: kind("chat", "completion", "acompletion", "text_completion", "atext_completion", "responses", "aresponses"),
			class: ClassInference, fields: traceloopCommon,
		},
	}
}
