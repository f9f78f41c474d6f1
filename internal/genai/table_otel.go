// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"github.com/readtrail/readtrail/record"
)

// dialectOTel are the OpenTelemetry conventions for generative AI, from 1.28 of
// the semantic conventions to 0.1.0 of their own repository.
const dialectOTel = "otel-genai"

const operation = "gen_ai.operation.name"

// The operations of the conventions, and those that libraries which follow
// them add.
var (
	otelInference = []string{
		"chat", "generate_content", "text_completion", "fetch_response",
		"completion", "text_completions", "generate", "generate_live_content", "realtime_inference", "response",
		"Chat", "TextCompletion", "GenerateContent", // Microsoft Agent 365
	}
	otelAgent = []string{
		"invoke_agent", "create_agent", "plan",
		"handoff", "agent_handoff", "execute_task", "agent_step", "react",
	}
	otelMemory = []string{
		"search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory",
		"create_memory_store", "delete_memory_store",
	}
)

// Span names of the conventions.
var (
	otelInferenceNames = []string{
		"{gen_ai.operation.name} {gen_ai.request.model}", "{gen_ai.operation.name} {gen_ai.response.model}", "{gen_ai.operation.name}",
	}
	otelToolNames = []string{
		"{gen_ai.operation.name} {gen_ai.tool.name}", "execute_tool {gen_ai.tool.name}", "{gen_ai.operation.name}",
		// Tools that load a skill or read a resource of one.
		"{gen_ai.tool.name} {gen_ai.skill.name}", "{gen_ai.operation.name} {gen_ai.skill.name}",
		// Tools that run a command.
		"{gen_ai.tool.name} {process.executable.name}", "execute_tool {gen_ai.tool.name} {process.executable.name}",
	}
	// Before operations had names, span names had them.
	otelLegacyNames = []string{
		"embeddings {gen_ai.request.model}",
		"chat {gen_ai.request.model}", "text_completion {gen_ai.request.model}", "generate_content {gen_ai.request.model}",
	}
	otelAgentNames = []string{
		"{gen_ai.operation.name} {gen_ai.agent.name}", "{gen_ai.operation.name} {gen_ai.workflow.name}",
		"{gen_ai.operation.name} {gen_ai.request.model}", "{gen_ai.operation.name}",
		"{gen_ai.agent.name}.agent", // OpenLLMetry
		"{gen_ai.operation.name} {gen_ai.task.name}",
		"step {#}", // an agent_step of the Vercel AI SDK 7
	}
)

// otelCommon are the fields that every operation of the conventions can have.
var otelCommon = fields{
	conversationID: attr("gen_ai.conversation.id", "session.id"),
	requestID:      attr("jsonrpc.request.id", "mcp.request.id"),
	agentID:        attr("gen_ai.agent.id"),
	agentName:      attr("gen_ai.agent.name", "gen_ai.workflow.name"),
	agentVersion:   attr("gen_ai.agent.version"),
	model:          attr("gen_ai.response.model", "gen_ai.request.model"),
}

var otelTool = otelCommon.plus(fields{
	toolName:    first(attr("gen_ai.tool.name"), nameTail("execute_tool ")),
	toolCallID:  attr("gen_ai.tool.call.id"),
	toolVersion: attr("gen_ai.skill.version"),
	// Libraries that trace any function write one attribute for each argument.
	arguments: first(attr("gen_ai.tool.call.arguments"), gathered("code.function.parameters.", ".value")),
	result:    attr("gen_ai.tool.call.result", "code.function.return.value"),
	indexID:   attr("gen_ai.data_source.id"),
})

var otelRetrieval = otelCommon.plus(fields{
	query:  attr("gen_ai.retrieval.query.text"),
	result: attr("gen_ai.retrieval.documents"),
	// gen_ai.request.top_k until 1.41, gen_ai.retrieval.top_k since 0.1.0.
	topK:    attr("gen_ai.retrieval.top_k", "gen_ai.request.top_k"),
	indexID: attr("gen_ai.data_source.id", "aws.bedrock.knowledge_base.id"),
})

var otelMemoryCommon = otelCommon.plus(fields{
	storeID:         attr("gen_ai.memory.store.id"),
	memoryOperation: attr(operation),
	entryID:         attr("gen_ai.memory.record.id"),
})

var (
	otelDocuments     = []documentSource{documentsIn(attr("gen_ai.retrieval.documents"))}
	otelMemoryRecords = []documentSource{documentsIn(attr("gen_ai.memory.records"))}
	toolDocuments     = []documentSource{documentsIn(attr("gen_ai.retrieval.documents", "gen_ai.tool.call.result"))}
)

// datastore holds for a tool that is a retrieval which the model called as a
// tool.
var datastore = is("gen_ai.tool.type", "datastore")

// toolRows are a tool that was executed, by what says so.
func toolRows(signal record.Signal, executed condition) []row {
	return []row{
		{
			dialect: dialectOTel, signal: signal, when: all(executed, datastore),
			class: ClassRetrieval, fields: otelTool.or(otelRetrieval), documents: toolDocuments, names: otelToolNames,
		},
		{
			dialect: dialectOTel, signal: signal, when: executed,
			class: ClassTool, fields: otelTool, names: otelToolNames,
		},
	}
}

