// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
)

// Resource strips a resource. The cache holds the key of its digests.
func (s *Stripper) Resource(r pcommon.Resource, cache *telemetry.Cache, counts *Counts) {
	s.attributes(r.Attributes(), 0, cache, PlaceResource, counts)
	if !s.strict {
		return
	}
	// A resource also has entity references, whose keys are free text and
	// which this version of pdata does not show. A new resource has none.
	bare := pcommon.NewResource()
	r.Attributes().MoveTo(bare.Attributes())
	bare.SetDroppedAttributesCount(r.DroppedAttributesCount())
	bare.MoveTo(r)
}

// Scope strips an instrumentation scope. The gate of its items depends on the
// name that it had before.
func (s *Stripper) Scope(scope pcommon.InstrumentationScope, cache *telemetry.Cache, counts *Counts) {
	s.attributes(scope.Attributes(), content.ScopeGate(scope.Name()), cache, PlaceScope, counts)
	scope.SetName(s.text(scope.Name(), content.ShapeName.Matches, PlaceScope, counts))
	scope.SetVersion(s.text(scope.Version(), content.ShapeVersion.Matches, PlaceScope, counts))
}

// SchemaURL returns what stays of the schema URL of a resource or scope.
func (s *Stripper) SchemaURL(url string, counts *Counts) string {
	if url == "" || content.IsSchemaURL(url) || !s.strict && !content.GivesAwayCredential(url) {
		return url
	}
	counts.add(PlaceSchemaURL, Removed)
	return ""
}

// text returns a text that stays, else "".
func (s *Stripper) text(text string, known func(string) bool, place Place, counts *Counts) string {
	switch {
	case text == "":
	case content.GivesAwayCredential(text):
		counts.add(place, Credential)
		return ""
	case s.strict && !known(text):
		counts.add(place, Removed)
		return ""
	}
	return text
}

// Span strips a span in place, with the digests and the key of the cache. The
// gate is that of its scope; safeName is the
// span's name if it is known to be harmless, or "".
func (s *Stripper) Span(span ptrace.Span, gate content.Gate, cache *telemetry.Cache, safeName string, counts *Counts) {
	s.attributes(span.Attributes(), gate, cache, PlaceAttribute, counts)
	for _, e := range span.Events().All() {
		s.attributes(e.Attributes(), gate|content.EventGate(e.Name()), cache, PlaceEvent, counts)
		if s.hides(e.Name(), content.KnownEventName, "") {
			e.SetName(content.RedactedName)
			counts.add(PlaceEvent, Removed)
		}
	}
	for _, l := range span.Links().All() {
		s.attributes(l.Attributes(), gate, cache, PlaceLink, counts)
		s.traceState(l.TraceState(), counts)
	}
	if s.hides(span.Name(), content.KnownSpanName, safeName) {
		span.SetName(content.RedactedName)
		counts.add(PlaceName, Removed)
	}
	s.status(span.Status(), cache.Key(), counts)
	s.traceState(span.TraceState(), counts)
}

// hides reports whether a name has to be replaced. safe is the name if the
// caller knows it to be harmless.
func (s *Stripper) hides(name string, known func(string) bool, safe string) bool {
	switch {
	case name == "" || name == safe || name == content.RedactedName:
		return false
	case content.GivesAwayCredential(name):
		return true
	default:
		return s.strict && !known(name) && !s.kept(name)
	}
}

// status digests the message of a status, which libraries fill with the text
// of exceptions.
func (s *Stripper) status(status ptrace.Status, key *content.Key, counts *Counts) {
	message := status.Message()
	if message == "" {
		return
	}
	d := key.OfString(message)
	switch {
	case content.LooksLikeCredential(message): // which has no digest
		status.SetMessage("")
		counts.add(PlaceStatus, Credential)
	case d.Value == "":
	default:
		status.SetMessage(d.Value)
		counts.add(PlaceStatus, Digested)
	}
}

// traceState leaves of a tracestate what it says about sampling.
func (s *Stripper) traceState(state pcommon.TraceState, counts *Counts) {
	raw := state.AsRaw()
	if !s.strict || raw == "" {
		return
	}
	if kept := content.Threshold(raw); kept != raw {
		state.FromRaw(kept)
		counts.add(PlaceTraceState, Removed)
	}
}
