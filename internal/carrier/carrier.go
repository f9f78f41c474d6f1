// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package carrier is how records travel from the processor to the journal: in
// the context of one Consume call, beside the telemetry and never in it. No
// other exporter sees a record, and no client can forge one (ADR 0003).
package carrier

import (
	"context"
	"sync/atomic"

	"github.com/readtrail/readtrail/record"
)

// ReadIDAttribute is the only mark that a recorded span or log carries. An
// exporter that sees it without the batch that names it knows that a component
// in between dropped the context.
const ReadIDAttribute = "readtrail.read_id"

// Batch is what the processor lifted from the telemetry of one Consume call.
// It is immutable once it is in a context, and there only until the call has
// returned (Release).
type Batch struct {
	// Items are the records, in the order of the telemetry.
	Items []Item
	// Lineages are the skeletons of the spans, by trace and resource.
	Lineages []Lineage
	// ReadIDs are the values of ReadIDAttribute that the telemetry carries.
	ReadIDs map[string]struct{}
}

// Item is one record, the resource that it came from, and the content that the
// record says is kept.
type Item struct {
	Draft    *record.Draft
	Resource Resource
	// Scope is what the record gets if it is not chosen by the resource: one of those
	// that the journal's configuration names.
	Scope *record.Scope
	// Copies are what has to be durable in the evidence store before the record
	// that names it is written.
	Copies []Copy
	// Store is the id of the evidence_store extension that keeps the copies, ""
	// if there are none.
	Store string
}

// Lineage is the skeleton of the spans of one trace under one resource, of any
// number. The exporter makes records of it only if lineage is wanted.
type Lineage struct {
	Header   record.Header
	Spans    []record.Span
	Resource Resource
}

// MaxResourceValue is the longest value in a Resource, in bytes.
const MaxResourceValue = 256

// Resource holds the short string attributes of a telemetry resource, by which
// the journal chooses among the scopes that its configuration names. It never
// leaves the process.
type Resource map[string]string

type key struct{}

// NewContext returns ctx with the batch.
func NewContext(ctx context.Context, b *Batch) context.Context {
	held := &atomic.Pointer[Batch]{}
	held.Store(b)
	return context.WithValue(ctx, key{}, held)
}

// FromContext returns the batch in ctx, or nil.
func FromContext(ctx context.Context) *Batch {
	held, _ := ctx.Value(key{}).(*atomic.Pointer[Batch])
	if held == nil {
		return nil
	}
	return held.Load()
}

// Release takes the batch out of ctx and of what was derived from it. The queue
// of an exporter that stands beside the journal's keeps the context for as long
// as its backend is away, and content must not wait there.
func Release(ctx context.Context) {
	if held, _ := ctx.Value(key{}).(*atomic.Pointer[Batch]); held != nil {
		held.Store(nil)
	}
}