// otelOthers are the OpenTelemetry conventions on spans for what is no read,
// and for spans from before operations had names.
func otelOthers() []row {
	// The name of a tool is that of the tool that ran; a call id alone can be
	// that of a call which the model asked for. Both are copied to the requests
	// and queries that a tool makes, where they say which tool that was.
	own := either(
		lacks("http.request.method", "http.method", "db.system.name", "db.system", "messaging.system", "rpc.system.name", "rpc.service",
			"process.executable.name", "process.executable.path", "process.command"),
		has("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
	)
	byName := toolRows("", all(has("gen_ai.tool.name"), lacks(operation), own))
	byCall := toolRows("", all(has("gen_ai.tool.call.id"), lacks(operation), own))
	return slices.Concat(byName, []row{
		{
			dialect: dialectOTel, when: is(operation, otelInference...),
			class: ClassInference, fields: otelCommon, names: otelInferenceNames,
		},
		{
			dialect: dialectOTel, when: is(operation, "embeddings", "embedding"),
			class: ClassEmbedding, fields: otelCommon, names: otelInferenceNames,
		},
		{
			dialect: dialectOTel, when: is(operation, otelAgent...),
			class: ClassAgent, fields: otelCommon, names: otelAgentNames,
		},
		{
			// Before operations had names, a model was what gave a call away.
			dialect: dialectOTel, when: all(lacks(operation), has("gen_ai.request.model")),
			class: ClassInference, fields: otelCommon, names: otelLegacyNames,
		},
	}, byCall)
}

// otelRest is what says that it is an operation of the conventions but none
// that the table knows. It comes last: such a span may still be an effect.
func otelRest() []row {
	return []row{{
		dialect: dialectOTel, when: has(operation),
		class: ClassOther, fields: otelCommon,
		names: []string{
			"{gen_ai.operation.name}", "{gen_ai.operation.name} {gen_ai.skill.name}", "{gen_ai.operation.name} {gen_ai.workflow.name}",
			"{gen_ai.operation.name} {gen_ai.agent.name}",
		},
	}}
}

// otelReads are the operations that read, which conventions tell in
// the same attributes on spans and on log records. What a model only asked for
// stands in the messages of an inference and is none of them.
func otelReads(signal record.Signal) []row {
	op := func(operations ...string) condition { return is(operation, operations...) }
	if signal == isLog {
		op = func(operations ...string) condition { return all(is(operation, operations...), tellsRead) }
	}
	return append(toolRows(signal, op("execute_tool")), []row{
		{
			dialect: dialectOTel, signal: signal, when: op("retrieval"),
			class: ClassRetrieval, fields: otelRetrieval, documents: otelDocuments,
			names: []string{"{gen_ai.operation.name} {gen_ai.data_source.id}", "{gen_ai.operation.name}"},
		},
		{
			dialect: dialectOTel, signal: signal, when: op("rerank"),
			class: ClassRetrieval, fields: otelRetrieval, documents: otelDocuments,
			names: otelInferenceNames,
		},
		{
			dialect: dialectOTel, signal: signal, when: op("search_memory"),
			class: ClassMemory,
			fields: otelMemoryCommon.plus(fields{
				arguments: attr("gen_ai.memory.query.text"),
				result:    attr("gen_ai.memory.records"),
			}),
			documents: otelMemoryRecords,
			names:     []string{"{gen_ai.operation.name}"},
		},
		{
			// What is written to a memory is asked, not answered.
			dialect: dialectOTel, signal: signal, when: op(otelMemory...),
			class:     ClassMemory,
			fields:    otelMemoryCommon.plus(fields{arguments: attr("gen_ai.memory.records")}),
			documents: otelMemoryRecords,
			names:     []string{"{gen_ai.operation.name}"},
		},
	}...)
}

// tellsRead holds for log records that tell of a read. An application's own
// log has the attributes of the operation around it, to be found by, and says
// something else: only what was asked or answered, an event of the conventions
// or a read id of the application makes it a read.
var tellsRead = either(
	named("gen_ai.memory.operation.details"),
	has("gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.retrieval.query.text", "gen_ai.retrieval.documents",
		"gen_ai.memory.query.text", "gen_ai.memory.records"),
	has(ownReadID),
)

// otelLogRows are the conventions' log events. Until 1.36 there was one
// for each message, which repeats a tool's result to the model but executes
// nothing; since 1.37 there is one for each model call.
func otelLogRows() []row {
	events := []row{
		{
			dialect: dialectOTel, signal: isLog,
			when: named("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message",
				"gen_ai.tool.message", "gen_ai.choice", "gen_ai.content.prompt", "gen_ai.content.completion",
				"gen_ai.client.inference.operation.details", "gen_ai.client.operation.exception"),
			class: ClassInference, fields: otelCommon,
		},
		{
			dialect: dialectOTel, signal: isLog, when: named("gen_ai.evaluation.result"),
			class: ClassOther, fields: otelCommon,
		},
	}
	return slices.Concat(events, otelReads(isLog), []row{
		{dialect: dialectOTel, signal: isLog, when: is(operation, otelInference...), class: ClassInference, fields: otelCommon},
		{dialect: dialectOTel, signal: isLog, when: is(operation, "embeddings", "embedding"), class: ClassEmbedding, fields: otelCommon},
		{dialect: dialectOTel, signal: isLog, when: is(operation, otelAgent...), class: ClassAgent, fields: otelCommon},
		{
			dialect: dialectOTel, signal: isLog, when: has(operation), class: ClassOther,
			fields: otelCommon.plus(fields{toolCallID: otelTool[toolCallID]}),
		},
	})
}

// isLog is the signal of rows about log records.
const isLog = record.SignalLog
