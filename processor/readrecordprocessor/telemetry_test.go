// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/processor/readrecordprocessor/internal/metadatatest"
)

func TestWhatWasDoneIsCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	p, _ := newTraces(t, settings(tel), defaults())
	td := ptrace.NewTraces()
	ss := newScope(td)
	toolSpan(ss, 1)
	lost := toolSpan(ss, 2)
	lost.SetStartTimestamp(0)
	lost.SetEndTimestamp(0)
	other := otherSpan(ss, 3)
	other.Attributes().PutStr("authorization", "Bearer abc")
	other.Attributes().PutStr("anything", "some text")
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	l, _ := newLogs(t, settings(tel), defaults())
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr("some text")
	require.NoError(t, l.ConsumeLogs(t.Context(), ld))

	point := func(n int64, attributes ...attribute.KeyValue) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attributes...)}
	}
	value := func(n int64, place, action string) metricdata.DataPoint[int64] {
		return point(n, attribute.String("place", place), attribute.String("action", action))
	}
	ignore := []metricdatatest.Option{metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars()}
	metadatatest.AssertEqualProcessorReadRecordSpans(t, tel, []metricdata.DataPoint[int64]{point(3)}, ignore...)
	metadatatest.AssertEqualProcessorReadRecordLogRecords(t, tel, []metricdata.DataPoint[int64]{point(1)}, ignore...)
	metadatatest.AssertEqualProcessorReadRecordRecords(t, tel,
		[]metricdata.DataPoint[int64]{point(1, attribute.String("kind", "tool"), attribute.String("dialect", "otel-genai"))}, ignore...)
	metadatatest.AssertEqualProcessorReadRecordUncheckable(t, tel,
		[]metricdata.DataPoint[int64]{point(1, attribute.String("kind", "tool"))}, ignore...)
	metadatatest.AssertEqualProcessorReadRecordUnrecordable(t, tel,
		[]metricdata.DataPoint[int64]{point(1, attribute.String("reason", "no_time"))}, ignore...)
	metadatatest.AssertEqualProcessorReadRecordValues(t, tel, []metricdata.DataPoint[int64]{
		value(4, "attribute", "digested"),
		value(1, "attribute", "removed"),
		value(1, "attribute", "credential"),
		value(1, "name", "removed"),
		value(1, "body", "digested"),
	}, ignore...)
}
