// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// decisions counts as the stripper does, from what it is told.
type decisions Counts

func (d *decisions) Decided(told Decision) { (*Counts)(d).took(told.Place, told.Outcome) }

func TestAnObserverIsToldOfEachDecisionAndChangesNone(t *testing.T) {
	for _, mode := range []Mode{Strict, Known} {
		plain := stripper(t, Options{Mode: mode})
		rapid.Check(t, func(t *rapid.T) {
			traces, logs := randomTraces(t), randomLogs(t)
			tracesToo, logsToo := ptrace.NewTraces(), plog.NewLogs()
			traces.CopyTo(tracesToo)
			logs.CopyTo(logsToo)

			var told decisions
			observed := plain.Observed(&told)
			counts := []*Counts{observed.traces(tracesToo), observed.logs(logsToo)}
			require.Equal(t, counts, []*Counts{plain.traces(traces), plain.logs(logs)})
			require.Equal(t, marshaled(t, traces, logs), marshaled(t, tracesToo, logsToo))
			var sum Counts
			for _, c := range counts {
				c.Each(func(p Place, a Action, n int64) { sum[p][a] += n })
			}
			require.Equal(t, sum, Counts(told))
		})
	}
}

func TestTheOutcomesOfAnAttributeNameTheirReason(t *testing.T) {
	for _, c := range []struct {
		key           string
		value         any
		strict, known Outcome
	}{
		{"service.name", "crm", Stays, Stays},
		{"service.name", "Zoë", RemovedMisshapen, StaysMisshapen},
		{"note", "x", RemovedUnknown, StaysUnknown},
		{"note", "Bearer 0123456789abcdef", RemovedCredential, RemovedCredential},
		{"input.value", "x", Digest, Digest},
		{"input.value", "[REDACTED]", StaysPlaceholder, StaysPlaceholder},
		{"metadata.marta", "x", RemovedFreeKey, Digest},
		{"api_key", "x", RemovedCredential, RemovedCredential},
		{"api_key", true, RemovedMisshapen, StaysMisshapen},
	} {
		for mode, want := range map[Mode]Outcome{Strict: c.strict, Known: c.known} {
			span := ptrace.NewSpan()
			require.NoError(t, span.Attributes().FromRaw(map[string]any{c.key: c.value}))
			seen := told{}
			stripper(t, Options{Mode: mode}).Observed(seen).Span(span, 0, nil, "", &Counts{})
			require.Equal(t, told{c.key: want}, seen, "%s %v %s", mode, c.value, want)
		}
	}
}

// told remembers the outcome by key.
type told map[string]Outcome

func (o told) Decided(d Decision) { o[d.Key] = d.Outcome }
