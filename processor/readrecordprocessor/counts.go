// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/readtrail/readtrail/internal/strip"
)

// counts are what one request adds to the component's own telemetry.
type counts struct {
	spans, logRecords int64
	records           map[recordKind]int64
	uncheckables      map[string]int64
	unrecordables     map[string]int64
}

type recordKind struct{ kind, dialect string }

func (c *counts) record(eventType, dialect string) {
	if c.records == nil {
		c.records = make(map[recordKind]int64)
	}
	c.records[recordKind{kindOf(eventType), dialect}]++
}

// contextKind is what the count of records calls context records.
const contextKind = "context"

func (c *counts) context(dialect string) { c.record(contextKind, dialect) }

func (c *counts) uncheckable(eventType string) {
	if c.uncheckables == nil {
		c.uncheckables = make(map[string]int64)
	}
	c.uncheckables[kindOf(eventType)]++
}

func kindOf(eventType string) string { return strings.TrimPrefix(eventType, "read.") }

func (c *counts) unrecordable(reason string) {
	if c.unrecordables == nil {
		c.unrecordables = make(map[string]int64)
	}
	c.unrecordables[reason]++
}

// report adds the counts of a request to the instruments.
func (p *pass) report(ctx context.Context) {
	t := p.telemetry
	add := func(instrument metric.Int64Counter, n int64, attributes ...attribute.KeyValue) {
		if n > 0 {
			instrument.Add(ctx, n, metric.WithAttributes(attributes...))
		}
	}
	add(t.ProcessorReadRecordSpans, p.counts.spans)
	add(t.ProcessorReadRecordLogRecords, p.counts.logRecords)
	for k, n := range p.counts.records {
		add(t.ProcessorReadRecordRecords, n, attribute.String("kind", k.kind), attribute.String("dialect", k.dialect))
	}
	for kind, n := range p.counts.uncheckables {
		add(t.ProcessorReadRecordUncheckable, n, attribute.String("kind", kind))
	}
	for reason, n := range p.counts.unrecordables {
		add(t.ProcessorReadRecordUnrecordable, n, attribute.String("reason", reason))
	}
	p.stripped.Each(func(place strip.Place, action strip.Action, n int64) {
		add(t.ProcessorReadRecordValues, n, attribute.String("place", place.String()), attribute.String("action", action.String()))
	})
}
