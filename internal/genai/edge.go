// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

var edgeTypes = []record.EdgeType{
	record.EdgeProtocolCall, record.EdgeLocalCall, record.EdgeDelegatedJob, record.EdgeExternalAction,
}

// edgeType says how the span's work was handed over (requirement D4), if that is
// recorded where it happened: by the application, by an MCP client, or by kind
// and protocol of the span. No name of a tool says anything about it, nor does a
// kind alone: a span of kind internal may be local code or just lack a kind.
func (l *lifting) edgeType(s ptrace.Span) record.EdgeType {
	if e := record.EdgeType(l.text(ownEdgeType)); slices.Contains(edgeTypes, e) {
		return e
	}
	switch {
	case l.requestsMCP:
		return record.EdgeProtocolCall
	case l.touched.edge != nil:
		return l.touched.edge(l.item, s)
	default:
		return ""
	}
}

// mcpScopes are instrumentations of MCP whose spans do not have its attributes.
var mcpScopes = []string{"opentelemetry.instrumentation.mcp", "@traceloop/instrumentation-mcp", "logfire.mcp"}

// mcpRequest holds for spans that say to be of a request of MCP.
var mcpRequest = either(
	has("mcp.method.name"),
	is("rpc.system.name", "mcp"), is("rpc.system", "mcp"),
	is("rpc.method", "tools/call", "resources/read", "prompts/get"),
)

// sendsMCP reports whether the span is that of a request which an MCP client
// sends.
func (l *lifting) sendsMCP() bool {
	if l.kind != ptrace.SpanKindClient {
		return false
	}
	return mcpRequest.holds(l.item) || l.row.event != "" && slices.Contains(mcpScopes, l.scope.Name())
}

// actsOutside is the edge of a request to another system.
func actsOutside(it *item, _ ptrace.Span) record.EdgeType {
	if leaves.holds(it) {
		return record.EdgeExternalAction
	}
	return ""
}

// actsBySSH is the edge of a process or connection that speaks SSH. A program
// that runs on the same host crosses no boundary that anybody recorded.
func actsBySSH(it *item, _ ptrace.Span) record.EdgeType {
	if it.kind != ptrace.SpanKindServer && sshOf(it) != "" {
		return record.EdgeExternalAction
	}
	return ""
}

// passesMessages is the edge of a message. To send one is an action outside; to
// process one is a job of another worker if the span says where the message
// came from, by a link to its producer or by being its child.
func passesMessages(it *item, s ptrace.Span) record.EdgeType {
	operation := textOf(it, token, "messaging.operation.type", "messaging.operation")
	switch it.kind {
	case ptrace.SpanKindProducer:
		if operation != "create" { // which is sent by another span
			return record.EdgeExternalAction
		}
	case ptrace.SpanKindClient:
		if operation == "send" || operation == "publish" {
			return record.EdgeExternalAction
		}
	case ptrace.SpanKindConsumer:
		isJob := operation == "" || operation == "process" || operation == "deliver"
		if isJob && (s.Links().Len() > 0 || !s.ParentSpanID().IsEmpty()) {
			return record.EdgeDelegatedJob
		}
	}
	return ""
}
