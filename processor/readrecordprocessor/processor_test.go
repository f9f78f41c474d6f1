// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

func attributeOf(t *testing.T, m pcommon.Map, key string) string {
	t.Helper()
	v, found := m.Get(key)
	if !found {
		return ""
	}
	return v.AsString()
}

func TestReadBecomesARecordInTheContextAndItsSpanCarriesOnlyTheID(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	toolSpan(newScope(td), 1)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	b := out.batch()
	require.Len(t, b.Items, 1)
	draft := b.Items[0].Draft
	assert.Equal(t, record.KindRead, draft.Kind())
	assert.Contains(t, body(draft), `"event_type":"read.tool"`)
	assert.Contains(t, body(draft), `"tool_id":"crm.customer.get"`)
	assert.Contains(t, body(draft), `"redaction_profile":"strict/`)
	assert.NotContains(t, body(draft), canary)
	assert.Equal(t, map[string]struct{}{draft.ID(): {}}, b.ReadIDs)
	assert.Equal(t, carrier.Resource{"service.name": "kyc-agent"}, b.Items[0].Resource)

	span := out.spans()[0]
	assert.Equal(t, draft.ID(), attributeOf(t, span.Attributes(), carrier.ReadIDAttribute))
	assert.Equal(t, "trace:0102030405060708090a0b0c0d0e0f10", attributeOf(t, span.Attributes(), "execution_id"))
	assert.Equal(t, "call_b", attributeOf(t, span.Attributes(), "call_id"))
	assert.Equal(t, "execute_tool crm.customer.get", span.Name())
	assert.NotContains(t, out.json(t), canary)
}

func TestStableAttributesOfTheApplicationAreKept(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	a := toolSpan(newScope(td), 1).Attributes()
	for _, key := range []string{"execution_id", "event_id", "decision_id", "request_id"} {
		a.PutStr(key, "app-"+key)
	}
	b := toolSpan(newScope(td), 2).Attributes()
	b.PutStr("event_id", "Erika Mustermann, "+canary)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	for _, key := range []string{"execution_id", "event_id", "decision_id", "request_id"} {
		assert.Equal(t, "app-"+key, attributeOf(t, out.spans()[0].Attributes(), key))
	}
	assert.Empty(t, attributeOf(t, out.spans()[1].Attributes(), "event_id"), "an id is kept, text is not")
}

func TestEverySpanIsStrippedAndHasASkeletonWhetherRecognizedOrNot(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	ss := newScope(td)
	toolSpan(ss, 1)
	span := otherSpan(ss, 2)
	span.Attributes().PutStr("anything", canary)
	span.Attributes().PutStr("key "+canary, "v")
	span.Status().SetMessage(canary)
	event := span.Events().AppendEmpty()
	event.SetName(canary)
	event.Attributes().PutStr("exception.message", canary)
	span.Links().AppendEmpty().Attributes().PutStr("why", canary)
	ss.Scope().Attributes().PutStr("team", canary)
	ss.SetSchemaUrl("https://example.com/" + canary)
	td.ResourceSpans().At(0).Resource().Attributes().PutStr("owner", canary)
	td.ResourceSpans().At(0).SetSchemaUrl("https://example.com/" + canary)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	assert.NotContains(t, out.json(t), canary)
	assert.Empty(t, attributeOf(t, out.spans()[1].Attributes(), "execution_id"), "only telemetry of agents is labeled")
	b := out.batch()
	require.Len(t, b.Lineages, 1)
	require.Len(t, b.Lineages[0].Spans, 2)
	assert.Equal(t, b.Items[0].Draft.ID(), b.Lineages[0].Spans[0].ReadID)
	assert.Empty(t, b.Lineages[0].Spans[1].ReadID)
	assert.NotEmpty(t, b.Lineages[0].Spans[1].NameDigest)
}

