// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectOpenLIT = "openlit"

// openLIT holds for spans of OpenLIT's SDKs.
var openLIT = either(scope("openlit*", "@openlit/*"), is("telemetry.sdk.name", "openlit"))

var openLITMemory = otelMemoryCommon.plus(fields{
	memoryOperation: first(attr("gen_ai.memory.operation"), nameTail("memory "), attr(operation)),
	conversationID:  attr("gen_ai.conversation.id", "gen_ai.memory.session_id", "gen_ai.session.id", "session.id"),
	executionID:     attr("gen_ai.run.id"),
	topK:            attr("gen_ai.memory.search.limit"),
	arguments:       attr("gen_ai.input.messages", "gen_ai.memory.input", "gen_ai.memory.search.query", "gen_ai.memory.query.text"),
	result:          attr("gen_ai.output.messages"),
	entryID:         attr("gen_ai.memory.record.id", "db.update.id", "db.delete.id", "db.operation.id"),
})

// openLITReads are the reads of OpenLIT, in Python and TypeScript. Its
// vector databases stand with the others.
func openLITReads() []row {
	tool := otelTool.plus(fields{
		arguments: attr("gen_ai.tool.call.arguments", "gen_ai.tool.input", "gen_ai.tool.args"),
		result:    attr("gen_ai.tool.call.result", "gen_ai.tool.output"),
	})
	return []row{
		{
			dialect: dialectOpenLIT, class: ClassMemory,
			// Mem0's methods with an underscore it takes for steps of a workflow.
			when: either(
				is(operation, "memory", "memory_add", "memory_search", "memory_get", "memory_update", "memory_delete"),
				all(is("gen_ai.endpoint", "memory get_all", "memory delete_all"), openLIT),
			),
			fields: openLITMemory, documents: []documentSource{documentsIn(attr("gen_ai.output.messages"))},
			names: []string{
				"{gen_ai.operation.name}", "memory {gen_ai.memory.operation}", "memory add", "memory search", "memory get", "memory get_all",
				"memory update", "memory delete", "memory delete_all", "memory history",
			},
		},
		{
			dialect: dialectOpenLIT, class: ClassRetrieval,
			when: all(is(operation, "retrieval"), openLIT),
			fields: otelRetrieval.plus(fields{
				query: attr("gen_ai.retrieval.query.text", "gen_ai.retrieval.query"),
			}),
			documents: append(otelDocuments, counted("gen_ai.retrieval.document_count")),
			names:     []string{"{gen_ai.operation.name} {gen_ai.data_source.id}", "{gen_ai.operation.name} {gen_ai.retrieval.source}", "{gen_ai.operation.name}"},
		},
		{
			dialect: dialectOpenLIT, class: ClassTool,
			when: all(is(operation, "execute_tool"), openLIT), fields: tool, names: otelToolNames,
		},
		{
			// Its instrumentation of MCP names the operation in keys of its own.
			dialect: dialectOpenLIT, class: ClassTool,
			when: all(named("mcp tools/call"), has("mcp.tool.name", "mcp.method", "mcp.operation.name")),
			fields: mcpTool.plus(fields{
				arguments: attr("mcp.tool.arguments", "mcp.request.payload", "mcp.params"),
				result:    attr("mcp.tool.result", "mcp.response.payload", "mcp.result"),
			}),
			names: []string{"mcp tools/call"},
		},
		{
			dialect: dialectOpenLIT, class: ClassDocument,
			when: all(named("mcp resources/read"), has("mcp.resource.uri", "mcp.method", "mcp.operation.name")),
			fields: mcpCommon.plus(fields{
				documentURI: attr("mcp.resource.uri"),
				arguments:   attr("mcp.resource.uri"),
				result:      attr("mcp.response.payload", "mcp.result"),
			}),
			names: []string{"mcp resources/read"},
		},
	}
}

// openLITOthers are the operations that OpenLIT adds to those of the
// conventions, and the rest of its instrumentation of MCP.
func openLITOthers() []row {
	return []row{
		{dialect: dialectOpenLIT, when: all(is(operation, "agent"), openLIT), class: ClassAgent, fields: otelCommon},
		{
			dialect: dialectOpenLIT, when: all(named("mcp *"), has("mcp.method", "mcp.operation.name", "mcp.system", "mcp.request.payload")),
			class: ClassMCP, fields: mcpCommon,
			names: []string{
				"mcp tools/list", "mcp resources/list", "mcp prompts/list", "mcp prompts/get", "mcp initialize",
				"mcp server/run", "mcp transport/request", "mcp session/init",
			},
		},
	}
}
