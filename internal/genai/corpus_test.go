// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func documentCount(r *record.Read) int {
	switch {
	case r.Retrieval != nil:
		return len(r.Retrieval.Chunks)
	case r.Memory != nil:
		return len(r.Memory.Entries)
	default:
		return 0
	}
}

// recorded reports whether there was content. A placeholder is none.
func recorded(c record.Captured) bool {
	return c == record.CapturedContent || c == record.CapturedTruncated
}

func TestEverySpanOfTheCorpusIsWhatTheAnswerKeySays(t *testing.T) {
	want := expected(t, "n_documents", "span_id")
	l := newTestLifter(t)
	reads := 0
	for _, file := range tracesFiles(t) {
		spans(t, file, func(in SpanInput) {
			key := filepath.Base(file) + "/" + in.Span.SpanID().String()
			row := want[key]
			require.NotNil(t, row, key)
			delete(want, key)
			o := l.Span(in)
			if row["class"] == "mcp" && o.Class == ClassDocument {
				require.NotNil(t, o.Read, key) // our own view: docs/adr/0008
				draft(t, o)
				return
			}
			assert.Equal(t, row["class"], string(o.Class), key)
			isRead := row["class"] == "tool" || row["class"] == "retrieval" || row["class"] == "memory"
			if !assert.Equal(t, isRead, o.Read != nil, key) {
				return
			}
			require.Nil(t, o.Unrecordable, key)
			if !isRead {
				return
			}
			reads++
			assert.Equal(t, row["tool name"], o.Read.Source.ToolID, key)
			assert.Equal(t, row["tool call id"], o.Read.ToolCallID, key)
			assert.Equal(t, row["tool call id"], o.CallID, key)
			asked := row["has_args"] == "1" && !slices.Contains(notRecorded, key)
			assert.Equal(t, asked, recorded(o.Read.Capture.Request), key)
			assert.Equal(t, row["has_result"] == "1", recorded(o.Read.Capture.Response), key)
			if row["n_documents"] != "" {
				n, err := strconv.Atoi(row["n_documents"])
				require.NoError(t, err)
				assert.Equal(t, n, documentCount(o.Read), key)
			}
			draft(t, o)
		})
	}
	assert.Positive(t, reads)
	assert.Empty(t, want, "spans that are in no file")
}

func TestEveryLogRecordOfTheCorpusIsWhatTheAnswerKeySays(t *testing.T) {
	want := expected(t, "record_index", "record_index")
	l := newTestLifter(t)
	for _, file := range logsFiles(t) {
		logs(t, file, func(i int, in LogInput) {
			key := filepath.Base(file) + "/" + strconv.Itoa(i)
			row := want[key]
			require.NotNil(t, row, key)
			delete(want, key)
			o := l.Log(in)
			assert.Equal(t, row["class"], string(o.Class), key)
			isRead := row["class"] == "tool" || row["class"] == "retrieval" || row["class"] == "memory"
			if !assert.Equal(t, isRead, o.Read != nil, key) || !isRead {
				return
			}
			assert.Equal(t, row["tool name"], o.Read.Source.ToolID, key)
			assert.Equal(t, row["tool call id"], o.Read.ToolCallID, key)
			assert.Equal(t, row["has_args"] == "1", recorded(o.Read.Capture.Request), key)
			assert.Equal(t, row["has_result"] == "1", recorded(o.Read.Capture.Response), key)
			draft(t, o)
		})
	}
	assert.Empty(t, want, "log records that are in no file")
}

func TestNoContentOfTheCorpusEntersARecordOrASkeleton(t *testing.T) {
	l := newTestLifter(t)
	checked := 0
	for _, file := range tracesFiles(t) {
		spans(t, file, func(in SpanInput) {
			o := l.Span(in)
			checked++
			require.NotContains(t, marshalled(t, o), "CANARY", filepath.Base(file))
			require.NotContains(t, string(lineage(t, o)), "CANARY", filepath.Base(file))
			if o.Read != nil {
				require.NotContains(t, string(draft(t, o)), "CANARY", filepath.Base(file))
			}
		})
	}
	for _, file := range logsFiles(t) {
		logs(t, file, func(_ int, in LogInput) {
			o := l.Log(in)
			checked++
			require.NotContains(t, marshalled(t, o), "CANARY", filepath.Base(file))
		})
	}
	assert.Greater(t, checked, 1000)
}

func TestASpanTwiceGivesTheSameRecordAndOtherSpansGiveOthers(t *testing.T) {
	l := newTestLifter(t)
	ids := map[string]string{}
	for _, file := range tracesFiles(t) {
		spans(t, file, func(in SpanInput) {
			o, again := l.Span(in), l.Span(in)
			require.Equal(t, marshalled(t, o), marshalled(t, again))
			if o.Read == nil {
				return
			}
			span := in.Span.TraceID().String() + in.Span.SpanID().String()
			other, known := ids[o.Read.ReadID]
			require.True(t, !known || other == span)
			ids[o.Read.ReadID] = span
		})
	}
}
