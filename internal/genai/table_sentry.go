// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectSentry = "sentry"

func sentryOp(ops ...string) condition { return is("sentry.op", ops...) }

// sentryReads are the tools of Sentry's SDKs, which have keys of their own for
// what a tool was asked and answered. Those that a model asked for stand
// elsewhere.
func sentryReads() []row {
	executed := either(is(operation, "execute_tool"), lacks(operation))
	return []row{{
		dialect: dialectSentry,
		when:    either(sentryOp("gen_ai.execute_tool"), all(has("gen_ai.tool.input", "gen_ai.tool.output"), executed)),
		class:   ClassTool,
		fields: otelTool.plus(fields{
			arguments: attr("gen_ai.tool.input", "gen_ai.tool.call.arguments", "ai.toolCall.args"),
			result:    attr("gen_ai.tool.output", "gen_ai.tool.call.result", "ai.toolCall.result"),
		}),
		names: otelToolNames,
	}}
}

// sentryOthers are operations that only Sentry's own key names.
func sentryOthers() []row {
	return []row{
		{
			dialect: dialectSentry, class: ClassInference, fields: otelCommon,
			when: sentryOp("gen_ai.chat", "gen_ai.generate_text", "gen_ai.generate_content", "gen_ai.stream_text", "gen_ai.generate_object",
				"gen_ai.stream_object", "gen_ai.responses", "gen_ai.completion", "gen_ai.text_completion",
				"ai.chat_completions.create.cohere", "ai.messages.create.anthropic", "ai.chat_completions.create.huggingface_hub"),
			names: otelLegacyNames,
		},
		{dialect: dialectSentry, when: sentryOp("gen_ai.embeddings", "gen_ai.embed", "gen_ai.embed_many", "ai.embeddings.create.cohere"), class: ClassEmbedding, fields: otelCommon, names: otelLegacyNames},
		{
			dialect: dialectSentry, when: sentryOp("gen_ai.invoke_agent", "gen_ai.create_agent", "gen_ai.handoff"), class: ClassAgent, fields: otelCommon,
			names: []string{"invoke_agent {gen_ai.agent.name}", "create_agent {gen_ai.agent.name}"},
		},
	}
}
