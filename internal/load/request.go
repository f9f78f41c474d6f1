// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/cost"
)

// SpansPerRequest is the size of a request as SDKs export it.
const SpansPerRequest = cost.SpansPerRequest

// tracesPerRequest is among how many traces the spans of a request are divided.
const tracesPerRequest = 10

// The places of a request that name it: the first bytes of every trace id, and a
// part of every tool call id, which is the same in hex.
var (
	traceMark = [8]byte{0xf1, 0x0d, 0xa7, 0xab, 0x1e, 0xc0, 0xff, 0xee}
	callMark  = []byte(hex.EncodeToString(traceMark[:]))
)

// request is an encoded OTLP request that can be sent any number of times, each
// time as the request of other tool calls.
type request struct {
	encoded       []byte
	traces, calls []int // offsets of the marks
}

// newRequest returns the spans of tool calls of an agent with about 2 KB of
// protobuf each: 20 attributes, those of the resource among them, and a result of
// 1 KB. Requests of different seeds have different contents.
func newRequest(content Content, seed int) (*request, error) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	put(rs.Resource().Attributes(), "service.name", "kyc-agent", "service.version", "2.14.0", "deployment.environment.name", "production",
		"k8s.pod.name", "kyc-agent-7d9c5bd4f8-x2x7k", "telemetry.sdk.language", "python")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("opentelemetry.instrumentation.openai_agents")
	ss.Scope().SetVersion("0.61b0")
	for i := range SpansPerRequest {
		toolCall(ss.Spans().AppendEmpty(), content, seed*SpansPerRequest+i, i)
	}
	encoded, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		return nil, err
	}
	r := &request{encoded: encoded, traces: offsets(encoded, traceMark[:]), calls: offsets(encoded, callMark)}
	if len(r.traces) != SpansPerRequest || len(r.calls) != SpansPerRequest {
		return nil, fmt.Errorf("request of %d spans has %d trace and %d call ids that can be told apart", SpansPerRequest, len(r.traces), len(r.calls))
	}
	return r, nil
}

func toolCall(span ptrace.Span, content Content, n, i int) {
	trace := pcommon.TraceID{15: byte(i * tracesPerRequest / SpansPerRequest)}
	copy(trace[:], traceMark[:])
	span.SetTraceID(trace)
	span.SetSpanID(pcommon.SpanID{0: 1, 7: byte(i)})
	span.SetParentSpanID(pcommon.SpanID{0: 2})
	span.SetName("execute_tool crm.customer.get")
	span.SetKind(ptrace.SpanKindInternal)
	span.SetStartTimestamp(1_790_000_000_000_000_000 + pcommon.Timestamp(i))
	span.SetEndTimestamp(1_790_000_001_000_000_000 + pcommon.Timestamp(i))
	arguments, result := content.tool(n)
	put(span.Attributes(), "gen_ai.operation.name", "execute_tool", "gen_ai.provider.name", "openai",
		"gen_ai.tool.name", "crm.customer.get", "gen_ai.tool.type", "function",
		"gen_ai.tool.call.id", fmt.Sprintf("call_%s%04d", callMark, i),
		"gen_ai.conversation.id", "conv-018f3b2c-7d41-7000-8a5e-0242ac120002",
		"gen_ai.agent.id", "agent-kyc-7", "gen_ai.agent.name", "kyc-reviewer", "gen_ai.request.model", "gpt-5.1",
		"readtrail.execution.id", "run-018f3b2c-7d41-7000-8a5e-0242ac120003",
		"code.function.name", "crm.tools.get_customer", "server.address", "crm.internal", "app.tenant", "private banking",
		cost.ArgumentsKey, arguments,
		cost.ResultKey, result)
}

func put(attributes pcommon.Map, keysAndValues ...string) {
	for i := 0; i < len(keysAndValues); i += 2 {
		attributes.PutStr(keysAndValues[i], keysAndValues[i+1])
	}
}

func offsets(b, mark []byte) (found []int) {
	for from := 0; ; {
		i := bytes.Index(b[from:], mark)
		if i < 0 {
			return found
		}
		found = append(found, from+i)
		from += i + len(mark)
	}
}

// name makes the request that of other tool calls: without it, a request that is
// sent again is a repeat, which leaves no entry.
func (r *request) name(n uint64) []byte {
	var id [len(traceMark)]byte
	binary.BigEndian.PutUint64(id[:], n)
	for _, at := range r.traces {
		copy(r.encoded[at:], id[:])
	}
	for _, at := range r.calls {
		hex.Encode(r.encoded[at:], id[:])
	}
	return r.encoded
}
