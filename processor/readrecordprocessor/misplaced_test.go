// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/record"
)

// misplaced are texts that have the shape of nothing, though a part of each may
// look like what belongs in its place.
var misplaced = []string{
	"CANARY was here, Marta: 42!",
	"cat -n -o 1 2 3 4 /data/CANARY_Marta.pdf",
	"https://example.com/CANARY/x?y=CANARY#CANARY",
	`[{"id":"CANARY, z","score":"CANARY","content":"CANARY, b"}]`,
	"SELECT * FROM t WHERE n = 'CANARY, x'",
	"tool:CANARY, x@2",
	"CANARY@example.com",
}

// effectKeys are read in spans of every dialect.
var effectKeys = []string{
	"process.executable.name", "process.executable.path", "process.command", "process.command_args", "db.system.name", "db.namespace", "db.collection.name",
	"db.query.text", "db.query.summary", "db.response.status_code", "url.full", "url.template", "http.host", "http.route", "http.request.method", "server.address", "rpc.system",
	"rpc.method", "rpc.service", "messaging.system", "messaging.destination", "messaging.destination.name", "messaging.source.name", "network.protocol.name", "error.type",
}

// TestNoPartOfAMisplacedTextIsLifted puts such a text in place of every
// attribute of captured spans, and of what effects are read from, one at a time.
func TestNoPartOfAMisplacedTextIsLifted(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*/*.traces.jsonl")
	require.NoError(t, err)
	p, out := newTraces(t, settings(nil), defaults())
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range bytes.Lines(data) {
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			require.NoError(t, err)
			eachSpanAlone(td, func(alone ptrace.Traces, scope string, span ptrace.Span) {
				keys := effectKeys
				for key := range span.Attributes().All() {
					keys = append(keys[:len(keys):len(keys)], key)
				}
				for _, key := range keys {
					place := scope + " " + span.Kind().String() + " " + key
					if seen[place] {
						continue
					}
					seen[place] = true
					for _, text := range misplaced {
						changed := ptrace.NewTraces()
						alone.CopyTo(changed)
						changed.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr(key, text)
						require.NoError(t, p.ConsumeTraces(t.Context(), changed))
						if left := out.everything(t); strings.Contains(left, "CANARY") {
							i := strings.Index(left, "CANARY")
							assert.Failf(t, "content leaked", "%s of %s as %q: %s", place, filepath.Base(file), text, left[max(0, i-120):min(len(left), i+40)])
						}
					}
				}
			})
		}
	}
	assert.Greater(t, len(seen), 1000)
}

// eachSpanAlone calls f with each span in a request of its own.
func eachSpanAlone(td ptrace.Traces, f func(alone ptrace.Traces, scope string, span ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				alone := ptrace.NewTraces()
				resource := alone.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(resource.Resource())
				within := resource.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(within.Scope())
				span.CopyTo(within.Spans().AppendEmpty())
				f(alone, ss.Scope().Name(), span)
			}
		}
	}
}

// everything is what left the processor: telemetry, records and lineage.
func (s *sink) everything(t *testing.T) string {
	t.Helper()
	text := s.json(t)
	for _, item := range s.batch().Items {
		text += "\n" + body(item.Draft)
	}
	for _, l := range s.batch().Lineages {
		draft, err := record.NewLineageDraft(&record.Lineage{Header: l.Header}, l.Spans)
		require.NoError(t, err)
		text += "\n" + body(draft)
	}
	return text
}
