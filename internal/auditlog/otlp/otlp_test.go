// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/readtrail/readtrail/internal/auditlog/otlp"
	"github.com/readtrail/readtrail/internal/content"
)

var limits = otlp.Limits{Records: 100, Values: 10_000, Depth: 64}

// example has every kind of value and every field.
func example() plog.Logs {
	logs := plog.NewLogs()
	rl := logs.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "ä")
	sl := rl.ScopeLogs().AppendEmpty()
	for i := range 2 {
		lr := sl.LogRecords().AppendEmpty()
		lr.SetTimestamp(pcommon.NewTimestampFromTime(time.Unix(1, 2)))
		lr.SetObservedTimestamp(math.MaxUint64)
		lr.SetEventName("event")
		lr.SetTraceID([16]byte{1, 2, 3})
		lr.SetSpanID([8]byte{4, 5})
		lr.SetFlags(1)
		lr.SetDroppedAttributesCount(uint32(i))
		body := lr.Body().SetEmptyMap()
		body.PutInt("int", math.MinInt64)
		body.PutDouble("double", -1e-300)
		body.PutDouble("nan", math.NaN())
		body.PutDouble("inf", math.Inf(-1))
		body.PutBool("true", true)
		body.PutBool("false", false)
		body.PutEmptyBytes("bytes").FromRaw([]byte{0xff, 0})
		body.PutEmpty("empty")
		list := body.PutEmptySlice("list")
		list.AppendEmpty().SetStr("")
		list.AppendEmpty()
		list.AppendEmpty().SetEmptyMap().PutStr("", "")
		lr.Attributes().PutStr("a", "b")
		lr.Attributes().PutInt("n", 9007199254740993)
	}
	return logs
}

// same compares what was read with what the collector's own reader reads.
func same(t require.TestingT, want plog.Logs, got *otlp.Request) {
	i := 0
	for _, rl := range want.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				require.Less(t, i, len(got.Records))
				rec := &got.Records[i]
				i++
				require.EqualValues(t, lr.Timestamp(), rec.Timestamp)
				require.EqualValues(t, lr.ObservedTimestamp(), rec.Observed)
				require.Equal(t, lr.EventName(), rec.EventName)
				require.Equal(t, [16]byte(lr.TraceID()), rec.TraceID)
				require.Equal(t, [8]byte(lr.SpanID()), rec.SpanID)
				require.EqualValues(t, lr.Flags(), rec.Flags)
				require.Equal(t, lr.DroppedAttributesCount(), rec.Dropped)
				require.Equal(t, lr.SeverityNumber() != 0 || lr.SeverityText() != "", rec.Severe)
				require.Equal(t, lr.Body().Type() != pcommon.ValueTypeEmpty, rec.Body != nil)
				if rec.Body != nil {
					sameValue(t, lr.Body(), rec.Body)
				}
				sameMap(t, lr.Attributes(), &rec.Attributes)
				if rec.Resource != nil {
					sameMap(t, rl.Resource().Attributes(), rec.Resource)
				}
			}
		}
	}
	require.Len(t, got.Records, i)
}

func sameMap(t require.TestingT, want pcommon.Map, got *otlp.Value) {
	require.Equal(t, want.Len(), got.Len())
	i := 0
	for name, v := range want.All() {
		require.Equal(t, name, got.Members()[i].Name)
		sameValue(t, v, &got.Members()[i].Value)
		i++
	}
}

