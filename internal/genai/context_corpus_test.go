// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// contextDraft makes the record's draft as the processor does and returns the
// completed body.
func contextDraft(t testing.TB, o Observation) []byte {
	t.Helper()
	require.NotNil(t, o.Context)
	d, err := o.ContextDraft()
	require.NoError(t, err)
	return complete(t, d)
}

// eachContext calls f for every context of every file.
func eachContext(t *testing.T, f func(item string, o Observation)) {
	l := newTestLifter(t)
	for _, file := range tracesFiles(t) {
		spans(t, file, func(in SpanInput) {
			o := l.Span(in)
			item := filepath.Base(file) + " " + in.Span.SpanID().String()
			require.Nil(t, o.Unrecordable, item)
			require.Equal(t, o.Class == ClassInference, o.Context != nil, item)
			if o.Context != nil {
				f(item, o)
			}
		})
	}
	for _, file := range logsFiles(t) {
		logs(t, file, func(i int, in LogInput) {
			o := l.Log(in)
			item := fmt.Sprintf("%s %d", filepath.Base(file), i)
			require.Nil(t, o.Unrecordable, item)
			if o.Context != nil {
				require.Equal(t, ClassInference, o.Class, item)
				f(item, o)
			}
		})
	}
}

// The golden file holds one context a line, so that a change of the table shows
// which model calls it touches.
func TestContextsOfTheCorpusAreAsTheGoldenFileHasThem(t *testing.T) {
	var got bytes.Buffer
	eachContext(t, func(item string, o Observation) {
		c := o.Context
		require.NotContains(t, string(contextDraft(t, o)), "CANARY", item)
		line, err := json.Marshal(struct {
			Item      string                  `json:"item"`
			Dialect   string                  `json:"dialect"`
			ContextID string                  `json:"context_id"`
			Model     record.Model            `json:"model"`
			Digest    string                  `json:"digest,omitzero"`
			Form      record.ContextForm      `json:"form,omitzero"`
			Canonical string                  `json:"canonicalization,omitzero"`
			Size      int64                   `json:"size,omitzero"`
			Requested []record.RequestedCall  `json:"requested"`
			Capture   *record.ContextCapture  `json:"capture"`
			Basis     map[string]record.Basis `json:"basis,omitzero"`
		}{item, o.Dialect, c.ContextID, c.Model, c.ContextDigest, c.ContextForm, c.ContextCanonicalization, c.ContextSize, c.ToolCallsRequested, c.Capture, c.Basis})
		require.NoError(t, err)
		value := jsontext.Value(line)
		require.NoError(t, value.Canonicalize())
		got.Write(append(value, '\n'))
	})
	golden := filepath.Join("testdata", "golden", "contexts.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
}
