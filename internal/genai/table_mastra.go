// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectMastra = "mastra"
	dialectCrewAI = "crewai"
	dialectFlue   = "flue"
)

// mastraRows are Mastra through its exporters for OpenInference and for the
// OpenTelemetry conventions. What kind of span it is stands in a key of its own,
// which is right where the kind of OpenInference is not: a chunk of a stream is
// no model call.
func mastraRows() []row {
	spanType := func(types ...string) condition { return is("mastra.span.type", types...) }
	common := fields{
		executionID: first(attr("mastra.metadata.runId"), inside(attr("metadata"), "runId")),
	}.or(openInferenceCommon)
	// Every type of span has keys of its own for what went in and came out.
	io := func(side string, types ...string) []source {
		keys := []string{side + ".value"}
		for _, t := range types {
			keys = append(keys, "mastra."+t+"."+side)
		}
		return attr(append(keys, side)...)
	}
	tools := []string{"tool_call", "mcp_tool_call", "client_tool_call", "provider_tool_call"}
	return []row{
		{
			dialect: dialectMastra, when: spanType(tools...), class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("tool.name", "gen_ai.tool.name"),
				toolCallID: attr("tool_call.id", "gen_ai.tool.call.id"),
				arguments:  first(attr("gen_ai.tool.call.arguments"), io("input", tools...)),
				result:     first(attr("gen_ai.tool.call.result"), io("output", tools...)),
			}),
			names: append([]string{"execute_tool {tool.name}", "mcp_tool {tool.name}"}, otelToolNames...),
		},
		{
			dialect: dialectMastra, when: spanType("memory_operation"), class: ClassMemory,
			fields: common.plus(fields{
				arguments: io("input", "memory_operation"),
				result:    io("output", "memory_operation"),
			}),
			documents: []documentSource{documentsIn(inside(io("output", "memory_operation"), "messages"))},
			names:     []string{"memory_operation"},
		},
		{
			dialect: dialectMastra, when: spanType("rag_vector_operation"), class: ClassRetrieval,
			// Of a query through Mastra's tool only the numbers are recorded.
			fields: common.plus(fields{
				query: first(
					inside(io("input", "rag_vector_operation"), "queryText"),
					except(isObject, io("input", "rag_vector_operation")),
				),
				arguments: io("input", "rag_vector_operation"),
				topK:      inside(io("input", "rag_vector_operation"), "topK"),
				result:    io("output", "rag_vector_operation"),
			}),
			documents: []documentSource{documentsIn(io("output", "rag_vector_operation"))},
			names:     []string{"rag_vector_operation", "rag_vector_operation query"},
		},
		{dialect: dialectMastra, when: spanType("rag_embedding"), class: ClassEmbedding, fields: common, names: []string{"rag_embedding"}},
		{
			dialect: dialectMastra, when: spanType("agent_run"), class: ClassAgent, fields: common,
			names: append([]string{"invoke_agent {agent.name}"}, otelAgentNames...),
		},
		{
			dialect: dialectMastra, when: spanType("model_generation", "model_inference", "llm_generation"), class: ClassInference, fields: common,
			names: append([]string{"chat {llm.model_name}", "{mastra.span.type} {agent.name}"}, otelInferenceNames...),
		},
		{
			dialect: dialectMastra, when: has("mastra.span.type"), class: ClassOther, fields: common,
			names: []string{"{mastra.span.type}", "{mastra.span.type} {agent.name}", "{mastra.span.type} {#}", "{mastra.span.type} {gen_ai.agent.name}"},
		},
	}
}

// crewAIRows are CrewAI's own telemetry. It names tools and, where its users
// share their crews, holds what crews and tasks were told and said; never the
// arguments or the result of a tool.
func crewAIRows() []row {
	library := func(names ...string) condition { return all(scope("crewai.telemetry"), named(names...)) }
	return []row{
		{
			dialect: dialectCrewAI, when: library("Tool Usage", "Tool Usage Error"), class: ClassTool,
			fields: fields{toolName: attr("tool_name")},
			names:  []string{"Tool Usage", "Tool Usage Error"},
		},
		{
			dialect: dialectCrewAI, when: library("Crew Execution", "Task Execution", "Flow Execution"), class: ClassAgent,
			names: []string{"Crew Execution", "Task Execution", "Flow Execution"},
		},
		{
			dialect: dialectCrewAI, when: besides(scope("crewai.telemetry")), class: ClassOther,
			names: []string{"Crew Created", "Task Created", "Tool Repeated Usage", "Flow Creation", "Flow Plotting", "Crew Test Execution", "Human Feedback"},
		},
	}
}

// flueRows are Flue, which had keys of its own until version 2 and since then
// writes the OpenTelemetry conventions. What its caller ran in a shell is no
// tool of the agent.
func flueRows() []row {
	flue := scope("@flue/opentelemetry")
	common := fields{
		executionID:    attr("flue.run_id", "flue.submission.id"),
		conversationID: attr("gen_ai.conversation.id", "flue.instance_id"),
		agentName:      attr("flue.task.agent", "flue.workflow.name"),
	}
	return []row{
		{
			dialect: dialectFlue, when: either(has("flue.tool.name", "flue.tool.call_id"), all(flue, is(operation, "execute_tool"))), class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("flue.tool.name"),
				toolCallID: attr("flue.tool.call_id"),
				arguments:  attr("flue.tool.arguments"),
				result:     attr("flue.tool.result"),
			}).or(otelTool),
			names: append([]string{"flue.tool {flue.tool.name}"}, otelToolNames...),
		},
		{
			dialect: dialectFlue, when: all(flue, is(operation, otelInference...)), class: ClassInference,
			fields: common.or(otelCommon), names: append([]string{"gen_ai.generate"}, otelInferenceNames...),
		},
		{
			dialect: dialectFlue,
			when: either(
				named("flue.task", "flue.task *", "flue.workflow *"),
				all(flue, either(has("flue.task.prompt", "flue.workflow.name"), is(operation, otelAgent...))),
			),
			class: ClassAgent, fields: common.or(otelCommon),
			names: append([]string{"flue.task", "flue.task {flue.task.agent}", "flue.workflow {flue.workflow.name}"}, otelAgentNames...),
		},
		{
			dialect: dialectFlue, when: besides(either(flue, named("flue.operation *", "flue.compaction"))), class: ClassOther, fields: common,
			names: []string{"flue.operation {flue.operation.kind}", "flue.operation shell", "flue.compaction", "flue.coordinator"},
		},
	}
}