func TestLineageIsByTraceAndResourceAndNamesTheExecutionIfOneIsKnown(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	first, second := newScope(td), newScope(td)
	otherSpan(first, 1)
	toolSpan(first, 2).Attributes().PutStr("readtrail.execution.id", "run-7")
	toolSpan(first, 3).SetTraceID(pcommon.TraceID{9})
	toolSpan(first, 4).SetTraceID(pcommon.TraceID{})
	toolSpan(second, 5)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))

	b := out.batch()
	assert.Len(t, b.Items, 4)
	require.Len(t, b.Lineages, 3, "a span without a trace has no lineage")
	for i, want := range []struct {
		execution, trace string
		spans            int
	}{
		{"run-7", "0102030405060708090a0b0c0d0e0f10", 2},
		{"trace:09000000000000000000000000000000", "09000000000000000000000000000000", 1},
		{"trace:0102030405060708090a0b0c0d0e0f10", "0102030405060708090a0b0c0d0e0f10", 1},
	} {
		header := b.Lineages[i].Header
		assert.Equal(t, record.Correlation{ExecutionID: want.execution, TraceID: want.trace}, header.Correlation)
		assert.Equal(t, record.ObservedBy{UpstreamContextSource: "unverified_input", Signal: record.SignalSpan}, header.ObservedBy)
		assert.Len(t, b.Lineages[i].Spans, want.spans)
	}
}

func TestRetriedRequestGivesTheSameRecords(t *testing.T) {
	var batches []*carrier.Batch
	for range 2 {
		p, out := newTraces(t, settings(nil), defaults())
		td := ptrace.NewTraces()
		ss := newScope(td)
		toolSpan(ss, 1)
		otherSpan(ss, 2)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		batches = append(batches, out.batch())
	}
	assert.Equal(t, batches[0].Lineages, batches[1].Lineages)
	assert.Equal(t, batches[0].Items[0].Draft.ID(), batches[1].Items[0].Draft.ID())
	assert.Equal(t, batches[0].Items[0].Draft.Digest(), batches[1].Items[0].Draft.Digest())
}

func TestWithoutRecordsItOnlyStrips(t *testing.T) {
	p, out := newTraces(t, settings(nil), stripOnly())
	td := ptrace.NewTraces()
	toolSpan(newScope(td), 1).Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	assert.Nil(t, out.batch())
	assert.NotContains(t, out.json(t), canary)
	assert.NotContains(t, out.json(t), carrier.ReadIDAttribute)
	assert.Equal(t, "call_b", attributeOf(t, out.spans()[0].Attributes(), "call_id"))
}

func TestReadIDsThatAClientSentAreRemovedEverywhereElse(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	ss := newScope(td)
	span := otherSpan(ss, 1)
	span.Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	span.Events().AppendEmpty().Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	span.Links().AppendEmpty().Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	ss.Scope().Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	td.ResourceSpans().At(0).Resource().Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	assert.Empty(t, out.batch().ReadIDs)
	assert.NotContains(t, out.json(t), carrier.ReadIDAttribute)
}

// A client can repeat a key; what we set or remove must be the only one.
func TestKeysThatAClientRepeatsLeaveOnlyOurValue(t *testing.T) {
	const forged = `{"key":"readtrail.read_id","value":{"stringValue":"a"}},{"key":"readtrail.read_id","value":{"stringValue":"b"}},` +
		`{"key":"execution_id","value":{"stringValue":"a"}},{"key":"execution_id","value":{"stringValue":"b"}}`
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[` +
		`{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","endTimeUnixNano":"1","attributes":[` + forged + `,` +
		`{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"f"}}]},` +
		`{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203332","endTimeUnixNano":"1","attributes":[` + forged + `]}]}]}]}`))
	require.NoError(t, err)
	p, out := newTraces(t, settings(nil), defaults())
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	text := out.json(t)
	assert.Equal(t, 1, strings.Count(text, carrier.ReadIDAttribute))
	assert.Contains(t, out.batch().ReadIDs, attributeOf(t, out.spans()[0].Attributes(), carrier.ReadIDAttribute))
	executions := 0
	for k := range out.spans()[0].Attributes().All() {
		if k == "execution_id" {
			executions++
		}
	}
	assert.Equal(t, 1, executions)
}

