// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectStrands   = "strands"
	dialectADOT      = "adot"
	dialectAgentCore = "bedrock-agentcore"
)

// details is the event of the conventions that holds messages. Strands writes
// it to spans, one for what was asked and one for what was answered.
const details = "gen_ai.client.inference.operation.details"

// strandsTool are the places of a tool's arguments and result in all modes of
// Strands: events of the conventions until 1.36, in which the message "to the
// tool" holds the arguments; events since 1.37; copies of either in attributes
// of the span; and what OpenInference's processor puts in place of the events.
var strandsTool = otelTool.plus(fields{
	arguments: first(
		attr("gen_ai.tool.call.arguments"),
		eventAttr("gen_ai.tool.message", "content"),
		messagePart(eventAttr(details, "gen_ai.input.messages"), "tool_call", "arguments"),
		messagePart(attr("gen_ai.input.messages"), "tool_call", "arguments"),
		attr("content"),
		attr("input.value", "tool.parameters"),
	),
	result: first(
		attr("gen_ai.tool.call.result"),
		eventAttr("gen_ai.choice", "message"),
		messagePart(eventAttr(details, "gen_ai.output.messages"), "tool_call_response", "response", "result"),
		messagePart(attr("gen_ai.output.messages"), "tool_call_response", "response", "result"),
		attr("message"),
		attr("output.value"),
	),
})

// strandsRows are Strands Agents in Python and TypeScript.
func strandsRows() []row {
	library := either(
		scope("strands.telemetry*", "strands-agents*"),
		is("gen_ai.provider.name", "strands-agents"), is("gen_ai.system", "strands-agents"),
	)
	op := func(operations ...string) condition { return all(library, is(operation, operations...)) }
	memory := otelCommon.plus(fields{
		memoryOperation: attr(operation),
		// Only one store is the one that was searched.
		storeID: provided(is("memory.store.count", "1"), inside(attr("memory.store.names"), "0")),
	})
	// In the mode of attributes what was found replaces what was searched for.
	answered := has("memory.result.count")
	found := first(eventAttr("memory.results", "content"), provided(answered, attr("content")))
	names := []string{"{gen_ai.operation.name}"}
	return []row{
		{
			dialect: dialectStrands, when: op("execute_tool"), class: ClassTool, fields: strandsTool, names: otelToolNames,
			outcome: outcomeOf("gen_ai.tool.status", "success", "error"),
		},
		{
			dialect: dialectStrands, when: op("memory.search"), class: ClassMemory,
			fields: memory.plus(fields{
				arguments: first(eventAttr("memory.query", "content"), provided(lacks("memory.result.count"), attr("content"))),
				result:    found,
			}),
			documents: []documentSource{documentsIn(found)},
			names:     names,
		},
		{
			dialect: dialectStrands, when: op("memory.add"), class: ClassMemory,
			fields: memory.plus(fields{arguments: first(eventAttr("memory.content", "content"), attr("content"))}),
			names:  names,
		},
		{
			// What was put before the model, of which only the number is told.
			dialect: dialectStrands, when: op("memory.inject"), class: ClassMemory, fields: memory,
			documents: []documentSource{counted("memory.entry.count")},
			names:     names,
		},
		{
			dialect: dialectStrands, when: op(otelInference...), class: ClassInference, fields: otelCommon,
			names: append([]string{"{gen_ai.operation.name}"}, otelInferenceNames...),
		},
		{
			dialect: dialectStrands, when: all(library, either(is(operation, otelAgent...), begins(operation, "invoke_"))),
			class: ClassAgent, fields: otelCommon, names: otelAgentNames,
		},
		{
			dialect: dialectStrands, when: either(named("execute_event_loop_cycle", "execute_agent_loop_cycle"), has("event_loop.cycle_id", "agent_loop.cycle_id")),
			class: ClassOther, fields: otelCommon, names: []string{"execute_event_loop_cycle", "execute_agent_loop_cycle"},
		},
	}
}

// agentCoreRows are what Amazon Bedrock AgentCore and AWS's distribution of
// OpenTelemetry say themselves. Reads of an AgentCore memory are told by the
// service and by the client of the AWS SDK, both by the name of the API.
func agentCoreRows() []row {
	memory := []string{
		"RetrieveMemoryRecords", "ListMemoryRecords", "GetMemoryRecord", "DeleteMemoryRecord", "BatchCreateMemoryRecords",
		"BatchUpdateMemoryRecords", "BatchDeleteMemoryRecords", "CreateEvent", "GetEvent", "ListEvents", "DeleteEvent",
	}
	common := fields{
		conversationID: attr("session.id"),
		requestID:      attr("aws.request.id", "aws.request_id"),
	}
	isAgentCore := is("rpc.service", "Bedrock AgentCore", "BedrockAgentCore", "bedrock-agentcore")
	return []row{
		{
			dialect: dialectAgentCore,
			when: either(
				all(is("aws.operation.name", memory...), has("memory.id", "aws.resource.arn")),
				all(isAgentCore, is("rpc.method", memory...)),
			),
			class: ClassMemory,
			fields: common.plus(fields{
				storeID:         attr("memory.id", "aws.bedrock.agentcore.memory.arn"),
				memoryOperation: attr("aws.operation.name", "rpc.method"),
			}),
			names: []string{"{aws.operation.name}", "{rpc.service}.{rpc.method}", "{rpc.service}/{rpc.method}", "{rpc.method}"},
		},
		{
			dialect: dialectAgentCore, when: all(has("gateway.id"), has("tool.name")), class: ClassTool,
			fields: common.plus(fields{toolName: attr("tool.name")}),
			names:  []string{"{aws.operation.name}"},
		},
		{
			dialect: dialectAgentCore,
			when:    either(is("aws.operation.name", "InvokeAgentRuntime"), all(isAgentCore, is("rpc.method", "InvokeAgentRuntime"))),
			class:   ClassAgent, fields: common.plus(fields{agentID: attr("aws.agent.id")}),
			names: []string{"{aws.operation.name}", "{rpc.service}.{rpc.method}", "{rpc.service}/{rpc.method}"},
		},
		{dialect: dialectADOT, signal: isLog, when: all(has("event.name", "session.id"), bodyHoldsMessages()), class: ClassInference, fields: otelCommon},
	}
}
