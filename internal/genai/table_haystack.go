// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectHaystack = "haystack"

// haystackComponent holds for a component of a pipeline whose type ends so.
func haystackComponent(suffixes ...string) condition {
	return all(ends("haystack.component.type", suffixes...), named("haystack.component.run"))
}

var (
	haystackInput  = attr("haystack.component.input")
	haystackOutput = attr("haystack.component.output")
)

var haystackTool = otelTool.plus(fields{
	toolName:   attr("haystack.tool.name", "gen_ai.tool.name"),
	toolCallID: attr("haystack.tool.call.id", "gen_ai.tool.call.id"),
	arguments:  attr("haystack.agent.step.tool.input"),
	result:     attr("haystack.agent.step.tool.output"),
})

// haystackReads are the reads of Haystack 2. What a component of a pipeline does is only told
// by the name of its type.
func haystackReads() []row {
	return []row{
		{dialect: dialectHaystack, when: named("haystack.agent.step.tool"), class: ClassTool, fields: haystackTool},
		{
			dialect: dialectHaystack, when: haystackComponent("ToolInvoker"), class: ClassTool,
			fields: otelTool.plus(fields{arguments: haystackInput, result: haystackOutput}),
		},
		{
			dialect: dialectHaystack, class: ClassMemory,
			when: haystackComponent("MemoryStore", "MemoryRetriever", "MemoryWriter", "ChatMessageRetriever", "ChatMessageWriter"),
			fields: otelMemoryCommon.plus(fields{
				memoryOperation: attr("haystack.component.type"),
				arguments:       haystackInput,
				result:          haystackOutput,
			}),
			documents: []documentSource{documentsIn(first(inside(haystackOutput, "memories"), inside(haystackOutput, "documents")))},
		},
		{
			dialect: dialectHaystack, class: ClassRetrieval,
			when: haystackComponent("Retriever", "Ranker", "WebSearch"),
			fields: otelRetrieval.plus(fields{
				query:     inside(haystackInput, "query"),
				topK:      inside(haystackInput, "top_k"),
				arguments: haystackInput,
				result:    haystackOutput,
			}),
			documents: []documentSource{documentsIn(first(inside(haystackOutput, "documents"), haystackOutput))},
		},
	}
}

// haystackOthers are the spans that are no reads.
func haystackOthers() []row {
	return []row{
		{
			dialect: dialectHaystack, class: ClassInference, fields: otelCommon,
			when: either(named("haystack.agent.step.llm"), haystackComponent("Generator")),
		},
		{dialect: dialectHaystack, when: haystackComponent("Embedder"), class: ClassEmbedding, fields: otelCommon},
		{dialect: dialectHaystack, when: either(named("haystack.agent.run"), haystackComponent("Agent")), class: ClassAgent, fields: otelCommon},
		{
			// OpenLLMetry names Haystack's model calls so too.
			dialect: dialectHaystack, when: all(named("haystack.*"), lacks("llm.request.type", "gen_ai.request.model")),
			class: ClassOther, fields: otelCommon,
		},
	}
}
