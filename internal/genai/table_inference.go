// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// modelCall returns where a dialect writes what went into a model call and what
// came out: in places of its own, else in those of the OpenTelemetry conventions.
// What a row itself says comes before.
func modelCall(dialect string) fields { return modelCalls[dialect].or(otelModelCall) }

// inferenceDetails is the event of the conventions that holds what a model call
// was given, on the span or as a log record.
const inferenceDetails = "gen_ai.client.inference.operation.details"

var otelModelCall = fields{
	inputMessages: first(
		attr("gen_ai.input.messages"),
		eventAttr(inferenceDetails, "gen_ai.input.messages"),
		attr("gen_ai.request.messages"),
		messageEvents("gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message", "gen_ai.tool.message"),
		flat("gen_ai.prompt."),
		attr("gen_ai.prompt"),
		eventAttr("gen_ai.content.prompt", "gen_ai.prompt"),
	),
	systemInstructions: first(attr("gen_ai.system_instructions"), eventAttr(inferenceDetails, "gen_ai.system_instructions")),
	toolDefinitions: first(
		attr("gen_ai.tool.definitions"),
		eventAttr(inferenceDetails, "gen_ai.tool.definitions"),
		attr("gen_ai.request.available_tools"),
		flat("llm.request.functions."),
	),
	outputMessages: first(
		attr("gen_ai.output.messages"),
		eventAttr(inferenceDetails, "gen_ai.output.messages"),
		attr("gen_ai.response.tool_calls"),
		messageEvents("gen_ai.choice"),
		nested("gen_ai.completion."),
		attr("gen_ai.completion"),
		eventAttr("gen_ai.content.completion", "gen_ai.completion"),
		attr("gen_ai.response.text"),
	),
	// Sentry writes the last of many messages only.
	inputLength:   attr("sentry.sdk_meta.gen_ai.input.messages.original_length"),
	modelProvider: attr("gen_ai.provider.name", "gen_ai.system"),
	requestModel:  attr("gen_ai.request.model"),
	responseModel: attr("gen_ai.response.model"),
}

// openInferenceModelCall reads the whole request first: of the messages in
// attributes of their own libraries leave out parts that the attributes have no
// name for.
var openInferenceModelCall = fields{
	inputMessages:   first(attr("input.value"), flat("llm.input_messages.")),
	toolDefinitions: flat("llm.tools."),
	outputMessages:  first(nested("llm.output_messages."), attr("output.value")),
	modelProvider:   attr("llm.provider", "llm.system"),
	requestModel:    attr("llm.request.model_name", "llm.model_name"),
	responseModel:   attr("llm.response.model_name"),
}

// whole are a model call whose input and output stand in one attribute each.
func whole(input, output string) fields {
	return fields{inputMessages: attr(input), outputMessages: attr(output)}
}

// modelCalls are the dialects that have places of their own.
var modelCalls = map[string]fields{
	dialectOpenInference: openInferenceModelCall,
	dialectMastra: fields{
		inputMessages:  attr("mastra.model_inference.input", "mastra.model_generation.input", "mastra.llm_generation.input"),
		outputMessages: attr("mastra.model_inference.output", "mastra.model_generation.output", "mastra.llm_generation.output"),
	}.or(openInferenceModelCall),
	dialectVercel: {
		inputMessages:   attr("ai.prompt.messages", "ai.prompt"),
		toolDefinitions: attr("ai.prompt.tools"),
		outputMessages:  attr("ai.response.toolCalls", "ai.result.toolCalls", "ai.response.object", "ai.response.text"),
		modelProvider:   attr("ai.model.provider"),
		requestModel:    attr("ai.model.id"),
		responseModel:   attr("ai.response.model"),
	},
	dialectGenkit: whole("genkit:input", "genkit:output").plus(fields{requestModel: attr("genkit:name")}),
	dialectADK:    whole("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
	dialectLangfuse: whole("langfuse.observation.input", "langfuse.observation.output").plus(fields{
		requestModel: attr("langfuse.observation.model.name"),
	}),
	dialectMLflow: whole("mlflow.spanInputs", "mlflow.spanOutputs").or(fields{toolDefinitions: attr("mlflow.chat.tools")}),
	dialectLiveKit: {
		inputMessages:   attr("lk.chat_ctx"),
		toolDefinitions: attr("lk.function_tools"),
		outputMessages:  attr("lk.response.function_calls", "lk.response.text"),
	},
	dialectLoongSuite: openInferenceModelCall,
	dialectDify:       openInferenceModelCall,
}
