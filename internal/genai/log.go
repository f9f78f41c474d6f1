// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/readtrail/readtrail/record"

// Log recognizes a log record and lifts what it tells.
func (l *Lifter) Log(in LogInput) (o Observation) {
	it := logItem(in)
	row, _ := l.table.match(it)
	if l.labelsOnly && l.label(&o, it, row, in.Log.TraceID()) {
		it.release()
		return o
	}
	lifting := l.begin(it, row, in.Upstream)
	lifting.traceID = record.HexTraceID(in.Log.TraceID())
	lifting.spanID = record.HexSpanID(in.Log.SpanID())
	switch {
	case lifting.traceID == "" && lifting.spanID == "":
		lifting.header.ObservedBy.IDProblem = record.IDProblemMissing
	case lifting.traceID == "":
		lifting.header.ObservedBy.IDProblem = record.IDProblemZeroTraceID
	case lifting.spanID == "":
		lifting.header.ObservedBy.IDProblem = record.IDProblemZeroSpanID
	}
	at := in.Log.Timestamp()
	if at == 0 {
		at = in.Log.ObservedTimestamp()
	}
	lifting.header.OccurredAt = record.TimeFromUnixNano(uint64(at))
	answer, _ := lifting.row.find(it, result)
	lifting.status = lifting.row.ended(it, logStatus(it, in.Log, answer.ok))
	lifting.correlate("")
	l.observe(&o, lifting, derivations{
		read: func(*record.Read) string {
			body := lifting.cache.Digest(in.Log.Body()).Value
			return record.ReadIDOfLog(in.Log.TraceID(), in.Log.SpanID(), uint64(at), string(lifting.hidden(it.name)), lifting.toolCallID, body)
		},
		context: func(c *record.Context) string {
			body := lifting.cache.Digest(in.Log.Body()).Value
			return record.ContextIDOfLog(in.Log.TraceID(), in.Log.SpanID(), uint64(at), string(lifting.hidden(it.name)), c.ContextDigest, body)
		},
	})
	return o
}
