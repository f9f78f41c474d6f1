// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

func TestLabelsAreThoseOfAWholeObservation(t *testing.T) {
	whole := newTestLifter(t)
	bare, err := New(Options{LabelsOnly: true})
	require.NoError(t, err)
	same := func(want, got Observation) {
		t.Helper()
		assert.Equal(t, want.Class, got.Class)
		assert.Equal(t, want.Dialect, got.Dialect)
		assert.Equal(t, want.SafeName, got.SafeName)
		if want.Dialect != "" {
			assert.Equal(t, want.ExecutionID, got.ExecutionID)
			assert.Equal(t, want.CallID, got.CallID)
		}
	}
	files, err := filepath.Glob(filepath.Join(corpus, "*.traces.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		spans(t, file, func(in SpanInput) {
			same(whole.Span(in), bare.Span(in))
			in.Span.SetTraceID(pcommon.TraceID{})
			same(whole.Span(in), bare.Span(in))
		})
	}
	files, err = filepath.Glob(filepath.Join(corpus, "*.logs.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		logs(t, file, func(_ int, in LogInput) { same(whole.Log(in), bare.Log(in)) })
	}
}
