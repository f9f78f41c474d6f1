// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

const trace = "0af7651916cd43dd8448eb211c80319c"

func span(sequence uint64, tool, call, id, parent string) *observation {
	return &observation{
		sequence: sequence, readID: "read_" + id, toolID: tool, toolCall: call, signal: record.SignalSpan,
		correlation: record.Correlation{TraceID: trace, ExecutionID: "run", SpanID: id, ParentSpanID: parent},
	}
}

func log(sequence uint64, tool, call, within string) *observation {
	o := span(sequence, tool, call, within, "")
	o.signal, o.readID = record.SignalLog, "read_log_"+within+call
	return o
}

func TestObservationsAreJoinedByKeysAndParentageOnly(t *testing.T) {
	elsewhere := span(2, "get", "call_1", "b", "")
	elsewhere.correlation.TraceID, elsewhere.correlation.ExecutionID = "1af7651916cd43dd8448eb211c80319c", "other"
	sameExecution := span(2, "get", "call_1", "b", "")
	sameExecution.correlation.TraceID = "1af7651916cd43dd8448eb211c80319c"
	conflicting := span(2, "get", "", "a", "")
	for name, c := range map[string]struct {
		in   []*observation
		want [][]uint64
	}{
		"one call id in one trace is one read": {
			[]*observation{span(1, "get", "call_1", "a", ""), span(2, "mcp get", "call_1", "b", "a"), log(3, "get", "call_1", "z")},
			[][]uint64{{1, 2, 3}},
		},
		"one call id in one execution of two traces is one read": {
			[]*observation{span(1, "get", "call_1", "a", ""), sameExecution},
			[][]uint64{{1, 2}},
		},
		"one call id in another trace and execution is another read": {
			[]*observation{span(1, "get", "call_1", "a", ""), elsewhere},
			[][]uint64{{1}, {2}},
		},
		"the outermost span leads, whatever came first": {
			[]*observation{span(1, "get", "", "c", "b"), span(2, "get", "", "b", "a"), span(3, "get", "call_1", "a", "")},
			[][]uint64{{3, 1, 2}},
		},
		"a child of the same tool without a call id belongs to its parent": {
			[]*observation{span(1, "get", "call_1", "a", ""), span(2, "get", "", "b", "a")},
			[][]uint64{{1, 2}},
		},
		"a child of another tool is a read of its own": {
			[]*observation{span(1, "get", "call_1", "a", ""), span(2, "search", "", "b", "a")},
			[][]uint64{{1}, {2}},
		},
		"a child with another call id is a read of its own": {
			[]*observation{span(1, "get", "call_1", "a", ""), span(2, "get", "call_2", "b", "a")},
			[][]uint64{{1}, {2}},
		},
		"calls of one tool under one parent stay apart": {
			[]*observation{span(1, "get", "", "a", "agent"), span(2, "get", "", "b", "agent")},
			[][]uint64{{1}, {2}},
		},
		"a log record belongs to the span of the same tool that carries it": {
			[]*observation{span(1, "get", "call_1", "a", ""), log(2, "get", "", "a")},
			[][]uint64{{1, 2}},
		},
		"two accounts of one span are shown together": {
			[]*observation{span(1, "get", "", "a", ""), conflicting},
			[][]uint64{{1, 2}},
		},
		"spans that name each other as parents end": {
			[]*observation{span(1, "get", "call_1", "a", "b"), span(2, "get", "call_1", "b", "a")},
			[][]uint64{{1, 2}},
		},
		"what is not a read is never joined": {
			[]*observation{{sequence: 1}, {sequence: 2}},
			[][]uint64{{1}, {2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][]uint64
			for _, j := range join(c.in) {
				group := []uint64{j.head.sequence}
				for _, o := range j.others {
					group = append(group, o.sequence)
				}
				got = append(got, group)
			}
			require.Equal(t, c.want, got)
		})
	}
}
