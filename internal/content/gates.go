// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// Gate says how to read the attributes that stand together: those of one
// scope's spans, of one event or of one log record.
type Gate uint8

const (
	// GateGeneric makes keys of genericPlaces content: the library is one
	// that puts content under them.
	GateGeneric Gate = 1 << iota
	// GateWhole makes every key that is not harmless content: the event
	// consists of content.
	GateWhole
)

// gatedScopes are instrumentation scopes, whole or up to a dot, a slash or a
// dash, that put content under generic names.
var gatedScopes = []string{
	"logfire", "pydantic-ai", "gcp.vertex.agent", "strands", "strands-agents", "genkit-tracer", "livekit-agents", "langfuse-sdk", "langsmith", "litellm",
	"agent_framework", "@flue/opentelemetry", "@mastra", "autogen-core", "autogen", "crewai", "fastmcp", "llamaindex", "com.anthropic.claude_code", "gemini-cli",
	"codex_otel", "codex", "openinference", "@arizeai/openinference", "ai", "gen_ai", "pipecat", "github-copilot", "copilot-chat", "haystack", "dify",
	"opentelemetry.instrumentation.google_genai", "opentelemetry.instrumentation.mcp", "@traceloop", "@openlit", "openlit", "Microsoft.SemanticKernel",
	"Experimental.Microsoft.Extensions.AI", "mcp", "org.springframework.ai",
	"@voltagent",
	"qwen-code", "github.copilot", "semantic_kernel", "Agent365Sdk", "Experimental.Microsoft.Agents", "Microsoft.Agents", "azure.ai", "Azure.AI", "agentcore",
}

// ScopeGate returns the gate of spans and logs of an instrumentation scope.
func ScopeGate(scope string) Gate {
	for _, name := range gatedScopes {
		if rest, ok := strings.CutPrefix(scope, name); ok && (rest == "" || strings.ContainsRune("._-/", rune(rest[0]))) {
			return GateGeneric
		}
	}
	return 0
}

// wholeEvents are events, of spans or logs, that consist of content.
var wholeEvents = patternSet(`
gen_ai.system.message gen_ai.user.message gen_ai.assistant.message gen_ai.tool.message gen_ai.choice gen_ai.content.prompt gen_ai.content.completion
gen_ai.client.inference.operation.details gen_ai.memory.operation.details gen_ai.evaluation.result gen_ai.client.operation.exception
db.query.result db.query.embeddings db.search.result db.search.embeddings pinecone.query.result pinecone.query.result.N pinecone.query.result.N.metadata
tool_schema user_message agent_message flue.log
memory.query memory.results memory.content tool.output claude_code.tool.output tool_output llm.content.completion.chunk llm.content.prompt
`)

// gatedEvents are events whose generic names hold content.
var gatedEvents = patternSet(`
qwen-code.** skill_activated mcp_server_connection hook_execution_start hook_execution_complete
codex.** gemini_cli.** claude_code.** tool_result tool_decision user_prompt assistant_response api_request api_response api_error
api_request_body api_response_body copilot_chat.** gen_ai.**
`)

// EventGate returns the gate of the attributes of an event of that name.
func EventGate(name string) Gate {
	switch {
	case name == "":
		return 0
	case wholeEvents.has(name):
		return GateWhole | GateGeneric
	case gatedEvents.has(name):
		return GateGeneric
	default:
		return 0
	}
}
