// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/internal/upstream"
)

// pass is the work on one request, on one goroutine: each item is lifted, then
// stripped, then marked.
type pass struct {
	*recorder
	upstream string
	cache    telemetry.Cache
	stripped strip.Counts
	counts   counts
	// batch takes the records; nil if none are made.
	batch *carrier.Batch
	// earlier is what a read_record processor before this one made.
	earlier  *carrier.Batch
	lineages lineages
}

// lookAround is how many items are worked on between looks at the context.
const lookAround = 256

// begin starts the work on a request. If its context carries records already,
// its content is gone, and nothing can be lifted a second time.
func (r *recorder) begin(ctx context.Context) *pass {
	p := &pass{recorder: r, upstream: upstream.InPipeline(ctx, r.authenticator).Source, earlier: carrier.FromContext(ctx)}
	if r.records && p.earlier == nil {
		p.batch = &carrier.Batch{ReadIDs: make(map[string]struct{})}
	}
	p.cache.Forgetful = p.batch == nil // only recording and stripping digest the same
	return p
}

// end counts, and returns the context for the next consumer and how to take
// back from it what it carries once that has answered.
func (p *pass) end(ctx context.Context) (with context.Context, takeBack func()) {
	p.report(ctx)
	if p.batch == nil {
		return ctx, func() {}
	}
	p.batch.Lineages = p.lineages.list
	with = carrier.NewContext(ctx, p.batch)
	return with, func() { carrier.Release(with) }
}

// traces works on spans first, then on what stands around them: lifting needs
// scope and resource as they came. It stops when nobody waits for the answer any
// more; the sender sends the request again.
func (p *pass) traces(ctx context.Context, td ptrace.Traces) error {
	for _, rs := range td.ResourceSpans().All() {
		routing, key := p.routing(rs.Resource()), p.lifter.Key(rs.Resource())
		if p.batch != nil {
			p.lineages.begin(rs, p.upstream, routing)
		}
		for _, ss := range rs.ScopeSpans().All() {
			gate := content.ScopeGate(ss.Scope().Name())
			for i, span := range ss.Spans().All() {
				if i%lookAround == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				p.span(rs.Resource(), ss.Scope(), gate, span, routing)
			}
			p.scope(ss.Scope(), key)
			ss.SetSchemaUrl(p.stripper.SchemaURL(ss.SchemaUrl(), &p.stripped))
		}
		p.resource(rs.Resource(), key)
		rs.SetSchemaUrl(p.stripper.SchemaURL(rs.SchemaUrl(), &p.stripped))
	}
	return nil
}

// logs is traces for log records.
func (p *pass) logs(ctx context.Context, ld plog.Logs) error {
	for _, rl := range ld.ResourceLogs().All() {
		routing, key := p.routing(rl.Resource()), p.lifter.Key(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			gate := content.ScopeGate(sl.Scope().Name())
			for i, log := range sl.LogRecords().All() {
				if i%lookAround == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				p.log(rl.Resource(), sl.Scope(), gate, log, routing)
			}
			p.scope(sl.Scope(), key)
			sl.SetSchemaUrl(p.stripper.SchemaURL(sl.SchemaUrl(), &p.stripped))
		}
		p.resource(rl.Resource(), key)
		rl.SetSchemaUrl(p.stripper.SchemaURL(rl.SchemaUrl(), &p.stripped))
	}
	return nil
}

func (p *pass) span(resource pcommon.Resource, scope pcommon.InstrumentationScope, gate content.Gate, span ptrace.Span, routing carrier.Resource) {
	p.cache.Reset()
	p.counts.spans++
	seen := p.lifter.Span(genai.SpanInput{Resource: resource, Scope: scope, Span: span, Cache: &p.cache, Upstream: p.upstream})
	mark := p.mark(span.Attributes())
	if p.batch != nil {
		mark = p.record(&seen, routing)
		p.lineages.add(span, &seen, mark)
	}
	p.stripper.Span(span, gate, &p.cache, seen.SafeName, &p.stripped)
	for _, event := range span.Events().All() {
		unmark(event.Attributes())
	}
	for _, link := range span.Links().All() {
		unmark(link.Attributes())
	}
	label(span.Attributes(), &seen, mark)
	seen.Release()
}

func (p *pass) log(resource pcommon.Resource, scope pcommon.InstrumentationScope, gate content.Gate, log plog.LogRecord, routing carrier.Resource) {
	p.cache.Reset()
	p.counts.logRecords++
	seen := p.lifter.Log(genai.LogInput{Resource: resource, Scope: scope, Log: log, Cache: &p.cache, Upstream: p.upstream})
	mark := p.mark(log.Attributes())
	if p.batch != nil {
		mark = p.record(&seen, routing)
	}
	p.stripper.Log(log, gate, &p.cache, &p.stripped)
	label(log.Attributes(), &seen, mark)
	seen.Release()
}

// scope strips a scope, whose digests have the key of the resource: which items
// of it a source of its own has a key for does not matter to it.
func (p *pass) scope(scope pcommon.InstrumentationScope, key *content.Key) {
	p.cache.Reset()
	p.cache.Use(key)
	p.stripper.Scope(scope, &p.cache, &p.stripped)
	unmark(scope.Attributes())
}

func (p *pass) resource(resource pcommon.Resource, key *content.Key) {
	p.cache.Reset()
	p.cache.Use(key)
	p.stripper.Resource(resource, &p.cache, &p.stripped)
	unmark(resource.Attributes())
}

// routing copies the resource for the journal, if records are made.
func (p *pass) routing(resource pcommon.Resource) carrier.Resource {
	if p.batch == nil {
		return nil
	}
	return routingAttributes(resource)
}

// mark returns the read id that an earlier processor put on an item. One that
// its records do not name was put there by a client.
func (p *pass) mark(attributes pcommon.Map) string {
	if p.earlier == nil {
		return ""
	}
	value, found := attributes.Get(carrier.ReadIDAttribute)
	if !found {
		return ""
	}
	if _, known := p.earlier.ReadIDs[value.AsString()]; !known {
		return ""
	}
	return value.AsString()
}
