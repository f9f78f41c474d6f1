// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

var update = flag.Bool("update", false, "write what the code gives to the golden files")

// Golden files hold one observation a line, so that a change of the table shows
// which spans it touches.
func TestObservationsAreAsTheGoldenFilesHaveThem(t *testing.T) {
	for _, path := range []string{
		"../../testdata/kyc/kyc.traces.jsonl",
		filepath.Join(corpus, "otel-js-db-http-0.76.0.traces.jsonl"),
		filepath.Join(corpus, "transcribed-otel-py-google-genai.traces.jsonl"),
		filepath.Join(corpus, "transcribed-otel-py-openai-agents.traces.jsonl"),
		filepath.Join(corpus, "openinference-js-langchain-4.1.1.traces.jsonl"),
		filepath.Join(corpus, "openinference-js-vercel-2.8.1-ai-6.0.326.traces.jsonl"),
		filepath.Join(corpus, "vercel-ai-4.3.19.traces.jsonl"),
		filepath.Join(corpus, "vercel-ai-6.0.326.traces.jsonl"),
	} {
		name := strings.TrimSuffix(filepath.Base(path), ".traces.jsonl")
		t.Run(name, func(t *testing.T) {
			l := newTestLifter(t, crmRule)
			var got bytes.Buffer
			spans(t, path, func(in SpanInput) {
				o := l.Span(in)
				line, err := json.Marshal(struct {
					Class       Class        `json:"class"`
					Dialect     string       `json:"dialect,omitzero"`
					ExecutionID string       `json:"execution_id"`
					Read        *record.Read `json:"read,omitzero"`
					Skeleton    *record.Span `json:"skeleton"`
				}{o.Class, o.Dialect, o.ExecutionID, o.Read, o.Skeleton})
				require.NoError(t, err)
				value := jsontext.Value(line)
				require.NoError(t, value.Canonicalize())
				got.Write(value)
				got.WriteByte('\n')
			})
			golden := filepath.Join("testdata", "golden", name+".jsonl")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, strings.Split(string(want), "\n"), strings.Split(got.String(), "\n"))
		})
	}
}
