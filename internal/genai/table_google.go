// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectADK    = "google-adk"
	dialectGenkit = "genkit"
)

// adkRows are Google's Agent Development Kit in Python, JavaScript and Go. Told
// to leave content out, it writes {} in its place.
func adkRows() []row {
	library := scope("gcp.vertex.agent")
	common := fields{
		conversationID: attr("gcp.vertex.agent.session_id"),
		executionID:    attr("gcp.vertex.agent.invocation_id"),
	}.or(otelCommon)
	return []row{
		{
			// A tool that failed has its name in the span name and nothing else.
			dialect: dialectADK,
			when: either(
				all(library, either(is(operation, "execute_tool"), named("execute_tool *"))),
				all(has("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"), lacks("openinference.span.kind")),
			),
			class: ClassTool,
			fields: common.plus(fields{
				toolName:   otelTool[toolName],
				toolCallID: otelTool[toolCallID],
				arguments:  attr("gcp.vertex.agent.tool_call_args", "gen_ai.tool.call.arguments"),
				result:     attr("gcp.vertex.agent.tool_response", "gen_ai.tool.call.result"),
			}),
			names: []string{"execute_tool {tool}", "execute_tool (merged)"},
			noise: true,
		},
		{
			dialect: dialectADK,
			when: all(library, either(
				is(operation, otelInference...),
				named("call_llm", "send_data"),
				has("gcp.vertex.agent.llm_request", "gcp.vertex.agent.data"),
			)),
			class: ClassInference, fields: common,
			names: append([]string{"call_llm", "send_data"}, otelInferenceNames...),
		},
		{
			dialect: dialectADK, when: all(library, either(named("invocation"), is(operation, "invoke_workflow"))), class: ClassOther, fields: common,
			names: append([]string{"invocation"}, otelAgentNames...),
		},
		{
			dialect: dialectADK,
			when:    all(library, either(is(operation, otelAgent...), named("agent_run*", "invoke_agent *"))),
			class:   ClassAgent, fields: common,
			names: append([]string{"agent_run [{gen_ai.agent.name}]"}, otelAgentNames...),
		},
	}
}

// genkitRows are Genkit in JavaScript, Go and Python. Its values are JSON, of
// which plain text is a string in quotes.
func genkitRows() []row {
	subtype := func(subtypes ...string) condition { return is("genkit:metadata:subtype", subtypes...) }
	common := fields{
		conversationID: attr("genkit:metadata:sessionId", "session.id"),
		model:          attr("genkit:name"),
	}
	read := fields{
		toolName:  attr("genkit:name"),
		arguments: attr("genkit:input"),
		result:    attr("genkit:output"),
	}
	names := []string{"{genkit:name}"}
	outcome := outcomeOf("genkit:state", "success", "error")
	return []row{
		{
			dialect: dialectGenkit, when: subtype("tool", "tool.v2"), class: ClassTool,
			fields: read, names: names, outcome: outcome,
		},
		{
			dialect: dialectGenkit, when: subtype("retriever"), class: ClassRetrieval,
			fields: fields{
				indexID: attr("genkit:name"),
				query:   attr("genkit:input"),
				result:  attr("genkit:output"),
			},
			documents: []documentSource{documentsIn(attr("genkit:output"))},
			names:     names, outcome: outcome,
		},
		{
			dialect: dialectGenkit, when: subtype("reranker"), class: ClassRetrieval,
			fields:    read.plus(fields{toolName: nil}),
			documents: []documentSource{documentsIn(attr("genkit:output"))},
			names:     names, outcome: outcome,
		},
		{
			// A resource of an MCP server that was read as one of the model's own.
			dialect: dialectGenkit, when: subtype("resource", "dynamic-resource"), class: ClassDocument,
			fields: read.plus(fields{toolName: nil, documentURI: inside(attr("genkit:input"), "uri")}),
			names:  names, outcome: outcome,
		},
		{dialect: dialectGenkit, when: subtype("model", "background-model"), class: ClassInference, fields: common, names: names},
		{dialect: dialectGenkit, when: subtype("embedder"), class: ClassEmbedding, fields: common, names: names},
		{
			dialect: dialectGenkit, when: either(subtype("flow", "agent"), is("genkit:type", "flow")), class: ClassAgent,
			fields: fields{conversationID: common[conversationID], agentName: attr("genkit:name")}, names: names,
		},
		{
			dialect: dialectGenkit, when: has("genkit:name", "genkit:type"), class: ClassOther,
			fields: fields{conversationID: common[conversationID]}, names: names,
		},
	}
}
