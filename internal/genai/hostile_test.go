// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

func tool(change func(ptrace.Span)) testSpan {
	return testSpan{name: "execute_tool f", attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f",
	}, change: change}
}

func TestSpansWithoutIdsAreRecordedAndAreNotRepeatsOfEachOther(t *testing.T) {
	l := newTestLifter(t)
	zero := func(s ptrace.Span) {
		s.SetTraceID(pcommon.TraceID{})
		s.SetSpanID(pcommon.SpanID{})
	}
	o := l.Span(tool(zero).input(t))
	assert.Equal(t, record.IDProblemZeroTraceID, o.Read.ObservedBy.IDProblem)
	assert.Empty(t, o.Read.Correlation.TraceID+o.Read.Correlation.SpanID)
	assert.Equal(t, "item:"+o.Read.ReadID, o.ExecutionID)
	assert.Equal(t, o.ExecutionID, o.Read.ExecutionID)
	assert.Equal(t, o.ExecutionID, o.Read.Correlation.ExecutionID)
	assert.Empty(t, o.Skeleton.SpanID)
	draft(t, o)

	assert.Equal(t, o.Read.ReadID, l.Span(tool(zero).input(t)).Read.ReadID, "a delivery twice is a repeat")
	ids := map[string]bool{o.Read.ReadID: true}
	for _, change := range []func(ptrace.Span){
		func(s ptrace.Span) { s.SetEndTimestamp(5) },
		func(s ptrace.Span) { s.SetName("other") },
		func(s ptrace.Span) { s.SetParentSpanID([8]byte{1}) },
		func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.arguments", "x") },
		func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", "x") },
		func(s ptrace.Span) { s.SetSpanID([8]byte{1}) },
	} {
		id := l.Span(tool(func(s ptrace.Span) { zero(s); change(s) }).input(t)).Read.ReadID
		assert.False(t, ids[id])
		ids[id] = true
	}
	o = l.Span(tool(func(s ptrace.Span) { s.SetSpanID(pcommon.SpanID{}) }).input(t))
	assert.Equal(t, record.IDProblemZeroSpanID, o.Read.ObservedBy.IDProblem)
}

func TestALogWithoutContextSaysSo(t *testing.T) {
	in := testLog(t, func(l plog.LogRecord) {
		l.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		l.Attributes().PutStr("gen_ai.tool.call.arguments", "{}")
	})
	o := newTestLifter(t).Log(in)
	assert.Equal(t, record.IDProblemMissing, o.Read.ObservedBy.IDProblem)
	assert.Equal(t, record.StatusUnknown, o.Read.Response.Status)
	draft(t, o)
}

func TestAReadWithoutAnyTimeIsUnrecordable(t *testing.T) {
	o := newTestLifter(t).Span(tool(func(s ptrace.Span) {
		s.SetStartTimestamp(0)
		s.SetEndTimestamp(0)
	}).input(t))
	assert.Nil(t, o.Read)
	assert.Equal(t, record.ReasonNoTime, o.Unrecordable.Reason)
	assert.True(t, strings.HasPrefix(o.Unrecordable.ItemID, "read_"))
	assert.Empty(t, o.Skeleton.ReadID)
	_, err := record.NewUnrecordableDraft(*o.Header, *o.Unrecordable)
	require.NoError(t, err)

	o = newTestLifter(t).Span(tool(func(s ptrace.Span) { s.SetEndTimestamp(0) }).input(t))
	assert.NotNil(t, o.Read, "the start is a time")
}

func TestTimesFarAwayAreRecordedAsClaimed(t *testing.T) {
	for _, at := range []time.Time{time.Unix(0, 1), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, math.MaxInt64)} {
		o := newTestLifter(t).Span(tool(func(s ptrace.Span) { s.SetEndTimestamp(pcommon.NewTimestampFromTime(at)) }).input(t))
		assert.True(t, o.Read.OccurredAt.Std().Equal(at))
		draft(t, o)
	}
	o := newTestLifter(t).Span(tool(func(s ptrace.Span) { s.SetEndTimestamp(math.MaxUint64) }).input(t))
	draft(t, o)
}

