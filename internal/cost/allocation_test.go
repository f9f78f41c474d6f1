// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package cost

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// The race detector's sync.Pool forgets things at random, so that it can't run
// this.
func TestASpanThatNoDialectKnowsCostsNoAllocation(t *testing.T) {
	for name, c := range map[string]contender{
		"known":  readRecord(t, "known", map[string]any{"records": false, "mode": "known"}),
		"strict": readRecord(t, "strict", map[string]any{"records": false}),
	} {
		for kind, spans := range map[string]ptrace.Traces{"http": httpServer(), "internal": internalSpans()} {
			t.Run(name+" "+kind, func(t *testing.T) {
				one := ptrace.NewTraces()
				spans.CopyTo(one)
				list := one.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
				seen := 0
				list.RemoveIf(func(ptrace.Span) bool { seen++; return seen > 1 })
				perSpan := (allocations(c, spans) - allocations(c, one)) / (spansPerRequest - 1)
				assert.InDelta(t, 0, perSpan, 0.01)
			})
		}
	}
}

// allocations returns the allocations of a request without those of its copy.
func allocations(c contender, request ptrace.Traces) float64 {
	copied := func(f func(ptrace.Traces)) float64 {
		return testing.AllocsPerRun(200, func() {
			td := ptrace.NewTraces()
			request.CopyTo(td)
			f(td)
		})
	}
	return copied(c.run) - copied(func(ptrace.Traces) {})
}
