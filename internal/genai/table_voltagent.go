// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectVoltAgent = "voltagent"

// voltAgentRows are VoltAgent, which follows no convention: a key of its own
// says of which kind a span is, and what went in and came out stands under
// generic names.
func voltAgentRows() []row {
	spanType := func(types ...string) condition { return all(scope("@voltagent/*"), is("span.type", types...)) }
	common := fields{
		conversationID: attr("conversation.id"),
		executionID:    attr("operation.id"),
		agentName:      attr("entity.name"),
		model:          attr("llm.model", "ai.model.name"),
	}
	read := common.plus(fields{arguments: attr("input"), result: attr("output")})
	return []row{
		{
			dialect: dialectVoltAgent, when: spanType("tool"), class: ClassTool,
			fields: read.plus(fields{toolName: attr("tool.name"), toolCallID: attr("tool.call.id")}),
			names:  []string{"tool.execution:{tool.name}"},
		},
		{
			dialect: dialectVoltAgent, when: spanType("retriever", "vector"), class: ClassRetrieval,
			fields:    common.plus(fields{query: attr("input"), result: attr("output")}),
			documents: []documentSource{documentsIn(attr("output"))},
			names:     []string{"retriever.search"},
		},
		{
			dialect: dialectVoltAgent, when: spanType("memory"), class: ClassMemory,
			fields:    read.plus(fields{memoryOperation: attr("memory.operation")}),
			documents: []documentSource{documentsIn(attr("output"))},
			names:     []string{"memory.read", "memory.write", "memory.steps.write"},
		},
		{
			dialect: dialectVoltAgent, when: spanType("llm"), class: ClassInference, fields: common,
			names: []string{"llm:{llm.operation}"},
		},
		{dialect: dialectVoltAgent, when: spanType("embedding"), class: ClassEmbedding, fields: common},
		{
			dialect: dialectVoltAgent, when: all(scope("@voltagent/*"), has("agent.state")), class: ClassAgent, fields: common,
			names: []string{"{entity.name}"},
		},
		{dialect: dialectVoltAgent, when: besides(scope("@voltagent/*")), class: ClassOther, fields: common},
	}
}
