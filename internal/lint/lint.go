// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package lint says what the collector would do with captured OTLP: it lifts
// and strips it with the collector's own lifter and stripper and keeps what they
// decided, by group of items and by place. It holds no content, and its memory
// is bounded whatever comes.
package lint

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// Options say what the collector is configured to do.
type Options struct {
	Lifter   *genai.Lifter
	Stripper *strip.Stripper
	// Records says whether records are made.
	Records bool
	// Each is called with every item as it comes, unless it is nil. Its error
	// ends reading.
	Each func(*Item) error
}

// Linter reads telemetry and remembers what would become of it. It belongs to
// one goroutine.
type Linter struct {
	lifter   *genai.Lifter
	stripper *strip.Stripper
	profile  string
	records  bool
	each     func(*Item) error

	// at is the line that is being read, and item the item, nil between items.
	at   Position
	item *Item
	// counts is what stripping counts; the linter is told the same in detail.
	counts strip.Counts
	cache  telemetry.Cache
	failed error

	inputs   []string
	lines    int64
	metrics  int64
	problems problems
	groups   groups
	places   places
}

// Position is a line of an input, counted from 1.
type Position struct {
	Input string `json:"input"`
	Line  int64  `json:"line"`
}

// New returns a linter that has read nothing.
func New(o Options) *Linter {
	l := &Linter{
		lifter: o.Lifter, profile: o.Stripper.Profile(), records: o.Records, each: o.Each,
		problems: problems{}, groups: groups{}, places: places{},
	}
	l.stripper = o.Stripper.Observed(l)
	return l
}

// traces does with a request what the processor does, and forgets it.
func (l *Linter) traces(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			gate := content.ScopeGate(ss.Scope().Name())
			for _, span := range ss.Spans().All() {
				l.cache.Reset()
				seen := l.lifter.Span(genai.SpanInput{Resource: rs.Resource(), Scope: ss.Scope(), Span: span, Cache: &l.cache})
				l.begin(record.SignalSpan, &seen, ss.Scope(), l.spanName(span.Name(), &seen))
				l.stripper.Span(span, gate, &l.cache, seen.SafeName, &l.counts)
				l.end()
				seen.Release()
			}
			l.scope(ss.Scope())
			l.stripper.SchemaURL(ss.SchemaUrl(), &l.counts)
		}
		l.stripper.Resource(rs.Resource(), nil, &l.counts)
		l.stripper.SchemaURL(rs.SchemaUrl(), &l.counts)
	}
}

// logs is traces for log records.
func (l *Linter) logs(ld plog.Logs) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			gate := content.ScopeGate(sl.Scope().Name())
			for _, log := range sl.LogRecords().All() {
				l.cache.Reset()
				seen := l.lifter.Log(genai.LogInput{Resource: rl.Resource(), Scope: sl.Scope(), Log: log, Cache: &l.cache})
				l.begin(record.SignalLog, &seen, sl.Scope(), l.eventName(log))
				l.stripper.Log(log, gate, &l.cache, &l.counts)
				l.end()
				seen.Release()
			}
			l.scope(sl.Scope())
			l.stripper.SchemaURL(sl.SchemaUrl(), &l.counts)
		}
		l.stripper.Resource(rl.Resource(), nil, &l.counts)
		l.stripper.SchemaURL(rl.SchemaUrl(), &l.counts)
	}
}

func (l *Linter) scope(scope pcommon.InstrumentationScope) { l.stripper.Scope(scope, nil, &l.counts) }

// begin notes what an item is.
func (l *Linter) begin(signal record.Signal, seen *genai.Observation, scope pcommon.InstrumentationScope, name string) {
	l.item = newItem(l.at, signal, seen, l.records, shownScope(scope.Name()), name)
}

// end counts the item in its group and shows it.
func (l *Linter) end() {
	l.groups.add(l.item)
	if l.each != nil && l.failed == nil {
		l.failed = l.each(l.item)
	}
	l.item = nil
}

// Decided is called by the stripper.
func (l *Linter) Decided(d strip.Decision) {
	row := l.places.add(l.at, &d, &l.cache)
	if l.item != nil {
		l.item.decided(d.Outcome, row)
	}
}