func TestForgedAttributesOfOursAreIgnoredUnlessTheyHaveTheirShape(t *testing.T) {
	bad := []any{
		"", " ", "a b", "a\nb", "ab\xff\xfe", strings.Repeat("x", 10_000), "Bearer abcdefghijklmnop", 3.5, true, []any{"x"}, map[string]any{"x": 1}, math.NaN(),
	}
	keys := []string{
		ownReadID, ownExecutionID, ownCorrelationID, ownStepID, ownRequestID, ownEventID, ownEdgeType, ownSystem, ownKind, ownToolVersion,
		ownSourceRecordVersion, ownAsOf, ownDataBoundary, ownDocumentID, ownIndexID, ownBuildVersion, ownStoreID, ownMemoryOperation, ownTopK,
		stableExecutionID, stableRequestID, stableCallID,
	}
	plain := newTestLifter(t).Span(tool(nil).input(t))
	for _, v := range bad {
		o := newTestLifter(t).Span(tool(func(s ptrace.Span) {
			for _, key := range keys {
				require.NoError(t, s.Attributes().PutEmpty(key).FromRaw(v))
			}
			require.NoError(t, s.Attributes().PutEmpty(ownRecordRefs).FromRaw([]any{"a b", v}))
			s.Attributes().PutStr(ownPurpose, "a\nb")
			s.Attributes().PutStr(ownContentLocation, "https://u:p@host/")
		}).input(t))
		assert.Equal(t, string(draft(t, plain)), string(draft(t, o)), "%v", v)
		assert.False(t, o.Given)
	}
}

func TestWhatGivesACredentialAwayEntersNoRecord(t *testing.T) {
	const secret = "hunter22"
	for _, text := range []string{
		"postgres://u:hunter22@h/db", "redis://:hunter22@host:6379/0", "https://u:hunter22@h/1", "//u:hunter22@h/x", "https://h/#access_token=hunter22", "h/token=hunter22", "u:hunter22@db:5432",
	} {
		o := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, ToolVersion: Value{Result: "$[0].id"}, RecordRefs: []Value{{Result: "$[*].id"}}}).Span(testSpan{
			scope: text, name: text, attrs: map[string]any{
				"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": text, "gen_ai.tool.call.id": text, "gen_ai.conversation.id": text, "gen_ai.data_source.id": text,
				"gen_ai.agent.name": text, "gen_ai.agent.id": text, "gen_ai.request.model": text, "gen_ai.tool.call.result": `[{"id":"` + text + `"}]`,
				ownIndexID: text, ownDocumentID: text, ownReadID: text, ownExecutionID: text, ownSystem: text, ownToolVersion: text, ownDataBoundary: text, ownPurpose: text, ownContentLocation: text,
				ownRecordRefs: []any{text, "cust_1"}, ownStoreID: text, ownDocuments: []any{text, map[string]any{"id": text, "object_version_id": text}},
				ownChunks: []any{map[string]any{"id": text, "score": text}}, ownEntries: []any{map[string]any{"id": text}},
			},
		}.input(t))
		assert.NotContains(t, marshalled(t, o), secret, text)
		assert.NotContains(t, marshalled(t, o), content.Plain.OfString(text).Value, text)
		assert.Equal(t, []string{"cust_1"}, o.Read.Request.RecordRefs)
		assert.Empty(t, o.Read.Documents)
		assert.Empty(t, o.Skeleton.NameDigest)
		assert.Equal(t, content.RedactedName, o.Skeleton.Name)
		draft(t, o)
		lineage(t, o)

		o = newTestLifter(t).Span(testSpan{attrs: map[string]any{
			"gen_ai.operation.name": "search_memory", "gen_ai.memory.store.id": text, "gen_ai.memory.records": `[{"id":"` + text + `","content":"x"}]`,
		}}.input(t))
		assert.NotContains(t, marshalled(t, o), secret, text)
		draft(t, o)
	}
}

func TestASpanNameThatIsACredentialHasNoDigest(t *testing.T) {
	for _, name := range []string{
		"sk-0123456789abcdefABCDEF", "Bearer 0123456789abcdef", "tool ghp_0123456789abcdefABCDEF0123", "GET https://u:p@h/", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
	} {
		o := newTestLifter(t).Span(testSpan{name: name}.input(t))
		assert.Empty(t, o.Skeleton.NameDigest, name)
		assert.Equal(t, content.RedactedName, o.Skeleton.Name)
		assert.Empty(t, o.SafeName)
		lineage(t, o)
	}
}

func TestWhatTelemetrySaysOfPurposeAndPlaceIsNoFreeText(t *testing.T) {
	for text, want := range map[string]string{
		"kyc-periodic-review": "kyc-periodic-review", "review of the file": "review of the file", "Marta Exempel of Bonn has cancer": "", "Marta, born 1970": "", "jane@example.com": "", "Zoë": "",
		"sk-0123456789abcdefABCDEF": "",
	} {
		o := newTestLifter(t).Span(tool(func(s ptrace.Span) {
			s.Attributes().PutStr(ownPurpose, text)
			s.Attributes().PutStr(ownDataBoundary, "b")
		}).input(t))
		if want == "" {
			assert.Nil(t, o.Read.Boundary, text)
			continue
		}
		assert.Equal(t, want, o.Read.Boundary.Purpose)
	}
	for text, want := range map[string]string{
		"crm-eu record history": "crm-eu record history", "s3://bucket/a/b.json": "s3://bucket/a/b.json", "/srv/a.json": "/srv/a.json", "https://h/a?sig=S": "", "https://h/a#x": "", "https://u:p@h/a": "",
		"data:text/plain,Marta": "", "Marta Exempel, Bonn": "", "https://h/Marta%20Exempel": "", "Marta Exempel of Bonn has cancer": "",
	} {
		o := newTestLifter(t).Span(tool(func(s ptrace.Span) { s.Attributes().PutStr(ownContentLocation, text) }).input(t))
		assert.Equal(t, want, o.Read.Retention.ContentLocation)
	}
}