func sameValue(t require.TestingT, want pcommon.Value, got *otlp.Value) {
	switch want.Type() {
	case pcommon.ValueTypeEmpty:
		require.Equal(t, content.KindEmpty, got.Kind())
	case pcommon.ValueTypeStr:
		require.Equal(t, content.KindString, got.Kind())
		require.Equal(t, want.Str(), got.Str())
	case pcommon.ValueTypeInt:
		require.Equal(t, content.KindInt, got.Kind())
		require.Equal(t, want.Int(), got.Int())
	case pcommon.ValueTypeDouble:
		require.Equal(t, content.KindDouble, got.Kind())
		require.Equal(t, math.IsNaN(want.Double()), math.IsNaN(got.Double()))
		if !math.IsNaN(want.Double()) {
			require.Equal(t, math.Float64bits(want.Double()), math.Float64bits(got.Double()))
		}
	case pcommon.ValueTypeBool:
		require.Equal(t, content.KindBool, got.Kind())
		require.Equal(t, want.Bool(), got.Bool())
	case pcommon.ValueTypeBytes:
		require.Equal(t, content.KindBytes, got.Kind())
		require.Equal(t, string(want.Bytes().AsRaw()), string(got.Bytes()))
	case pcommon.ValueTypeMap:
		require.Equal(t, content.KindMap, got.Kind())
		sameMap(t, want.Map(), got)
	case pcommon.ValueTypeSlice:
		require.Equal(t, content.KindArray, got.Kind())
		require.Equal(t, want.Slice().Len(), got.Len())
		for i := range got.Members() {
			sameValue(t, want.Slice().At(i), &got.Members()[i].Value)
		}
	}
}

func protobufOf(t testing.TB, logs plog.Logs) []byte {
	t.Helper()
	b, err := plogotlp.NewExportRequestFromLogs(logs).MarshalProto()
	require.NoError(t, err)
	return b
}

func jsonOf(t testing.TB, logs plog.Logs) []byte {
	t.Helper()
	b, err := plogotlp.NewExportRequestFromLogs(logs).MarshalJSON()
	require.NoError(t, err)
	return b
}

func TestARequestReadsAsTheCollectorsOwnReaderReadsIt(t *testing.T) {
	logs := example()
	got, err := otlp.Protobuf(protobufOf(t, logs), limits)
	require.NoError(t, err)
	same(t, logs, got)
	got, err = otlp.JSON(jsonOf(t, logs), limits)
	require.NoError(t, err)
	same(t, logs, got)
	assert.Equal(t, "/resourceLogs/0/scopeLogs/0/logRecords/1", got.Records[1].Pointer)
}

func TestFieldsThatNobodyKnowsAreCounted(t *testing.T) {
	got, err := otlp.JSON([]byte(`{"x":1,"resourceLogs":[{"y":{},"resource":{"z":[]},"scopeLogs":[{"logRecords":[{"a":null,"b":"c","body":{"stringValue":"s","d":1}}]}]}]}`), limits)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Ignored)
	assert.Equal(t, 4, got.Records[0].Ignored)

	b := protowire.AppendTag(nil, 99, protowire.VarintType)
	b = protowire.AppendVarint(b, 1)
	b = append(protobufOf(t, example()), b...)
	got, err = otlp.Protobuf(b, limits)
	require.NoError(t, err)
	assert.Equal(t, 1, got.Ignored)
}

// nested is a value in protobuf that nests others.
func nested(depth int) []byte {
	v := []byte{0x0a, 0x01, 'x'}
	for range depth {
		v = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), v)
		v = protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), v)
	}
	return v
}

func inRecord(field protowire.Number, value []byte) []byte {
	b := protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), value)
	for _, n := range []protowire.Number{2, 2, 1} {
		b = protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	return b
}

func TestHostileRequestsAreRefusedWithinBoundedMemory(t *testing.T) {
	attribute := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte("a"))
	var attributes []byte
	for range 100_000 {
		attributes = protowire.AppendBytes(protowire.AppendTag(attributes, 6, protowire.BytesType), attribute)
	}
	many := attributes
	for _, n := range []protowire.Number{2, 2, 1} {
		many = protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), many)
	}
	deep := nested(5_000)
	for name, body := range map[string][]byte{
		"values that nest":         inRecord(5, deep),
		"a hundred thousand":       many,
		"records":                  []byte("\x0a\xd0\x0f\x12\xcd\x0f" + strings.Repeat("\x12\x00", 1000)),
		"a length beyond all":      {0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"a group":                  {0x0b},
		"a varint that never ends": []byte(strings.Repeat("\xff", 1000)),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := otlp.Protobuf(body, limits)
			runtime.ReadMemStats(&after)
			_, ok := errors.AsType[*otlp.Error](err)
			require.True(t, ok, err)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
		})
	}
	text := strings.Repeat(`{"arrayValue":{"values":[`, 100_000)
	_, err := otlp.JSON([]byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":`+text), limits)
	require.ErrorContains(t, err, "nest deeper")
	_, err = otlp.JSON([]byte(`{"x":`+strings.Repeat("[", 1_000_000)), limits)
	require.ErrorContains(t, err, "not JSON")
}

