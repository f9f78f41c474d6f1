// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// The weight of telemetry is about the bytes that it takes: those of its texts,
// and a constant for each thing around them. Its exact size as protobuf would
// cost a tenth of the work on a span, and say no more about memory. What pdata does
// not show, the entity references of resources, is not counted.

const (
	itemWeight      = 64 // of a span, an event, a link or a log record, in bytes
	attributeWeight = 8  // of an attribute or an element of a list, in bytes
)

func weightOfTraces(td ptrace.Traces) (weight int) {
	for _, rs := range td.ResourceSpans().All() {
		weight += itemWeight + len(rs.SchemaUrl()) + weightOf(rs.Resource().Attributes())
		for _, ss := range rs.ScopeSpans().All() {
			weight += len(ss.SchemaUrl()) + weightOfScope(ss.Scope())
			for _, span := range ss.Spans().All() {
				weight += weightOfSpan(span)
			}
		}
	}
	return weight
}

func weightOfScope(scope pcommon.InstrumentationScope) int {
	return itemWeight + len(scope.Name()) + len(scope.Version()) + weightOf(scope.Attributes())
}

func weightOfSpan(span ptrace.Span) int {
	weight := itemWeight + len(span.Name()) + len(span.Status().Message()) + len(span.TraceState().AsRaw()) + weightOf(span.Attributes())
	for _, event := range span.Events().All() {
		weight += itemWeight + len(event.Name()) + weightOf(event.Attributes())
	}
	for _, link := range span.Links().All() {
		weight += itemWeight + len(link.TraceState().AsRaw()) + weightOf(link.Attributes())
	}
	return weight
}

func weightOfLogs(ld plog.Logs) (weight int) {
	for _, rl := range ld.ResourceLogs().All() {
		weight += itemWeight + len(rl.SchemaUrl()) + weightOf(rl.Resource().Attributes())
		for _, sl := range rl.ScopeLogs().All() {
			weight += len(sl.SchemaUrl()) + weightOfScope(sl.Scope())
			for _, log := range sl.LogRecords().All() {
				weight += itemWeight + len(log.EventName()) + len(log.SeverityText()) + weightOfValue(log.Body()) + weightOf(log.Attributes())
			}
		}
	}
	return weight
}

func weightOf(attributes pcommon.Map) (weight int) {
	for key, v := range attributes.All() {
		weight += len(key) + weightOfValue(v)
	}
	return weight
}

func weightOfValue(v pcommon.Value) int {
	weight := attributeWeight
	switch v.Type() {
	case pcommon.ValueTypeStr:
		weight += len(v.Str())
	case pcommon.ValueTypeBytes:
		weight += v.Bytes().Len()
	case pcommon.ValueTypeMap:
		weight += weightOf(v.Map())
	case pcommon.ValueTypeSlice:
		for _, e := range v.Slice().All() {
			weight += weightOfValue(e)
		}
	}
	return weight
}