func TestAddressesOfPeopleAndEncodedTextAreNoIds(t *testing.T) {
	for _, text := range []string{"jane@example.com", "case:jane.doe@mail.example.org", "Marta%20Exempel", "TWFydGEgRXhlbXBlbCBoYXMgY2FuY2Vy"} {
		o := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, RecordRefs: []Value{{Arguments: "$.id"}}, SourceRecordVersion: Value{Arguments: "$.id"}}).Span(tool(func(s ptrace.Span) {
			s.Attributes().PutStr("gen_ai.tool.call.arguments", `{"id":"`+text+`"}`)
			s.Attributes().PutStr("session.id", text)
			s.Attributes().PutStr(ownExecutionID, text)
			s.Attributes().PutStr(ownCorrelationID, text)
		}).input(t))
		assert.NotContains(t, marshalled(t, o), text)
		assert.Empty(t, o.Read.Request.RecordRefs)
	}
}

func TestContentInPlacesOfNamesAndIdsIsLeftOut(t *testing.T) {
	const text = "Marta, born 1970: CANARY"
	o := newTestLifter(t).Span(testSpan{scope: text, name: "execute_tool " + text, attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": text, "gen_ai.tool.call.id": text, "gen_ai.conversation.id": text,
		"gen_ai.agent.name": text, "gen_ai.agent.id": text, "gen_ai.request.model": text, "gen_ai.data_source.id": text, "jsonrpc.request.id": text,
		"gen_ai.tool.call.result": `[{"id":"` + text + `","score":"` + text + `"}]`, "readtrail.retrieval.index_id": "i1",
		"readtrail.data_boundary": text, "mcp.session.id": text,
	}, change: func(s ptrace.Span) {
		s.Status().SetMessage(text)
		s.Status().SetCode(ptrace.StatusCodeError)
	}}.input(t))
	assert.NotContains(t, marshalled(t, o), "CANARY")
	assert.NotContains(t, string(draft(t, o)), "Marta")
	assert.Equal(t, "read.retrieval", o.Read.EventType, "the application said that the tool searched an index")
	assert.Len(t, o.Read.Retrieval.Chunks, 1)
}

func TestLargeDeepAndBrokenValuesBecomeDigests(t *testing.T) {
	deep := pcommon.NewValueMap()
	for at, i := deep, 0; i < 10_000; i++ {
		at = at.Map().PutEmpty("a")
		at.SetEmptyMap()
	}
	for name, set := range map[string]func(pcommon.Value){
		"10 MB of text":        func(v pcommon.Value) { v.SetStr(strings.Repeat("x", 10<<20)) },
		"10 MB of JSON":        func(v pcommon.Value) { v.SetStr("[" + strings.Repeat(`{"id":"a"},`, 1<<20) + "{}]") },
		"JSON of depth 10,000": func(v pcommon.Value) { v.SetStr(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)) },
		"depth 10,000":         func(v pcommon.Value) { deep.CopyTo(v) },
		"invalid UTF-8":        func(v pcommon.Value) { v.SetStr("ab\xff\xfe\xe2\x82") },
		"NaN":                  func(v pcommon.Value) { v.SetEmptySlice().AppendEmpty().SetDouble(math.NaN()) },
		"bytes":                func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0xff, 0}) },
		"an empty structure":   func(v pcommon.Value) { v.SetEmptyMap() },
		"a number":             func(v pcommon.Value) { v.SetInt(math.MinInt64) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, op := range []string{"execute_tool", "search_memory"} {
				for _, key := range []string{"gen_ai.tool.call.arguments", "gen_ai.memory.query.text"} {
					o := newTestLifter(t, crmRule).Span(testSpan{attrs: map[string]any{
						"gen_ai.operation.name": op, "gen_ai.tool.name": "crm.x",
					}, change: func(s ptrace.Span) { set(s.Attributes().PutEmpty(key)) }}.input(t))
					require.NotNil(t, o.Read)
					draft(t, o)
				}
			}
			o := newTestLifter(t, crmRule).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "retrieval"}, change: func(s ptrace.Span) {
				set(s.Attributes().PutEmpty("gen_ai.retrieval.documents"))
			}}.input(t))
			require.NotNil(t, o.Read)
			assert.NotEmpty(t, o.Read.Response.ResultDigest)
			draft(t, o)
		})
	}
}

