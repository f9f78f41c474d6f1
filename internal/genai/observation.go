// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// Class is what a telemetry item tells.
type Class string

// The classes. Items of class tool, retrieval, memory and document are reads;
// a tool call that a model only requested is inference, never tool.
const (
	ClassTool      Class = "tool"
	ClassRetrieval Class = "retrieval"
	ClassMemory    Class = "memory"
	ClassDocument  Class = "document"
	ClassInference Class = "inference"
	ClassEmbedding Class = "embedding"
	ClassAgent     Class = "agent"
	ClassMCP       Class = "mcp"
	ClassDB        Class = "db"
	ClassHTTP      Class = "http"
	ClassRPC       Class = "rpc"
	ClassMessaging Class = "messaging"
	ClassProcess   Class = "process"
	ClassOther     Class = "other"
)

// eventTypes gives the event type of the classes that are reads.
var eventTypes = map[Class]string{
	ClassTool:      record.EventReadTool,
	ClassRetrieval: record.EventReadRetrieval,
	ClassMemory:    record.EventReadMemory,
	ClassDocument:  record.EventReadDocument,
}

// SpanInput is a span and where it stands. Nothing of it is changed.
type SpanInput struct {
	Resource pcommon.Resource
	Scope    pcommon.InstrumentationScope
	Span     ptrace.Span
	// Cache holds the digests of the span's attributes and takes their key, both
	// of which stripping needs too. It may be nil.
	Cache *telemetry.Cache
	// Upstream is the upstream_context_source (contract 1); "" means
	// unverified input.
	Upstream string
}

// LogInput is a log record and where it stands. Nothing of it is changed.
type LogInput struct {
	Resource pcommon.Resource
	Scope    pcommon.InstrumentationScope
	Log      plog.LogRecord
	Cache    *telemetry.Cache
	Upstream string
}

// Observation is what an item tells. Its pointers are good until it is released.
type Observation struct {
	Signal record.Signal
	Class  Class
	// Dialect is the convention by which the item was recognized, or "".
	Dialect string
	// SafeName is the span name if it is known to be harmless, so that it may
	// be forwarded and stand in lineage; else "".
	SafeName string
	// ExecutionID and CallID are the values of the stable attributes of
	// requirement E8; "" if there is none.
	ExecutionID string
	CallID      string
	// Read is the read that the item is; nil if it is none.
	Read *record.Read
	// Given says that the application gave the read_id or the context_id.
	Given bool
	// Copies are the contents that the read says are kept, and Store is the id of
	// the evidence store that keeps them.
	Copies []carrier.Copy
	Store  string
	// Unrecordable is set instead of Read or Context if no record can be made of
	// it, with the header that the journal record needs.
	Unrecordable *record.Unrecordable
	// Context is what went into the model call that the item tells of; nil if it
	// tells of none.
	Context *record.Context
	// Header is that of the item's records; nil if only labels were asked for.
	Header *record.Header
	// Skeleton is what lineage keeps of a span; nil if only labels were asked for.
	// Its SpanID is "" if the span has none, and then it cannot stand in lineage.
	Skeleton *record.Span

	item *item
}

// Release gives the memory of an observation back to be used again. Whoever
// keeps observations does without.
func (o *Observation) Release() {
	if o.item != nil {
		o.item.release()
		o.item, o.Read, o.Context, o.Header, o.Skeleton = nil, nil, nil, nil, nil
	}
}

// Options configure a Lifter.
type Options struct {
	// Sources say what telemetry does not know about a source.
	Sources []SourceRule
	// Digest says with which key digests are made.
	Digest DigestConfig
	// Profile is the redaction profile that every read names, before the name of
	// the rule that matched.
	Profile string
	// LabelsOnly says that nobody takes records or skeletons: an observation then
	// says only what stripped items are labeled with.
	LabelsOnly bool
	// NoNames says that nobody asks for SafeName.
	NoNames bool
	// Contexts says that model calls are lifted too.
	Contexts bool
}

// Lifter recognizes and lifts. It is immutable and safe for concurrent use.
type Lifter struct {
	table   *table
	sources []compiledRule
	keyings keyings
	profile string

	labelsOnly, noNames, contexts bool
}

// New compiles the options and reads the keys of digests. Its errors name the
// place in the configuration, such as sources[2].as_of.result.
func New(o Options) (*Lifter, error) { return newLifter(rows(), o) }

func newLifter(rows []row, o Options) (*Lifter, error) {
	if err := CheckConfig(&o.Digest, o.Sources); err != nil {
		return nil, err
	}
	sources, err := compileSources(o.Sources)
	if err != nil {
		return nil, err
	}
	keyings, err := o.Digest.load()
	if err != nil {
		return nil, err
	}
	table, err := newTable(rows)
	if err != nil {
		return nil, err
	}
	return &Lifter{
		table: table, sources: sources, keyings: keyings, profile: o.Profile,
		labelsOnly: o.LabelsOnly, noNames: o.NoNames, contexts: o.Contexts,
	}, nil
}
