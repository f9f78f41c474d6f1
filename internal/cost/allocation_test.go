// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package cost_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/readtrail/readtrail/internal/cost"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
)

// The race detector's sync.Pool forgets things at random, so that it can't run
// this.
func TestASpanThatNoDialectKnowsCostsNoAllocation(t *testing.T) {
	for name, c := range map[string]func(ptrace.Traces){
		"known":  strip(t, map[string]any{"records": false, "mode": "known"}),
		"strict": strip(t, map[string]any{"records": false}),
	} {
		for kind, spans := range map[string]ptrace.Traces{"http": cost.HTTPServer(), "internal": cost.InternalSpans()} {
			t.Run(name+" "+kind, func(t *testing.T) {
				one := ptrace.NewTraces()
				spans.CopyTo(one)
				list := one.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
				seen := 0
				list.RemoveIf(func(ptrace.Span) bool { seen++; return seen > 1 })
				perSpan := (allocations(c, spans) - allocations(c, one)) / (cost.SpansPerRequest - 1)
				const rounded = 4.0 / (cost.SpansPerRequest - 1) // each of four averages is a whole number
				assert.InDelta(t, 0, perSpan, rounded)
			})
		}
	}
}

// allocations returns the allocations of a request without those of its copy.
func allocations(run func(ptrace.Traces), request ptrace.Traces) float64 {
	copied := func(f func(ptrace.Traces)) float64 {
		return testing.AllocsPerRun(200, func() {
			td := ptrace.NewTraces()
			request.CopyTo(td)
			f(td)
		})
	}
	return copied(run) - copied(func(ptrace.Traces) {})
}

// strip returns a read_record processor with a configuration.
func strip(t *testing.T, config map[string]any) func(ptrace.Traces) {
	t.Helper()
	factory := readrecordprocessor.NewFactory()
	cfg := factory.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(config).Unmarshal(cfg))
	p, err := factory.CreateTraces(t.Context(), processortest.NewNopSettings(factory.Type()), cfg, consumertest.NewNop())
	require.NoError(t, err)
	return func(td ptrace.Traces) {
		if err := p.ConsumeTraces(context.Background(), td); err != nil {
			panic(err)
		}
	}
}
