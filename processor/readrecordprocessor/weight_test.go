// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// TestEveryTextWeighs demands that no place is left in which a sender could put
// what the bound does not count.
func TestEveryTextWeighs(t *testing.T) {
	text := strings.Repeat("x", 1000)
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.SetSchemaUrl(text)
	rs.Resource().Attributes().PutStr(text, text)
	ss := rs.ScopeSpans().AppendEmpty()
	ss.SetSchemaUrl(text)
	ss.Scope().SetName(text)
	ss.Scope().SetVersion(text)
	ss.Scope().Attributes().PutStr(text, text)
	span := ss.Spans().AppendEmpty()
	span.SetName(text)
	span.Status().SetMessage(text)
	span.TraceState().FromRaw(text)
	span.Attributes().PutStr(text, text)
	span.Attributes().PutEmptyBytes("bytes").FromRaw([]byte(text))
	span.Attributes().PutEmptySlice("list").AppendEmpty().SetEmptyMap().PutStr(text, text)
	event := span.Events().AppendEmpty()
	event.SetName(text)
	event.Attributes().PutStr(text, text)
	link := span.Links().AppendEmpty()
	link.TraceState().FromRaw(text)
	link.Attributes().PutStr(text, text)
	requireWeight(t, 22*len(text), weightOfTraces(td), (&ptrace.ProtoMarshaler{}).TracesSize(td))

	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.SetSchemaUrl(text)
	rl.Resource().Attributes().PutStr(text, text)
	sl := rl.ScopeLogs().AppendEmpty()
	sl.SetSchemaUrl(text)
	sl.Scope().SetName(text)
	sl.Scope().SetVersion(text)
	sl.Scope().Attributes().PutStr(text, text)
	log := sl.LogRecords().AppendEmpty()
	log.SetEventName(text)
	log.SetSeverityText(text)
	log.Body().SetStr(text)
	log.Attributes().PutStr(text, text)
	requireWeight(t, 13*len(text), weightOfLogs(ld), (&plog.ProtoMarshaler{}).LogsSize(ld))
}

// requireWeight demands that a weight is at least that of the texts, and near
// the size as protobuf.
func requireWeight(t *testing.T, texts, weight, size int) {
	t.Helper()
	require.GreaterOrEqual(t, weight, texts)
	require.InEpsilon(t, size, weight, 0.1)
}