func TestSecondProcessorStripsOnlyAndPassesTheRecordsOn(t *testing.T) {
	first, between := newTraces(t, settings(nil), defaults())
	second, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	ss := newScope(td)
	toolSpan(ss, 1)
	otherSpan(ss, 2)
	require.NoError(t, first.ConsumeTraces(t.Context(), td))
	id := between.batch().Items[0].Draft.ID()
	between.spans()[1].Attributes().PutStr(carrier.ReadIDAttribute, "read_forged")
	require.NoError(t, second.ConsumeTraces(carrier.NewContext(t.Context(), between.batch()), between.traces))
	assert.Same(t, between.batch(), out.batch())
	assert.Len(t, out.batch().Items, 1)
	assert.Equal(t, id, attributeOf(t, out.spans()[0].Attributes(), carrier.ReadIDAttribute))
	assert.Empty(t, attributeOf(t, out.spans()[1].Attributes(), carrier.ReadIDAttribute))
}

// auth is what an authenticator knows of a client.
type auth map[string]any

func (a auth) GetAttribute(name string) any { return a[name] }

func (auth) GetAttributeNames() []string { return nil }

func TestRecordSaysWhoAuthenticatedTheClient(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	toolSpan(newScope(td), 1)
	ctx := client.NewContext(t.Context(), client.Info{Auth: auth{"subject": "agent-7", "raw": canary}})
	require.NoError(t, p.ConsumeTraces(ctx, td))
	assert.Contains(t, body(out.batch().Items[0].Draft), `"upstream_context_source":"authenticated:agent-7"`)
	assert.Equal(t, "authenticated:agent-7", out.batch().Lineages[0].Header.ObservedBy.UpstreamContextSource)
}

func TestRecordSaysWhichCertificateAClientOverGRPCHas(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	toolSpan(newScope(td), 1)
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "agents", Organization: []string{"Bank"}}}
	ctx := peer.NewContext(t.Context(), &peer.Peer{AuthInfo: credentials.TLSInfo{State: tls.ConnectionState{
		PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}},
	}}})
	require.NoError(t, p.ConsumeTraces(ctx, td))
	assert.Contains(t, body(out.batch().Items[0].Draft), `"upstream_context_source":"authenticated:CN=agents,O=Bank"`)
}

func TestErrorOfTheNextConsumerIsTheAnswer(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	out.fail = errors.New("disk is full")
	require.ErrorIs(t, p.ConsumeTraces(t.Context(), ptrace.NewTraces()), out.fail)
	l, logsOut := newLogs(t, settings(nil), defaults())
	logsOut.fail = out.fail
	require.ErrorIs(t, l.ConsumeLogs(t.Context(), plog.NewLogs()), out.fail)
}

// toolLog adds the log event of a tool's answer as OpenTelemetry 1.28 had it.
func toolLog(ld plog.Logs, attributes func(pcommon.Map)) plog.LogRecord {
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "kyc-agent")
	log := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	log.SetTraceID(trace)
	log.SetSpanID(pcommon.SpanID{7})
	log.SetTimestamp(1_790_000_000_000_000_000)
	attributes(log.Attributes())
	return log
}

func TestReadInALogRecordBecomesARecordWithoutLineage(t *testing.T) {
	p, out := newLogs(t, settings(nil), defaults())
	ld := plog.NewLogs()
	log := toolLog(ld, func(a pcommon.Map) {
		a.PutStr("gen_ai.operation.name", "search_memory")
		a.PutStr("gen_ai.memory.store.id", "crm-memory")
	})
	log.SetEventName("gen_ai.memory.operation.details")
	log.Body().SetStr(canary)
	log.Attributes().PutStr("anything", canary)
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	assert.NotContains(t, out.json(t), canary)
	assert.Empty(t, out.batch().Lineages)
	require.Len(t, out.batch().Items, 1)
	id := out.batch().Items[0].Draft.ID()
	record := out.logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	assert.Equal(t, id, attributeOf(t, record.Attributes(), carrier.ReadIDAttribute))
}

