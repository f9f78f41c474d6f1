// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
)

// traces strips whole traces as the processor does, without a name that
// internal/genai knows to be safe.
func (s *Stripper) traces(traces ptrace.Traces) *Counts {
	var counts Counts
	var cache telemetry.Cache
	for _, r := range traces.ResourceSpans().All() {
		r.SetSchemaUrl(s.SchemaURL(r.SchemaUrl(), &counts))
		s.Resource(r.Resource(), &cache, &counts)
		for _, scope := range r.ScopeSpans().All() {
			scope.SetSchemaUrl(s.SchemaURL(scope.SchemaUrl(), &counts))
			gate := content.ScopeGate(scope.Scope().Name())
			s.Scope(scope.Scope(), &cache, &counts)
			for _, span := range scope.Spans().All() {
				cache.Reset()
				s.Span(span, gate, &cache, "", &counts)
			}
		}
	}
	return &counts
}

func (s *Stripper) logs(logs plog.Logs) *Counts {
	var counts Counts
	var cache telemetry.Cache
	for _, r := range logs.ResourceLogs().All() {
		r.SetSchemaUrl(s.SchemaURL(r.SchemaUrl(), &counts))
		s.Resource(r.Resource(), &cache, &counts)
		for _, scope := range r.ScopeLogs().All() {
			scope.SetSchemaUrl(s.SchemaURL(scope.SchemaUrl(), &counts))
			gate := content.ScopeGate(scope.Scope().Name())
			s.Scope(scope.Scope(), &cache, &counts)
			for _, log := range scope.LogRecords().All() {
				cache.Reset()
				s.Log(log, gate, &cache, &counts)
			}
		}
	}
	return &counts
}
