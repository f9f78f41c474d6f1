// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// TestAHostileJournalTakesNoLongerThanAnother gives many entries of one shape,
// of which each could be compared with each other one. What is quadratic would
// take minutes.
func TestAHostileJournalTakesNoLongerThanAnother(t *testing.T) {
	const n = 30_000
	numbered := func(i int) string { return fmt.Sprintf("%016x", i+1) }
	for name, give := range map[string]func(i int) *record.Read{
		"accounts of one span, and what is within it": func(i int) *record.Read {
			r := seen{span: "a", tool: "get", readID: "one"}.withDefaults().read()
			if i%2 == 1 {
				r.ReadID, r.Correlation.SpanID, r.Correlation.ParentSpanID = numbered(i), numbered(i), id("a")
			}
			return r
		},
		"accounts of one span of many tools, and what is within it": func(i int) *record.Read {
			r := seen{span: "a", tool: numbered(i), readID: "one"}.withDefaults().read()
			if i%2 == 1 {
				r.ReadID, r.Correlation.SpanID, r.Correlation.ParentSpanID = numbered(i), numbered(i), id("a")
			}
			return r
		},
		"calls within each other": func(i int) *record.Read {
			r := seen{tool: "get", call: numbered(i % 3)}.withDefaults().read()
			r.ReadID, r.Correlation.SpanID, r.Correlation.ParentSpanID = numbered(i), numbered(i), numbered(i-1)
			r.ObservedBy.Dialect = numbered(i % 20)
			return r
		},
		"calls of one id": func(i int) *record.Read {
			r := seen{tool: "get", call: "1"}.withDefaults().read()
			r.ReadID, r.Correlation.SpanID, r.ObservedBy.Dialect, r.Correlation.RequestID = numbered(i), numbered(i), numbered(i), numbered(i)
			return r
		},
		"log records of one span": func(i int) *record.Read {
			r := seen{span: "a", log: "1", tool: numbered(i % 100)}.withDefaults().read()
			r.ReadID, r.ObservedBy.Dialect = numbered(i), numbered(i)
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(10 * n)
			for i := range n {
				g.AddRead(NewObservation(Place{Organization: "bank"}, give(i)))
			}
			for i := range n {
				g.AddSpans(Place{Organization: "bank"}, trace, []record.Span{{SpanID: numbered(n + i), ParentSpanID: id("a"), Class: "db", Effect: touches}})
			}
			require.NotEmpty(t, g.Reads())
		})
	}
}