func TestWhatIsNoRequestSaysWhatIsWrong(t *testing.T) {
	record := func(inner string) string {
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + inner + `]}]}]}`
	}
	for _, test := range []struct{ body, want string }{
		{``, "not JSON"},
		{`{"resourceLogs":[]} {}`, "not JSON"},
		{`{"resourceLogs":{}}`, "another type"},
		{"{\"resourceLogs\":[\"\xff\"]}", "another type"},
		{record(`{"timeUnixNano":"x"}`), "/resourceLogs/0/scopeLogs/0/logRecords/0/timeUnixNano: a field has another type"},
		{record(`{"timeUnixNano":-1}`), "another type"},
		{record(`{"timeUnixNano":1.5}`), "another type"},
		{record(`{"traceId":"00"}`), "wrong length"},
		{record(`{"body":{"bytesValue":"%"}}`), "base64"},
		{record(`{"body":{"intValue":"9223372036854775808"}}`), "another type"},
		{record(`{"body":{"doubleValue":1e999}}`), "another type"},
		{record(`{"body":{"boolValue":"true"}}`), "another type"},
		{record(`{"body":{"intValue":1,"stringValue":"a"}}`), "two kinds"},
		{record(`{"eventName":"a","eventName":"b"}`), "a name twice"},
	} {
		_, err := otlp.JSON([]byte(test.body), limits)
		require.ErrorContains(t, err, test.want, test.body)
	}
	for want, body := range map[string][]byte{
		"stands twice": inRecord2(t),
		"not UTF-8":    inRecord(12, []byte{0xff}),
		"wrong length": inRecord(9, []byte{1}),
		"two kinds":    inRecord(5, []byte{0x0a, 0x00, 0x18, 0x01}),
	} {
		_, err := otlp.Protobuf(body, limits)
		require.ErrorContains(t, err, want)
	}
}

// inRecord2 is a record with a body twice.
func inRecord2(*testing.T) []byte {
	b := []byte{0x2a, 0x02, 0x18, 0x01, 0x2a, 0x02, 0x18, 0x01}
	for _, n := range []protowire.Number{2, 2, 1} {
		b = protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	return b
}

// FuzzProtobuf: what is taken reads as the collector's own reader reads it.
func FuzzProtobuf(f *testing.F) {
	f.Add(protobufOf(f, example()))
	f.Add(inRecord(5, nested(3)))
	f.Add(inRecord2(nil))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := otlp.Protobuf(body, limits)
		if err != nil {
			_, ok := errors.AsType[*otlp.Error](err)
			require.True(t, ok, err)
			return
		}
		decoded := plogotlp.NewExportRequest()
		if err := decoded.UnmarshalProto(body); err == nil {
			same(t, decoded.Logs(), got)
		}
	})
}

// FuzzJSON: what is taken reads as the collector's own reader reads it.
func FuzzJSON(f *testing.F) {
	f.Add(jsonOf(f, example()))
	f.Add([]byte(`{"resourceLogs":[{"scopeLogs":[{"scope":{"name":""},"logRecords":[{"body":{"stringValue":"a"},"severityNumber":0}]}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := otlp.JSON(body, limits)
		if err != nil {
			_, ok := errors.AsType[*otlp.Error](err)
			require.True(t, ok, err)
			return
		}
		if strings.Contains(string(body), "_") || strings.Contains(string(body), "null") {
			return // the other reader knows a second name of each field, and null as a value
		}
		decoded := plogotlp.NewExportRequest()
		if err := decoded.UnmarshalJSON(body); err == nil {
			same(t, decoded.Logs(), got)
		}
	})
}
