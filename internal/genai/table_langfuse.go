// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectLangfuse = "langfuse"

// langfuseType holds for observations of one of the types. The SDKs write them
// in small letters, the API in capitals.
func langfuseType(types ...string) condition { return isAnyCase("langfuse.observation.type", types...) }

var langfuseCommon = fields{
	conversationID: attr("session.id", "langfuse.session.id"),
	model:          attr("langfuse.observation.model.name"),
}.or(otelCommon)

// langfuseReads are the observations of the Langfuse SDKs that are reads. The
// name of the tool is the span's.
func langfuseReads() []row {
	return []row{
		{
			dialect: dialectLangfuse, when: langfuseType("tool"), class: ClassTool,
			fields: langfuseCommon.plus(fields{
				toolName:   first(attr("gen_ai.tool.name"), spanName()),
				toolCallID: attr("gen_ai.tool.call.id"),
				arguments:  attr("langfuse.observation.input"),
				result:     attr("langfuse.observation.output"),
			}).or(otelTool),
			names: []string{"{tool}"},
		},
		{
			dialect: dialectLangfuse, when: langfuseType("retriever"), class: ClassRetrieval,
			fields: langfuseCommon.plus(fields{
				query:  attr("langfuse.observation.input"),
				result: attr("langfuse.observation.output"),
			}).or(otelRetrieval),
			documents: []documentSource{documentsIn(attr("langfuse.observation.output", "gen_ai.retrieval.documents"))},
		},
	}
}

// langfuseOthers are the observations that are no reads. Until version 3.3 the
// Python SDK called a generation a span.
func langfuseOthers() []row {
	generation := either(
		langfuseType("generation"),
		all(langfuseType("span"), has("langfuse.observation.model.name")),
	)
	return []row{
		{dialect: dialectLangfuse, when: generation, class: ClassInference, fields: langfuseCommon},
		{dialect: dialectLangfuse, when: langfuseType("embedding"), class: ClassEmbedding, fields: langfuseCommon},
		{
			dialect: dialectLangfuse, when: langfuseType("agent"), class: ClassAgent,
			fields: langfuseCommon.or(fields{agentName: spanName()}),
		},
		{
			dialect: dialectLangfuse, when: langfuseType("span", "event", "chain", "guardrail", "evaluator"),
			class: ClassOther, fields: langfuseCommon,
		},
	}
}
