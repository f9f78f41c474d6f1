// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/record"
)

// lineages gathers the skeletons of a request's spans by trace and resource,
// in the order of the telemetry, so that a retry gives the same ones.
type lineages struct {
	list []carrier.Lineage
	// byTrace finds the lineage of a trace under the current resource, and latest
	// is the one that was looked up last: most spans that follow each other are of
	// one trace.
	byTrace map[pcommon.TraceID]int
	latest  struct {
		trace pcommon.TraceID
		place int
	}
}

// begin makes the lineages of a resource, with room for their spans.
func (l *lineages) begin(rs ptrace.ResourceSpans, upstream string, routing carrier.Resource) {
	l.byTrace = make(map[pcommon.TraceID]int)
	l.latest.trace = pcommon.TraceID{}
	first, total := len(l.list), 0
	var sizes []int
	for _, ss := range rs.ScopeSpans().All() {
		for _, span := range ss.Spans().All() {
			if !hasPlace(span) {
				continue
			}
			i, found := l.find(span.TraceID())
			if !found {
				i = len(l.list)
				l.byTrace[span.TraceID()] = i
				l.list = append(l.list, carrier.Lineage{Header: lineageHeader(span.TraceID(), upstream), Resource: routing})
				sizes = append(sizes, 0)
			}
			sizes[i-first]++
			total++
		}
	}
	room := make([]record.Span, total)
	for i, size := range sizes {
		l.list[first+i].Spans, room = room[:0:size], room[size:]
	}
}

// hasPlace reports whether a span has a place in a trace: valid ids.
func hasPlace(span ptrace.Span) bool { return !span.TraceID().IsEmpty() && !span.SpanID().IsEmpty() }

func (l *lineages) find(trace pcommon.TraceID) (place int, found bool) {
	if l.latest.trace == trace {
		return l.latest.place, true
	}
	if place, found = l.byTrace[trace]; found {
		l.latest.trace, l.latest.place = trace, place
	}
	return place, found
}

// add adds a span.
func (l *lineages) add(span ptrace.Span, seen *genai.Observation, readID string) {
	if !hasPlace(span) {
		return
	}
	i, _ := l.find(span.TraceID())
	lineage := &l.list[i]
	// The first execution that the trace tells of stands for all of it.
	c := &lineage.Header.Correlation
	if seen.ExecutionID != "" && seen.ExecutionID != c.ExecutionID && c.ExecutionID == record.TraceExecution(c.TraceID) {
		c.ExecutionID = seen.ExecutionID
	}
	seen.Skeleton.ReadID = readID
	lineage.Spans = append(lineage.Spans, *seen.Skeleton)
}

func lineageHeader(trace pcommon.TraceID, upstream string) record.Header {
	traceID := record.HexTraceID(trace)
	return record.Header{
		EventType:   record.EventLineageSpans,
		Correlation: record.Correlation{ExecutionID: record.TraceExecution(traceID), TraceID: traceID},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: upstream, Signal: record.SignalSpan},
	}
}
