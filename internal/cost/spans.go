// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// SpansPerRequest is the size of a request as SDKs export it.
const SpansPerRequest = 100

// The attributes of a tool call that hold its contents.
const (
	ArgumentsKey = "gen_ai.tool.call.arguments"
	ResultKey    = "gen_ai.tool.call.result"
)

// ContentBytes is about the size of one content, in bytes.
const ContentBytes = 1024

// request returns a request of spans of one kind.
func request(scope string, fill func(span ptrace.Span, i int)) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	resource := rs.Resource().Attributes()
	resource.PutStr("service.name", "kyc-agent")
	resource.PutStr("service.version", "2.14.0")
	resource.PutStr("deployment.environment.name", "production")
	resource.PutStr("k8s.pod.name", "kyc-agent-7d9c5bd4f8-x2x7k")
	resource.PutStr("telemetry.sdk.language", "python")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(scope)
	ss.Scope().SetVersion("0.61b0")
	for i := range SpansPerRequest {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, byte(i / 10)})
		span.SetSpanID(pcommon.SpanID{1, 2, 3, 4, 5, 6, 7, byte(i)})
		span.SetParentSpanID(pcommon.SpanID{9})
		span.SetStartTimestamp(1_790_000_000_000_000_000 + pcommon.Timestamp(i))
		span.SetEndTimestamp(1_790_000_001_000_000_000 + pcommon.Timestamp(i))
		fill(span, i)
	}
	return td
}

// ToolCalls returns the executions of a tool with two contents each.
func ToolCalls(content func(i int) (arguments, result string)) ptrace.Traces {
	return request("opentelemetry.instrumentation.openai_agents", func(span ptrace.Span, i int) {
		span.SetName("execute_tool crm.customer.get")
		span.SetKind(ptrace.SpanKindInternal)
		a := span.Attributes()
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.provider.name", "openai")
		a.PutStr("gen_ai.tool.name", "crm.customer.get")
		a.PutStr("gen_ai.tool.type", "function")
		a.PutStr("gen_ai.tool.call.id", fmt.Sprintf("call_Q2vK8dPzR1mX7bTn%04d", i))
		a.PutStr("gen_ai.output.type", "json")
		a.PutStr("gen_ai.conversation.id", "conv-018f3b2c-7d41")
		a.PutStr("gen_ai.agent.id", "agent-kyc-7")
		a.PutStr("gen_ai.agent.name", "kyc-reviewer")
		a.PutStr("gen_ai.agent.version", "3.2.1")
		a.PutStr("gen_ai.request.model", "gpt-5.1")
		a.PutStr("readtrail.execution.id", "run-018f3b2c-7d41-7000")
		a.PutStr("code.function.name", "crm.tools.get_customer")
		a.PutInt("code.line.number", 118)
		a.PutStr("server.address", "crm.internal")
		a.PutInt("server.port", 443)
		a.PutInt("thread.id", 140_233)
		a.PutStr("app.tenant", "private banking")
		arguments, result := content(i)
		a.PutStr(ArgumentsKey, arguments)
		a.PutStr(ResultKey, result)
	})
}

// PlainText returns 1 KB of text that no two spans share.
func PlainText(i int) (arguments, result string) {
	sized := func(begin string) string {
		const prose = "The customer asked on Tuesday, by telephone, whether the limit of her card can be raised before she travels; the branch says yes. "
		return (begin + strings.Repeat(prose, ContentBytes/len(prose)+1))[:ContentBytes]
	}
	return sized(fmt.Sprintf("Question %d: ", i)), sized(fmt.Sprintf("Answer %d: ", i))
}

// NestedJSON returns about 1 KB of nested JSON as a library writes it: members
// in the order of the program, blanks after commas.
func NestedJSON(i int) (arguments, result string) {
	sized := func(head, element string) string {
		out := head
		for n := 0; len(out) < ContentBytes-len(element); n++ {
			out += fmt.Sprintf(element, n)
		}
		return strings.TrimSuffix(out, ", ") + "]}}"
	}
	arguments = sized(fmt.Sprintf(`{"tool": "crm.customer.get", "customer_id": "KYC-%06d", "dry": false, "filter": {"limit": 25, "fields": [`, i),
		`{"name": "address.%02d", "as": "street", "required": true, "deep": {"unit": 12.5, "alias": null}}, `)
	result = sized(fmt.Sprintf(`{"status": "found", "customer": {"number": %d, "name": "Marta Exempel", "since": "2019-04-01", "accounts": [`, i),
		`{"iban": "DE0012003400%02d", "balance": 1204.75, "currency": "EUR", "holder": {"first": "Marta", "last": "Exempel"}}, `)
	return arguments, result
}

// HTTPServer returns the server spans of a web framework, which no dialect of
// agents knows, with attributes of conventions and some of the application.
func HTTPServer() ptrace.Traces {
	return request("io.opentelemetry.spring-webmvc-6.0", func(span ptrace.Span, i int) {
		span.SetName("GET /orders/{id}")
		span.SetKind(ptrace.SpanKindServer)
		a := span.Attributes()
		a.PutStr("http.request.method", "GET")
		a.PutInt("http.response.status_code", 200)
		a.PutStr("http.route", "/orders/{id}")
		a.PutStr("url.scheme", "https")
		a.PutStr("server.address", "shop.internal")
		a.PutInt("server.port", 8443)
		a.PutStr("network.protocol.name", "http")
		a.PutStr("network.protocol.version", "1.1")
		a.PutStr("network.peer.address", "10.12.0.7")
		a.PutInt("network.peer.port", 51_302)
		internalAttributes(a, i)
	})
}

// InternalSpans returns spans of a framework that is about no protocol at all.
func InternalSpans() ptrace.Traces {
	return request("com.example.scheduler", func(span ptrace.Span, i int) {
		span.SetName("settle batch")
		span.SetKind(ptrace.SpanKindInternal)
		a := span.Attributes()
		for _, key := range []string{"job.name", "job.group", "job.trigger", "batch.step", "batch.reader", "batch.writer", "batch.state"} {
			a.PutStr(key, "settlement")
		}
		for _, key := range []string{"batch.read", "batch.written", "batch.skipped"} {
			a.PutInt(key, int64(i))
		}
		internalAttributes(a, i)
	})
}

// internalAttributes are ten attributes of which conventions know four.
func internalAttributes(a pcommon.Map, i int) {
	a.PutInt("thread.id", 41)
	a.PutStr("code.function.name", "com.example.Orders.find")
	a.PutInt("code.line.number", 88)
	a.PutStr("session.id", "b1946ac92492d234")
	a.PutStr("thread.name", "http-nio-8443-exec-4")
	a.PutStr("app.region", "eu-central")
	a.PutStr("app.feature", "order list")
	a.PutStr("app.shard", fmt.Sprintf("shard-%d", i%8))
	a.PutInt("app.cache.hits", int64(i))
	a.PutBool("app.cache.enabled", true)
}
