// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/readtrail/readtrail/record"

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
	}
	otelAgent = []string{
		"invoke_agent", "create_agent", "invoke_workflow", "plan",
		"handoff", "agent_handoff", "execute_task", "agent_step", "react",
	}
	otelMemory = []string{
		"search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory",
		"create_memory_store", "delete_memory_store",
	}
)

// Span names of the conventions.
var (
	otelInferenceNames = []string{"{gen_ai.operation.name} {gen_ai.request.model}", "{gen_ai.operation.name}"}
	otelToolNames      = []string{"{gen_ai.operation.name} {gen_ai.tool.name}", "execute_tool {gen_ai.tool.name}", "{gen_ai.operation.name}"}
	otelAgentNames     = []string{
		"{gen_ai.operation.name} {gen_ai.agent.name}", "{gen_ai.operation.name} {gen_ai.workflow.name}",
		"{gen_ai.operation.name} {gen_ai.request.model}", "{gen_ai.operation.name}",
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
)

// otelRows are the OpenTelemetry conventions on spans (#40 to #44).
func otelRows() []row {
	return append(otelReadRows(""), []row{
		{
			dialect: dialectOTel, when: is(operation, otelInference...),
			class: ClassInference, fields: otelCommon, names: otelInferenceNames,
		},
		{
			dialect: dialectOTel, when: is(operation, "embeddings"),
			class: ClassEmbedding, fields: otelCommon, names: otelInferenceNames,
		},
		{
			dialect: dialectOTel, when: is(operation, otelAgent...),
			class: ClassAgent, fields: otelCommon, names: otelAgentNames,
		},
		{
			// Before operations had names, a model was what gave a call away.
			dialect: dialectOTel, when: all(lacks(operation), has("gen_ai.request.model")),
			class: ClassInference, fields: otelCommon, names: otelInferenceNames,
		},
		{
			dialect: dialectOTel,
			when:    all(lacks(operation), has("gen_ai.tool.name", "gen_ai.tool.call.id")),
			class:   ClassTool, fields: otelTool, names: otelToolNames,
		},
	}...)
}

// otelRest is what says that it is an operation of the conventions but none
// that the table knows. It comes last: such a span may still be an effect.
func otelRest() []row {
	return []row{{
		dialect: dialectOTel, when: has(operation),
		class: ClassOther, fields: otelCommon, names: []string{"{gen_ai.operation.name}"},
	}}
}

// otelReadRows are the operations that read, which conventions tell in the same
// attributes on spans and on log records. What a model only asked for stands in
// the messages of an inference and is none of them.
func otelReadRows(signal record.Signal) []row {
	return []row{
		{
			// A datastore tool is a retrieval that the model called as a tool.
			dialect: dialectOTel, signal: signal,
			when:  all(is(operation, "execute_tool"), is("gen_ai.tool.type", "datastore")),
			class: ClassRetrieval,
			fields: otelTool.plus(fields{
				query: otelRetrieval[query], topK: otelRetrieval[topK], indexID: otelRetrieval[indexID],
			}),
			documents: []documentSource{documentsIn(attr("gen_ai.retrieval.documents", "gen_ai.tool.call.result"))},
			names:     otelToolNames,
		},
		{
			dialect: dialectOTel, signal: signal, when: is(operation, "execute_tool"),
			class: ClassTool, fields: otelTool, names: otelToolNames,
		},
		{
			dialect: dialectOTel, signal: signal, when: is(operation, "retrieval"),
			class: ClassRetrieval, fields: otelRetrieval, documents: otelDocuments,
			names: []string{"{gen_ai.operation.name} {gen_ai.data_source.id}", "{gen_ai.operation.name}"},
		},
		{
			dialect: dialectOTel, signal: signal, when: is(operation, "rerank"),
			class: ClassRetrieval, fields: otelRetrieval, documents: otelDocuments,
			names: otelInferenceNames,
		},
		{
			dialect: dialectOTel, signal: signal, when: is(operation, "search_memory"),
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
			dialect: dialectOTel, signal: signal, when: is(operation, otelMemory...),
			class:     ClassMemory,
			fields:    otelMemoryCommon.plus(fields{arguments: attr("gen_ai.memory.records")}),
			documents: otelMemoryRecords,
			names:     []string{"{gen_ai.operation.name}"},
		},
	}
}

// otelLogRows are the conventions' log events (#45). Until 1.36 there was one
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
	return append(append(events, otelReadRows(isLog)...), []row{
		{dialect: dialectOTel, signal: isLog, when: is(operation, otelInference...), class: ClassInference, fields: otelCommon},
		{dialect: dialectOTel, signal: isLog, when: is(operation, "embeddings"), class: ClassEmbedding, fields: otelCommon},
		{dialect: dialectOTel, signal: isLog, when: is(operation, otelAgent...), class: ClassAgent, fields: otelCommon},
	}...)
}

// isLog is the signal of rows about log records.
const isLog = record.SignalLog
