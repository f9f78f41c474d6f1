// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

const traceID = "0102030405060708090a0b0c0d0e0f10"

func lineageOf(spans ...record.Span) carrier.Lineage {
	return carrier.Lineage{
		Header: record.Header{
			EventType:   record.EventLineageSpans,
			Correlation: record.Correlation{ExecutionID: "run-1", TraceID: traceID},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
		},
		Spans:    spans,
		Resource: carrier.Resource{"service.namespace": "treasury"},
	}
}

func skeletons(n int) []record.Span {
	spans := make([]record.Span, n)
	for i := range spans {
		spans[i] = record.Span{
			SpanID: fmt.Sprintf("%016x", i+1), Kind: "internal", Class: "tool", Status: record.StatusOK,
			EndedAt: record.NewTime(time.Unix(int64(1000+i), 0)),
		}
	}
	return spans
}

func deliver(t *testing.T, r *rig, b *carrier.Batch) []carrier.Item {
	t.Helper()
	require.NoError(t, r.traces.ConsumeTraces(carrier.NewContext(t.Context(), b), spanWith("")))
	if len(r.journal.appends) == 0 {
		return nil
	}
	require.Len(t, r.journal.appends, 1)
	return r.journal.appends[0]
}

func body(d *record.Draft) string {
	return string(d.Complete(record.Completion{EventID: "evt_1", JournalID: "j", Sequence: 1, CollectorID: "c", Parts: d.Parts()}))
}

func TestLineageFollowsTheReadsInChunksOfOneRecord(t *testing.T) {
	r := newRig(t, nil)
	items := deliver(t, r, &carrier.Batch{
		Items:    []carrier.Item{item(t, "read_a")},
		Lineages: []carrier.Lineage{lineageOf(skeletons(record.MaxLineageSpans + 1)...)},
	})
	require.Len(t, items, 3)
	assert.Equal(t, record.KindRead, items[0].Draft.Kind())
	assert.Equal(t, record.KindLineage, items[1].Draft.Kind())
	assert.Len(t, items[1].Draft.Parts(), record.MaxLineageSpans)
	assert.Len(t, items[2].Draft.Parts(), 1)
	assert.Equal(t, carrier.Resource{"service.namespace": "treasury"}, items[2].Resource)
	assert.Contains(t, body(items[1].Draft), `"occurred_at":"1970-01-01T00:24:59.000000000Z"`, "the latest end of its spans")
	assert.Contains(t, body(items[2].Draft), `"occurred_at":"1970-01-01T00:25:00.000000000Z"`)
	metadatatest.AssertEqualExporterAuditJournalLineageSpans(t, r.tel,
		[]metricdata.DataPoint[int64]{{Value: record.MaxLineageSpans + 1}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func TestLineageOfARetryIsTheSame(t *testing.T) {
	b := &carrier.Batch{Lineages: []carrier.Lineage{lineageOf(skeletons(3)...)}}
	first, second := deliver(t, newRig(t, nil), b), deliver(t, newRig(t, nil), b)
	assert.Equal(t, first[0].Draft.Parts(), second[0].Draft.Parts())
	assert.Equal(t, first[0].Draft.Digest(), second[0].Draft.Digest())
}

func TestLineageCanBeSwitchedOff(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Lineage = false })
	assert.Empty(t, deliver(t, r, &carrier.Batch{Lineages: []carrier.Lineage{lineageOf(skeletons(3)...)}}))
}

func TestLineageBeyondTheLargestEntryIsSplit(t *testing.T) {
	r := newRig(t, nil)
	spans := skeletons(100)
	for i := range spans {
		spans[i].Links = links(500)
	}
	items := deliver(t, r, &carrier.Batch{Lineages: []carrier.Lineage{lineageOf(spans...)}})
	require.Greater(t, len(items), 1)
	total := 0
	for _, i := range items {
		assert.Less(t, len(body(i.Draft)), record.MaxEntryBytes)
		total += len(i.Draft.Parts())
	}
	assert.Equal(t, 100, total)
}

func TestSpanThatFitsIntoNoEntryLeavesARecordAndTheOthersStay(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(*record.Span)
		reason string
	}{
		"too large":     {func(s *record.Span) { s.Links = links(20000) }, "too_large"},
		"invalid UTF-8": {func(s *record.Span) { s.Model = "\xff" }, "invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			spans := skeletons(3)
			test.spoil(&spans[1])
			items := deliver(t, r, &carrier.Batch{Lineages: []carrier.Lineage{lineageOf(spans...)}})
			require.Len(t, items, 3)
			assert.Equal(t, []record.Kind{record.KindLineage, record.KindJournal, record.KindLineage},
				[]record.Kind{items[0].Draft.Kind(), items[1].Draft.Kind(), items[2].Draft.Kind()})
			unrecordable := body(items[1].Draft)
			assert.Contains(t, unrecordable, `"event_type":"item.unrecordable"`)
			assert.Contains(t, unrecordable, `"reason":"`+test.reason+`"`)
			assert.Contains(t, unrecordable, `"span_id":"0000000000000002"`)
			metadatatest.AssertEqualExporterAuditJournalLineageUnrecordable(t, r.tel,
				[]metricdata.DataPoint[int64]{{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", test.reason))}},
				metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		})
	}
}

func links(n int) []record.Link {
	out := make([]record.Link, n)
	for i := range out {
		out[i] = record.Link{TraceID: strings.Repeat("ab", 16), SpanID: fmt.Sprintf("%016x", i+1)}
	}
	return out
}