func TestMoreDocumentsThanAnEntryHoldsAreUnrecordableAndNotCutOff(t *testing.T) {
	documents := "[" + strings.Repeat(`{"id":"a"},`, maxDocuments) + "{}]"
	o := newTestLifter(t).Span(testSpan{attrs: map[string]any{"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}}.input(t))
	assert.Nil(t, o.Read)
	assert.Equal(t, record.ReasonTooLarge, o.Unrecordable.Reason)
	assert.NotEmpty(t, o.Unrecordable.ItemID)
}

func TestAHundredThousandAttributesTakeNoMoreThanTheirShare(t *testing.T) {
	in := tool(nil).input(t)
	attrs := pcommon.NewMap()
	raw := make(map[string]any, 200_000)
	for i := range 100_000 {
		raw[fmt.Sprintf("code.function.parameters.p%d.value", i)] = i
		raw[fmt.Sprintf("retrieval.documents.%d.document.id", i)] = "d"
	}
	require.NoError(t, attrs.FromRaw(raw))
	attrs.PutStr("gen_ai.operation.name", "execute_tool")
	attrs.CopyTo(in.Span.Attributes())
	o := newTestLifter(t).Span(in)
	require.NotNil(t, o.Read)
	assert.Empty(t, o.Read.Request.ArgumentsDigest, "arguments beyond counting are not made up")
	in.Span.Attributes().PutStr("gen_ai.operation.name", "")
	in.Span.Attributes().PutStr("openinference.span.kind", "RETRIEVER")
	assert.Equal(t, record.ReasonTooLarge, newTestLifter(t).Span(in).Unrecordable.Reason)
}

func TestArgumentsOfOneAttributeEachAreReassembled(t *testing.T) {
	o := newTestLifter(t).Span(testSpan{attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "code.function.parameters.a.value": "x", "code.function.parameters.a.type": "str",
		"code.function.parameters.b.value": 2, "code.function.return.value": 125,
	}}.input(t))
	whole := newTestLifter(t).Span(testSpan{attrs: map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": `{"b":2,"a":"x"}`,
	}}.input(t))
	assert.Equal(t, whole.Read.Request.ArgumentsDigest, o.Read.Request.ArgumentsDigest)
	assert.Equal(t, record.BasisReassembled, o.Read.Basis["request.arguments_digest"])
	assert.Equal(t, record.CapturedContent, o.Read.Capture.Response)
}

// TestWhatPassesForADigestEntersNoRecordAsAnID: a client that claims a keyed
// digest would write entries that fit no schema, and make a whole journal fail
// its verification; one that claims any digest would be believed.
func TestWhatPassesForADigestEntersNoRecordAsAnID(t *testing.T) {
	keyed := "hmac-sha256:bank-2026:" + strings.Repeat("0", 64)
	for _, text := range []string{"hmac-sha256:", "hmac-sha256:tenant-1:KYC-000123", keyed, "sha256:abc", "sha256:" + strings.Repeat("0", 64)} {
		o := newTestLifter(t, SourceRule{Match: SourceMatch{Tool: "*"}, RecordRefs: []Value{{Result: "$[*].id"}}}).Span(testSpan{attrs: map[string]any{
			operation: "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": text, "gen_ai.conversation.id": text, "gen_ai.tool.call.result": `[{"id":"` + text + `"}]`,
			ownIndexID: text, ownDocumentID: text, ownReadID: text, ownEventID: text, ownExecutionID: text, ownSystem: text, ownStoreID: text,
			ownDocuments: []any{text}, ownChunks: []any{map[string]any{"id": text}}, ownEntries: []any{map[string]any{"id": text}},
		}}.input(t))
		want := digestOf(text)
		assert.Equal(t, []record.Document{{DocumentID: want, WithContent: true}}, o.Read.Documents)
		assert.Equal(t, want, o.Read.Retrieval.Chunks[0].ID)
		assert.Equal(t, want, o.Read.Memory.Entries[0].ID)
		assert.Empty(t, o.Read.Retrieval.IndexID)
		assert.NotEqual(t, text, o.Read.ReadID)
		assert.NotEqual(t, text, o.Read.ExecutionID)
		if strings.HasPrefix(text, "hmac-") {
			assert.Empty(t, o.Read.Request.RecordRefs, "of a rule")
		}
		draft(t, o) // fits its schema
		lineage(t, o)

		o = newTestLifter(t).Span(testSpan{attrs: map[string]any{operation: "execute_tool", ownRecordRefs: []any{text, "cust_1"}}}.input(t))
		assert.Contains(t, o.Read.Request.RecordRefs, "cust_1")
		draft(t, o)
	}
}
