// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/record"
)

// Span recognizes a span and lifts what it tells.
func (l *Lifter) Span(in SpanInput) (o Observation) {
	it := spanItem(in)
	row, candidates := l.table.match(it)
	safeName := ""
	if !l.noNames {
		safeName = row.safeName(it)
	}
	if l.labelsOnly && l.label(&o, it, row, in.Span.TraceID()) {
		o.SafeName = safeName
		it.release()
		return o
	}
	lifting := l.begin(it, row, in.Upstream)
	lifting.touched = l.table.touched(it, row, candidates)
	lifting.traceID = record.HexTraceID(in.Span.TraceID())
	lifting.spanID = record.HexSpanID(in.Span.SpanID())
	lifting.status = lifting.row.ended(it, spanStatus(it, in.Span))
	lifting.header.ObservedBy.Sampling = sampling(in.Span.TraceState().AsRaw())
	switch {
	case lifting.traceID == "":
		lifting.header.ObservedBy.IDProblem = record.IDProblemZeroTraceID
	case lifting.spanID == "":
		lifting.header.ObservedBy.IDProblem = record.IDProblemZeroSpanID
	}
	lifting.header.OccurredAt = record.TimeFromUnixNano(uint64(in.Span.EndTimestamp()))
	if lifting.header.OccurredAt.IsZero() {
		lifting.header.OccurredAt = record.TimeFromUnixNano(uint64(in.Span.StartTimestamp()))
	}
	lifting.correlate(record.HexSpanID(in.Span.ParentSpanID()))

	l.observe(&o, lifting, derivations{
		read: func(r *record.Read) string {
			digests := [...]string{r.Request.ArgumentsDigest, r.Response.ResultDigest}
			return record.ReadIDOfSpan(in.Span.TraceID(), in.Span.SpanID(), lifting.besides(in, digests)...)
		},
		context: func(c *record.Context) string {
			digests := [...]string{c.ContextDigest, c.Model.Request}
			return record.ContextIDOfSpan(in.Span.TraceID(), in.Span.SpanID(), lifting.besides(in, digests)...)
		},
	})
	o.SafeName = safeName
	lifting.skeleton(in.Span, &o)
	return o
}

// choose finds the rule of the source of a read and the key of the item's
// digests, before anything is digested.
func (l *Lifter) choose(it *item, row *compiledRow) (*compiledRule, keying) {
	rule, keying := &noRule, l.keyings.of(it.resource)
	if len(l.sources) > 0 {
		if row.event != "" {
			rule = l.ruleFor(it.lift(row).patterns())
		}
	}
	if rule.keying.key != nil {
		refs := keying.refs || rule.keying.refs
		keying = rule.keying
		keying.refs = refs
	}
	it.cache.Use(keying.key)
	return rule, keying
}

// begin reads what every record needs of a recognized item.
func (l *Lifter) begin(it *item, row *compiledRow, upstream string) *lifting {
	rule, keying := l.choose(it, row)
	in := it.lift(row)
	it.paper.written = true
	in.rule, in.keying = rule, keying
	if upstream == "" {
		upstream = record.UnverifiedInput
	}
	in.header.ObservedBy = record.ObservedBy{
		UpstreamContextSource: upstream,
		Signal:                it.signal,
		Dialect:               in.row.dialect,
		ScopeName:             identifier(it.scope.Name()),
		ScopeVersion:          version(it.scope.Version()),
	}
	in.toolName = in.row.accepted(it, toolName, toolTitle)
	in.toolCallID = in.row.accepted(it, toolCallID, joinID)
	return in
}

// derivations give an id to what an application gave none.
type derivations struct {
	read    func(*record.Read) string
	context func(*record.Context) string
}

// observe lifts a read or what went into a model call, if the item is one.
func (l *Lifter) observe(o *Observation, in *lifting, derive derivations) {
	o.item = in.item
	o.Signal, o.Class, o.Dialect = in.signal, in.row.class, in.row.dialect
	o.Header, o.Skeleton = &in.header, &in.paper.skeleton
	c := &in.header.Correlation
	o.ExecutionID, o.CallID = c.ExecutionID, c.CallID
	if in.row.event == "" {
		if l.contexts && in.tellsContext() {
			in.observeContext(o, derive.context)
		}
		return
	}
	r := &in.paper.read
	ok := l.build(in, r)
	reason := ""
	switch {
	case !ok:
		reason = record.ReasonTooLarge
		*r = record.Read{Header: in.header}
	case in.header.OccurredAt.IsZero():
		reason = record.ReasonNoTime
	}
	if r.ReadID = in.own("read_id", givenID, ownReadID); r.ReadID == "" {
		r.ReadID = derive.read(r)
	} else {
		o.Given = true
	}
	if r.Correlation.ExecutionID == "" {
		r.Correlation.ExecutionID = record.ItemExecution(r.ReadID)
	}
	o.ExecutionID = r.Correlation.ExecutionID
	c.ExecutionID = o.ExecutionID
	r.ExecutionID = o.ExecutionID
	if reason != "" {
		o.Unrecordable = &record.Unrecordable{Reason: reason, ItemID: r.ReadID, Item: in.signal}
		return
	}
	r.Basis = in.basis()
	o.Read = r
	o.Copies, o.Store = in.copies.list, r.Retention.CopyRef
}

// besides returns what identifies a span apart from ids that are invalid, so
// that strangers without ids are not repeats of each other.
func (l *lifting) besides(in SpanInput, digests [2]string) [][]byte {
	if l.traceID != "" && l.spanID != "" {
		return nil
	}
	s := in.Span
	parent := s.ParentSpanID()
	numbers := binary.BigEndian.AppendUint64(nil, uint64(s.StartTimestamp()))
	numbers = binary.BigEndian.AppendUint64(numbers, uint64(s.EndTimestamp()))
	numbers = append(numbers, byte(s.Kind()), byte(s.Status().Code()))
	return [][]byte{
		numbers, parent[:], l.hidden(l.scope.Name()), l.hidden(s.Name()), []byte(l.toolName), []byte(l.toolCallID),
		[]byte(digests[0]), []byte(digests[1]), l.hidden(s.TraceState().AsRaw()),
		l.resourceText(in.Resource, "service.name"), l.resourceText(in.Resource, "service.instance.id"),
	}
}

// hidden returns what stands in a derived id for a text that may be content.
// With a key that is a digest, so that the id confirms no guess of it either.
func (l *lifting) hidden(text string) []byte {
	if key := l.cache.Key(); key != nil {
		return []byte(key.Sum(text))
	}
	return []byte(text)
}

func (l *lifting) resourceText(r pcommon.Resource, key string) []byte {
	v, ok := r.Attributes().Get(key)
	if !ok {
		return nil
	}
	return l.hidden(scalar(v))
}
