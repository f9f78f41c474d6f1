// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectVercel = "vercel-ai"

// vercelNames are the forms of a span name of the AI SDK 3 to 6: since version
// 6 some span processors append the function id.
func vercelNames(operations ...string) []string {
	var out []string
	for _, op := range operations {
		out = append(out, op, op+" {ai.telemetry.functionId}")
	}
	return out
}

// vercelRows are the Vercel AI SDK. Its own keys come first on a span
// that OpenInference's span processor has written too: they are what the
// library said.
func vercelRows() []row {
	common := fields{
		conversationID: attr("ai.telemetry.metadata.sessionId", "session.id", "metadata.sessionId"),
		model:          attr("ai.response.model", "ai.model.id", "gen_ai.response.model", "gen_ai.request.model"),
	}
	rerank := common.plus(fields{
		arguments: attr("ai.documents"),
		result:    attr("ai.ranking"),
	})
	rerankDocuments := []documentSource{ranked("ai.documents", "ai.ranking")}
	return []row{
		{
			dialect: dialectVercel,
			when: either(
				is("ai.operationId", "ai.toolCall"),
				begins("operation.name", "ai.toolCall"),
				has("ai.toolCall.name"),
			),
			class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("ai.toolCall.name", "gen_ai.tool.name", "tool.name"),
				toolCallID: attr("ai.toolCall.id", "gen_ai.tool.call.id", "tool_call.id"),
				arguments: first(
					attr("ai.toolCall.args", "gen_ai.tool.call.arguments", "input.value"),
					except(isSchema, attr("tool.parameters")),
				),
				result: attr("ai.toolCall.result", "gen_ai.tool.call.result", "output.value"),
			}),
			names: append(vercelNames("ai.toolCall"), "execute_tool {gen_ai.tool.name}", "execute_tool {ai.toolCall.name}"),
		},
		{
			dialect:   dialectVercel,
			when:      is("ai.operationId", "ai.rerank", "ai.rerank.doRerank"),
			class:     ClassRetrieval,
			fields:    rerank,
			documents: rerankDocuments,
			names:     append(vercelNames("ai.rerank", "ai.rerank.doRerank"), "rerank", "rerank {gen_ai.request.model}", "rerank {ai.model.id}"),
		},
		{
			dialect: dialectVercel,
			when: is("ai.operationId", "ai.generateText.doGenerate", "ai.streamText.doStream",
				"ai.generateObject.doGenerate", "ai.streamObject.doStream"),
			class:  ClassInference,
			fields: common,
			names: append(vercelNames("ai.generateText.doGenerate", "ai.streamText.doStream",
				"ai.generateObject.doGenerate", "ai.streamObject.doStream"), append(otelLegacyNames, otelInferenceNames...)...),
		},
		{
			dialect: dialectVercel,
			when:    is("ai.operationId", "ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"),
			class:   ClassAgent,
			fields:  common,
			names: append(vercelNames("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"),
				"invoke_agent {ai.telemetry.functionId}"), // as Sentry renames it
		},
		{
			dialect: dialectVercel,
			when:    begins("ai.operationId", "ai.embed"),
			class:   ClassEmbedding,
			fields:  common,
			names: append(vercelNames("ai.embed", "ai.embed.doEmbed", "ai.embedMany", "ai.embedMany.doEmbed"),
				"embed", "embed_many", "embeddings {gen_ai.request.model}", "embeddings {ai.model.id}"), // as Sentry renames it
		},
		// Since version 7 the SDK writes the OpenTelemetry conventions under a
		// scope of its own, with some keys of its own beside.
		{
			dialect: dialectVercel,
			when:    all(is(operation, "rerank"), either(scope("gen_ai"), has("ai.documents", "ai.ranking"))),
			class:   ClassRetrieval,
			fields: otelCommon.plus(rerank).plus(fields{
				model:          otelCommon[model],
				conversationID: first(common[conversationID], otelCommon[conversationID]),
			}),
			documents: rerankDocuments,
			names:     otelInferenceNames,
		},
	}
}
