// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const dialectLiteLLM = "litellm"

// litellmRows are LiteLLM's spans, where no operation and no model says more. A
// raw request repeats the model call above it as the provider saw it.
func litellmRows() []row {
	litellm := scope("litellm")
	return []row{
		{dialect: dialectLiteLLM, when: all(litellm, named("litellm_request", "raw_gen_ai_request")), class: ClassInference, fields: otelCommon},
		{
			dialect: dialectLiteLLM, when: litellm, class: ClassOther, fields: otelCommon,
			names: []string{"Received Proxy Server Request"},
		},
	}
}