func TestLogsAreStrippedWithoutRecordsToo(t *testing.T) {
	p, out := newLogs(t, settings(nil), stripOnly())
	ld := plog.NewLogs()
	log := toolLog(ld, func(a pcommon.Map) { a.PutStr(carrier.ReadIDAttribute, "read_forged") })
	log.Body().SetEmptyMap().PutStr("prompt", canary)
	log.SetSeverityText(canary)
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	assert.Nil(t, out.batch())
	assert.NotContains(t, out.json(t), canary)
	assert.NotContains(t, out.json(t), carrier.ReadIDAttribute)
}

func TestKeepLetsAKeyAndASpanNameLeave(t *testing.T) {
	cfg := defaults()
	cfg.Keep = []KeepConfig{{Key: "app.tenant", Shape: "identifier"}, {SpanName: "nightly review"}}
	p, out := newTraces(t, settings(nil), cfg)
	td := ptrace.NewTraces()
	ss := newScope(td)
	span := otherSpan(ss, 1)
	span.SetName("nightly review")
	span.Attributes().PutStr("app.tenant", "t-7")
	span.Attributes().PutStr("app.other", "t-7")
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	assert.Equal(t, "nightly review", out.spans()[0].Name())
	assert.Equal(t, map[string]any{"app.tenant": "t-7"}, out.spans()[0].Attributes().AsRaw())
}

func TestOnlyShortTextsOfAResourceTravelForRouting(t *testing.T) {
	resource := pcommon.NewResource()
	resource.Attributes().PutStr("service.namespace", "treasury")
	resource.Attributes().PutStr("long", strings.Repeat("a", carrier.MaxResourceValue+1))
	resource.Attributes().PutStr(strings.Repeat("k", carrier.MaxResourceValue+1), "a")
	resource.Attributes().PutInt("number", 7)
	assert.Equal(t, carrier.Resource{"service.namespace": "treasury"}, routingAttributes(resource))
	for i := range 2 * maxResourceAttributes {
		resource.Attributes().PutStr("k"+strings.Repeat("x", i%200)+string(rune('a'+i/200)), "v")
	}
	assert.Len(t, routingAttributes(resource), maxResourceAttributes)
}

// A client that repeats a key must not choose one organization's key and
// another's journal.
func TestTheFirstValueOfARepeatedKeyIsTheOneForRouting(t *testing.T) {
	for _, first := range []string{`{"intValue":"7"}`, `{"stringValue":"` + strings.Repeat("a", carrier.MaxResourceValue+1) + `"}`, `{}`} {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(`{"resourceSpans":[{"resource":{"attributes":[
			{"key":"service.namespace","value":` + first + `},{"key":"service.namespace","value":{"stringValue":"treasury"}}]}}]}`))
		require.NoError(t, err)
		assert.Empty(t, routingAttributes(td.ResourceSpans().At(0).Resource()), first)
	}
}

func TestNothingOfTheRequestIsChangedInAContextThatHadNone(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "v")
	require.NoError(t, p.ConsumeTraces(ctx, ptrace.NewTraces()))
	assert.Equal(t, "v", out.ctx.Value(key{}))
	assert.NotNil(t, out.batch(), "a request without reads says so")
}

func TestNoQueueBesideTheJournalHoldsWhatWasCarried(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	toolSpan(newScope(td), 1)
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	require.NotNil(t, out.batch())
	assert.Nil(t, carrier.FromContext(context.WithoutCancel(out.ctx)), "exporters with a sending_queue keep the context")

	logs, logsOut := newLogs(t, settings(nil), defaults())
	require.NoError(t, logs.ConsumeLogs(t.Context(), plog.NewLogs()))
	require.NotNil(t, logsOut.batch())
	assert.Nil(t, carrier.FromContext(logsOut.ctx))
}
