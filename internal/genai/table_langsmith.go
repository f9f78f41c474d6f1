// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectLangSmith = "langsmith"

// langSmithKind holds for runs of one of the types, which an application that
// sets them itself spells in either case.
func langSmithKind(kinds ...string) condition { return isAnyCase("langsmith.span.kind", kinds...) }

// langSmithCommon are the fields of every run. The run of an agent is the root
// of its trace of runs, which has the id of the trace.
var langSmithCommon = fields{
	conversationID: attr("langsmith.metadata.session_id", "langsmith.metadata.thread_id", "langsmith.metadata.conversation_id"),
	executionID:    attr("langsmith.trace.id"),
}.or(otelCommon)

var langSmithNames = []string{"{langsmith.trace.name}"}

// langSmithReads are the runs of LangSmith's OpenTelemetry exporters that are
// reads. They put all inputs into gen_ai.prompt and all outputs into
// gen_ai.completion, whatever the run, as empty objects if told to hide them;
// a retriever's operation is "embeddings". A nested run can overwrite
// langsmith.trace.name, so that the span's name is the better one.
func langSmithReads() []row {
	tool := langSmithCommon.plus(fields{
		toolName:   first(attr("gen_ai.tool.name"), spanName(), attr("langsmith.trace.name")),
		toolCallID: attr("gen_ai.tool.call.id"),
		arguments:  attr("gen_ai.prompt", "input.value"),
		result:     attr("gen_ai.completion", "output.value"),
	}).or(otelTool)
	// Its wrapper of the Vercel AI SDK gives a tool's arguments and options as
	// they were passed to the function.
	passed := inside(attr("gen_ai.prompt"), "args")
	return []row{
		{
			dialect: dialectLangSmith, when: all(is("langsmith.metadata.ls_integration", "vercel-ai-sdk"), langSmithKind("tool")), class: ClassTool,
			fields: tool.plus(fields{
				toolCallID: first(tool[toolCallID], inside(passed, "1", "toolCallId")),
				arguments:  first(inside(passed, "0"), tool[arguments]),
			}),
			names: []string{"{tool}"},
			noise: true,
		},
		{
			dialect: dialectLangSmith, when: langSmithKind("tool"), class: ClassTool,
			fields: tool,
			names:  []string{"{tool}"},
			noise:  true,
		},
		{
			dialect: dialectLangSmith, when: langSmithKind("retriever"), class: ClassRetrieval,
			fields: langSmithCommon.plus(fields{
				query:  first(inside(attr("gen_ai.prompt"), "query"), inside(attr("gen_ai.prompt"), "input"), attr("gen_ai.prompt", "input.value")),
				result: attr("gen_ai.completion", "output.value"),
			}).or(otelRetrieval),
			documents: []documentSource{documentsIn(first(
				inside(attr("gen_ai.completion"), "outputs"), inside(attr("gen_ai.completion"), "output"),
				attr("gen_ai.completion", "output.value", "gen_ai.retrieval.documents"),
			))},
			names: langSmithNames,
			noise: true,
		},
	}
}

// langSmithOthers are the runs that are no reads. Their operation is no help:
// that of a prompt template is "chat".
func langSmithOthers() []row {
	return []row{
		{dialect: dialectLangSmith, when: langSmithKind("llm"), class: ClassInference, fields: langSmithCommon, names: langSmithNames},
		{dialect: dialectLangSmith, when: langSmithKind("embedding"), class: ClassEmbedding, fields: langSmithCommon, names: langSmithNames},
		{
			dialect: dialectLangSmith, when: langSmithKind("chain", "prompt", "parser"),
			class: ClassOther, fields: langSmithCommon, names: langSmithNames,
		},
	}
}
