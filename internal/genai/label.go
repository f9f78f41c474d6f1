// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/record"
)

// label says in o what a stripped item is labeled with. It fails if that takes the
// whole record: the execution of a read that names none and has no trace is its
// own.
func (l *Lifter) label(o *Observation, it *item, row *compiledRow, trace pcommon.TraceID) bool {
	l.choose(it, row) // for what is stripped
	o.Signal, o.Class, o.Dialect = it.signal, row.class, row.dialect
	if row.dialect == "" {
		return true // and so without labels
	}
	in := it.lift(row)
	in.toolCallID = row.accepted(it, toolCallID, joinID)
	o.ExecutionID, o.CallID = in.execution(), in.call()
	if o.ExecutionID == "" && !trace.IsEmpty() {
		o.ExecutionID = record.TraceExecution(record.HexTraceID(trace))
	}
	return o.ExecutionID != "" || row.event == ""
}
