// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectOpenInference = "openinference"

// openInferenceKind holds for spans of one of the kinds. Some libraries spell
// them in small letters.
func openInferenceKind(kinds ...string) condition {
	return isAnyCase("openinference.span.kind", kinds...)
}

// openInferenceCommon are OpenInference's keys, and those of the OpenTelemetry
// conventions, which some libraries write instead.
var openInferenceCommon = fields{
	conversationID: attr("session.id"),
	agentID:        attr("agent.id"),
	agentName:      attr("agent.name"),
	model: attr("llm.response.model_name", "llm.model_name", "llm.request.model_name",
		"embedding.model_name", "reranker.model_name"),
}.or(otelCommon)

// openInferenceReads are the kinds of OpenInference that are reads.
func openInferenceReads() []row {
	common := openInferenceCommon
	parameters := attr("llm.invocation_parameters")
	return []row{
		{
			dialect: dialectOpenInference,
			when:    openInferenceKind("TOOL"),
			class:   ClassTool,
			fields: common.plus(fields{
				toolName:   first(attr("tool.name", "gen_ai.tool.name"), spanName()),
				toolCallID: attr("tool_call.id", "tool.id", "tool.call_id", "gen_ai.tool.call.id"),
				// tool.parameters are the arguments in some libraries and the
				// tool's schema in others, so it is only the last resort.
				arguments: first(attr("input.value", "gen_ai.tool.call.arguments"), except(isSchema, attr("tool.parameters"))),
				result:    attr("output.value", "gen_ai.tool.call.result"),
			}).or(otelTool),
			names: []string{"{tool.name}", "execute_tool {tool.name}", "execute_tool {gen_ai.tool.name}"},
		},
		{
			dialect: dialectOpenInference,
			when:    openInferenceKind("RETRIEVER"),
			class:   ClassRetrieval,
			fields: common.plus(fields{
				query:  attr("input.value"),
				result: attr("output.value"),
				// Amazon Bedrock's knowledge bases.
				indexID: first(
					inside(parameters, "knowledgeBaseId"),
					inside(parameters, "retrieveAndGenerateConfiguration", "knowledgeBaseConfiguration", "knowledgeBaseId"),
				),
				topK: inside(parameters, "retrievalConfiguration", "vectorSearchConfiguration", "numberOfResults"),
			}).or(otelRetrieval).or(otelTool),
			documents: []documentSource{
				flattened("retrieval.documents.", ".document."),
				documentsIn(attr("retrieval.documents", "gen_ai.retrieval.documents", "output.value", "gen_ai.tool.call.result")),
			},
		},
		{
			dialect: dialectOpenInference,
			when:    openInferenceKind("RERANKER"),
			class:   ClassRetrieval,
			fields: common.plus(fields{
				query:     attr("reranker.query"),
				arguments: attr("input.value"),
				result:    attr("output.value"),
				topK:      attr("reranker.top_k"),
			}).or(otelRetrieval).or(otelTool),
			documents: []documentSource{
				flattened("reranker.output_documents.", ".document."),
				documentsIn(attr("reranker.output_documents", "gen_ai.retrieval.documents", "output.value")),
				asked(flattened("reranker.input_documents.", ".document.")),
			},
		},
	}
}

// openInferenceOthers are the kinds that are no reads. A span of one of them
// that another convention says was executed is a read all the same.
func openInferenceOthers() []row {
	common := openInferenceCommon
	return []row{
		{
			dialect: dialectOpenInference,
			when:    openInferenceKind("LLM"),
			class:   ClassInference,
			fields:  common,
			names:   []string{"OpenAI Chat Completions", "OpenAI Responses", "Anthropic Messages"},
		},
		{
			dialect: dialectOpenInference, when: openInferenceKind("EMBEDDING"), class: ClassEmbedding, fields: common,
			names: []string{"OpenAI Embeddings"},
		},
		{
			dialect: dialectOpenInference, when: openInferenceKind("AGENT"), class: ClassAgent, fields: common,
			names: []string{"{agent.name}"},
		},
		{
			dialect: dialectOpenInference, when: openInferenceKind("CHAIN", "GUARDRAIL", "EVALUATOR", "PROMPT"),
			class: ClassOther, fields: common,
		},
	}
}

// openInferenceRest are the kinds that say nothing, such as UNKNOWN: whatever
// else knows the span knows it better.
func openInferenceRest() []row {
	return []row{{
		dialect: dialectOpenInference, when: has("openinference.span.kind"), class: ClassOther, fields: openInferenceCommon,
	}}
}
