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
	// byTrace finds the lineage of a trace under the current resource.
	byTrace map[pcommon.TraceID]int
}

func (l *lineages) nextResource() { l.byTrace = make(map[pcommon.TraceID]int) }

// add adds a span. One without valid ids has no place in a trace.
func (l *lineages) add(span ptrace.Span, seen *genai.Observation, readID, upstream string, routing carrier.Resource) {
	trace := span.TraceID()
	if trace.IsEmpty() || seen.Skeleton.SpanID == "" {
		return
	}
	i, found := l.byTrace[trace]
	if !found {
		i = len(l.list)
		l.byTrace[trace] = i
		l.list = append(l.list, carrier.Lineage{Header: lineageHeader(trace, upstream), Resource: routing})
	}
	lineage := &l.list[i]
	// The first execution that the trace tells of stands for all of it.
	if c := &lineage.Header.Correlation; seen.ExecutionID != "" && c.ExecutionID == record.TraceExecution(c.TraceID) {
		c.ExecutionID = seen.ExecutionID
	}
	skeleton := seen.Skeleton
	skeleton.ReadID = readID
	lineage.Spans = append(lineage.Spans, skeleton)
}

func lineageHeader(trace pcommon.TraceID, upstream string) record.Header {
	traceID := record.HexTraceID(trace)
	return record.Header{
		EventType:   record.EventLineageSpans,
		Correlation: record.Correlation{ExecutionID: record.TraceExecution(traceID), TraceID: traceID},
		ObservedBy:  record.ObservedBy{UpstreamContextSource: upstream, Signal: record.SignalSpan},
	}
}
