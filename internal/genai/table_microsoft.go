// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

const (
	dialectAzureAgents    = "azure-ai-agents"
	dialectAgentFramework = "agent-framework"
	dialectSemanticKernel = "semantic-kernel"
	dialectA365           = "microsoft-agents-365"
	dialectAutoGen        = "autogen"
)

// azureOutput is the event by which Azure's clients tell an agent what a tool
// answered: JSON with the members content and id.
func azureOutput(member string) []source {
	return inside(onlyEventAttr("gen_ai.tool.message", "gen_ai.event.content"), member)
}

// microsoftRows are Microsoft's agent libraries where they say more than the
// OpenTelemetry conventions, or otherwise. Semantic Kernel, the Agent Framework
// and Microsoft.Extensions.AI write the conventions for tools and models.
func microsoftRows() []row {
	azure := either(
		is("gen_ai.system", "az.ai.agents"),
		is("gen_ai.provider.name", "az.ai.agents", "azure.ai.agents", "microsoft.agents", "microsoft.foundry"),
	)
	azureOp := func(operations ...string) condition { return all(azure, is(operation, operations...)) }
	common := fields{
		conversationID: attr("gen_ai.thread.id"),
		executionID:    attr("gen_ai.thread.run.id"),
	}.or(otelCommon)
	names := append([]string{"{gen_ai.operation.name}"}, otelAgentNames...)
	return []row{
		{
			// Outputs of several calls have no one call id and no one result.
			dialect: dialectAzureAgents, when: azureOp("submit_tool_outputs"), class: ClassTool,
			fields: common.plus(fields{
				toolName:   attr("gen_ai.tool.name"),
				toolCallID: first(attr("gen_ai.tool.call.id"), azureOutput("id")),
				result: first(
					azureOutput("content"),
					allEventsAttr("gen_ai.tool.message", "gen_ai.event.content"),
				),
			}),
			names: names,
		},
		{
			dialect: dialectAzureAgents, when: azureOp("process_thread_run", "start_thread_run", "create_agent", "invoke_agent"),
			class: ClassAgent, fields: common, names: names,
		},
		{
			dialect: dialectAzureAgents, when: azureOp("responses"), class: ClassInference, fields: common,
			names: append([]string{"{gen_ai.operation.name}"}, otelInferenceNames...),
		},
		{
			dialect: dialectAzureAgents,
			when: azureOp("create_thread", "create_message", "list_messages", "list_run_steps", "get_thread_run",
				"create_conversation", "list_conversation_items"),
			class: ClassOther, fields: common, names: names,
		},
		{
			dialect: dialectA365,
			when:    all(either(has("gen_ai.tool.arguments"), has("gen_ai.event.content")), is(operation, "execute_tool")),
			class:   ClassTool,
			fields: otelTool.plus(fields{
				arguments: attr("gen_ai.tool.arguments", "gen_ai.tool.call.arguments"),
				result:    attr("gen_ai.event.content", "gen_ai.tool.call.result"),
			}),
			names: otelToolNames,
		},
		{
			dialect: dialectSemanticKernel,
			when: is(operation, "chat.completions", "text.completions", "chat.streaming_completions", "text.streaming_completions",
				"realtime"),
			class: ClassInference, fields: otelCommon, names: otelInferenceNames,
		},
		{
			dialect: dialectAgentFramework,
			when: all(
				scope("agent_framework*", "Experimental.Microsoft.Agents.AI*", "Microsoft.Agents.AI*"),
				named("workflow.*", "workflow_*", "executor.*", "message.send", "edge_group.process*"),
			),
			class: ClassOther, fields: otelCommon,
			names: []string{"workflow.run", "workflow.build", "workflow_invoke", "workflow.session", "message.send", "executor.process {executor.id}", "edge_group.process"},
		},
		{
			dialect: dialectAutoGen, when: all(scope("autogen-core", "autogen*"), named("autogen *")),
			class: ClassOther, fields: otelCommon,
		},
	}
}
