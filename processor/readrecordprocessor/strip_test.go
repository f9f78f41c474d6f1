// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
)

// What is stripped does not depend on whether anybody takes records, for which
// the processor does much less.
func TestWithoutRecordsTheSameLeaves(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "corpus", "*.traces.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, mode := range []strip.Mode{strip.Strict, strip.Known} {
		whole, bare := defaults(), stripOnly()
		for _, cfg := range []*Config{whole, bare} {
			cfg.Mode = mode
			cfg.Digest.DigestKey = key(t, "bank")
			cfg.Sources = []genai.SourceRule{{Match: genai.SourceMatch{Tool: "*"}, Digest: key(t, "tools")}}
		}
		records, recorded := newTraces(t, settings(nil), whole)
		strips, stripped := newTraces(t, settings(nil), bare)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for line := range bytes.Lines(text) {
				td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
				require.NoError(t, err)
				same := ptrace.NewTraces()
				td.CopyTo(same)
				require.NoError(t, records.ConsumeTraces(t.Context(), td))
				require.NoError(t, strips.ConsumeTraces(t.Context(), same))
				for _, span := range recorded.spans() {
					span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return key == carrier.ReadIDAttribute })
				}
				assert.JSONEq(t, recorded.json(t), stripped.json(t), file)
			}
		}
	}
}
