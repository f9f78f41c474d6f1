// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// Two dialects mark spans with gen_ai.span.kind, in the words of Alibaba's
// extension of the conventions: LoongSuite, which is that extension, and Dify.
const (
	dialectLoongSuite = "loongsuite"
	dialectDify       = "dify"
)

func aliyunKind(kinds ...string) condition { return isAnyCase("gen_ai.span.kind", kinds...) }

var aliyunCommon = otelCommon.plus(fields{
	conversationID: attr("gen_ai.conversation.id", "gen_ai.session.id", "session.id"),
})

var aliyunTool = otelTool.plus(aliyunCommon).plus(fields{
	// The keys without gen_ai are those of LoongSuite for Dify.
	arguments: attr("gen_ai.tool.call.arguments", "input.value", "tool.parameters"),
	result:    attr("gen_ai.tool.call.result", "output.value"),
}).or(fields{
	toolName: first(attr("gen_ai.skill.name", "tool.name"), nameTail("tool.invoke.")),
})

var aliyunRetrieval = otelRetrieval.plus(aliyunCommon).plus(fields{
	query: attr("gen_ai.retrieval.query.text", "retrieval.query", "input.value"),
	result: first(
		attr("gen_ai.retrieval.documents", "retrieval.document", "output.value"), gathered("retrieval.documents.", ".document.content"),
	),
	topK:    attr("gen_ai.retrieval.top_k", "gen_ai.request.top_k", "retrieval.top_k"),
	indexID: attr("gen_ai.data_source.id", "retrieval.dataset_id"),
})

var aliyunMemory = otelMemoryCommon.plus(aliyunCommon).plus(fields{
	memoryOperation: attr("gen_ai.memory.operation", operation),
	entryID:         attr("gen_ai.memory.record.id", "gen_ai.memory.id"),
	executionID:     attr("gen_ai.memory.run_id"),
	agentID:         attr("gen_ai.agent.id", "gen_ai.memory.agent_id"),
	topK:            attr("gen_ai.memory.top_k", "gen_ai.memory.limit"),
	arguments:       attr("gen_ai.memory.input.messages", "gen_ai.memory.query.text"),
	result:          attr("gen_ai.memory.output.messages"),
})

var aliyunMemories = []documentSource{documentsIn(attr("gen_ai.memory.output.messages", "gen_ai.memory.records"))}

// aliyunReads are the reads of Dify and LoongSuite.
func aliyunReads() []row {
	reads := func(dialect string, also ...condition) []row {
		when := func(c condition) condition { return all(append([]condition{c}, also...)...) }
		return []row{
			{
				dialect: dialect, when: when(aliyunKind("TOOL")), class: ClassTool, fields: aliyunTool,
				names: append(otelToolNames, "{gen_ai.tool.name}"),
			},
			{
				dialect: dialect, when: when(aliyunKind("RETRIEVER")), class: ClassRetrieval, fields: aliyunRetrieval,
				documents: []documentSource{
					documentsIn(attr("gen_ai.retrieval.documents", "retrieval.document", "output.value")),
					flattened("retrieval.documents.", ".document."),
				},
				names: []string{"{gen_ai.operation.name}", "{gen_ai.operation.name} {gen_ai.data_source.id}"},
			},
			{
				dialect: dialect, when: when(aliyunKind("RERANKER")), class: ClassRetrieval,
				fields: aliyunRetrieval.plus(fields{
					query:     attr("gen_ai.retrieval.query.text", "reranker.query", "gen_ai.rerank.query"),
					arguments: attr("gen_ai.rerank.input_documents", "input.value"),
					result:    attr("gen_ai.rerank.output_documents", "output.value"),
				}),
				documents: []documentSource{
					documentsIn(attr("gen_ai.rerank.output_documents", "output.value")),
					asked(documentsIn(attr("gen_ai.rerank.input_documents"))),
				},
				names: otelInferenceNames,
			},
			{
				dialect: dialect, when: when(aliyunKind("MEMORY")), class: ClassMemory, fields: aliyunMemory, documents: aliyunMemories,
				names: []string{"memory_operation {gen_ai.memory.operation}", "{gen_ai.operation.name}"},
			},
		}
	}
	return append(reads(dialectDify, is("gen_ai.framework", "dify")), reads(dialectLoongSuite)...)
}

// aliyunOthers are the kinds that are no reads, where no operation says more.
func aliyunOthers() []row {
	var out []row
	for _, k := range []struct {
		class Class
		kinds []string
	}{
		{ClassInference, []string{"LLM"}},
		{ClassEmbedding, []string{"EMBEDDING"}},
		{ClassAgent, []string{"AGENT"}},
		{ClassMCP, []string{"MCP", "MCP_CLIENT", "MCP_SERVER"}},
		{ClassOther, []string{"CHAIN", "TASK", "ENTRY", "STEP", "WORKFLOW", "FORMATTER", "GUARDRAIL"}},
	} {
		out = append(out,
			row{dialect: dialectDify, when: all(aliyunKind(k.kinds...), is("gen_ai.framework", "dify")), class: k.class, fields: aliyunCommon},
			row{dialect: dialectLoongSuite, when: aliyunKind(k.kinds...), class: k.class, fields: aliyunCommon},
		)
	}
	return out
}

// aliyunLogs are LoongSuite's events about a memory.
func aliyunLogs() []row {
	return []row{{
		dialect: dialectLoongSuite, signal: isLog,
		when:  all(named("gen_ai.memory.operation.details"), is(operation, "memory_operation")),
		class: ClassMemory, fields: aliyunMemory, documents: aliyunMemories,
	}}
}
