// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectOpenInference = "openinference"

// openInferenceRows are OpenInference (#3 to #5).
func openInferenceRows() []row {
	kindIs := func(kinds ...string) condition { return is("openinference.span.kind", kinds...) }
	common := fields{
		conversationID: attr("session.id"),
		agentID:        attr("agent.id"),
		agentName:      attr("agent.name"),
		model: attr("llm.response.model_name", "llm.model_name", "llm.request.model_name",
			"embedding.model_name", "reranker.model_name"),
	}
	return []row{
		{
			dialect: dialectOpenInference,
			when:    kindIs("TOOL"),
			class:   ClassTool,
			fields: common.plus(fields{
				toolName:   first(attr("tool.name", "gen_ai.tool.name"), spanName()),
				toolCallID: attr("tool_call.id", "tool.id", "gen_ai.tool.call.id"),
				// tool.parameters are the arguments in some libraries and the
				// tool's schema in others, so it is only the last resort.
				arguments: attr("input.value", "gen_ai.tool.call.arguments", "tool.parameters"),
				result:    attr("output.value", "gen_ai.tool.call.result"),
			}),
			names: []string{"{tool.name}", "execute_tool {tool.name}", "execute_tool {gen_ai.tool.name}"},
		},
		{
			dialect: dialectOpenInference,
			when:    kindIs("RETRIEVER"),
			class:   ClassRetrieval,
			fields: common.plus(fields{
				query:  attr("input.value"),
				result: attr("output.value"),
			}),
			documents: []documentSource{
				flattened("retrieval.documents.", ".document."),
				documentsIn(attr("retrieval.documents", "output.value")),
			},
		},
		{
			dialect: dialectOpenInference,
			when:    kindIs("RERANKER"),
			class:   ClassRetrieval,
			fields: common.plus(fields{
				query:     attr("reranker.query"),
				arguments: attr("input.value"),
				result:    attr("output.value"),
				topK:      attr("reranker.top_k"),
			}),
			documents: []documentSource{
				flattened("reranker.output_documents.", ".document."),
				documentsIn(attr("reranker.output_documents", "output.value")),
				asked(flattened("reranker.input_documents.", ".document.")),
			},
		},
		{
			dialect: dialectOpenInference,
			when:    kindIs("LLM"),
			class:   ClassInference,
			fields:  common,
			names:   []string{"OpenAI Chat Completions", "OpenAI Responses", "Anthropic Messages"},
		},
		{
			dialect: dialectOpenInference, when: kindIs("EMBEDDING"), class: ClassEmbedding, fields: common,
			names: []string{"OpenAI Embeddings"},
		},
		{
			dialect: dialectOpenInference, when: kindIs("AGENT"), class: ClassAgent, fields: common,
			names: []string{"{agent.name}"},
		},
		{
			dialect: dialectOpenInference, when: has("openinference.span.kind"), class: ClassOther, fields: common,
		},
	}
}
