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
	scope.SetName(s.text(scope.Name(), content.ShapeName.Matches, PlaceScope, FieldName, counts))
	scope.SetVersion(s.text(scope.Version(), content.ShapeVersion.Matches, PlaceScope, FieldVersion, counts))
}

// SchemaURL returns what stays of the schema URL of a resource or scope.
func (s *Stripper) SchemaURL(url string, counts *Counts) string {
	outcome := Stays
	switch {
	case url == "" || content.IsSchemaURL(url):
	case s.strict || content.GivesAwayCredential(url):
		outcome = RemovedUnknown
	default:
		outcome = StaysUnknown
	}
	s.took(PlaceSchemaURL, FieldSchemaURL, url, outcome, counts)
	if outcome.removes() {
		return ""
	}
	return url
}

// text returns a text that stays, else "".
func (s *Stripper) text(text string, known func(string) bool, place Place, field Field, counts *Counts) string {
	outcome := Stays
	switch {
	case text == "":
	case content.GivesAwayCredential(text):
		outcome = RemovedCredential
	case s.indifferent() || known(text):
	case s.strict:
		outcome = RemovedUnknown
	default:
		outcome = StaysUnknown
	}
	s.took(place, field, text, outcome, counts)
	if outcome.removes() {
		return ""
	}
	return text
}

// Span strips a span in place, with the digests and the key of the cache. The
// gate is that of its scope; safeName is the span's name if it is known to be
// harmless, or "".
func (s *Stripper) Span(span ptrace.Span, gate content.Gate, cache *telemetry.Cache, safeName string, counts *Counts) {
	s.attributes(span.Attributes(), gate, cache, PlaceAttribute, counts)
	for _, e := range span.Events().All() {
		s.attributes(e.Attributes(), gate|content.EventGate(e.Name()), cache, PlaceEvent, counts)
		if s.hides(e.Name(), content.KnownEventName, "", PlaceEvent, FieldName, counts) {
			e.SetName(content.RedactedName)
		}
	}
	for _, l := range span.Links().All() {
		s.attributes(l.Attributes(), gate, cache, PlaceLink, counts)
		s.traceState(l.TraceState(), counts)
	}
	if s.hides(span.Name(), content.KnownSpanName, safeName, PlaceName, FieldName, counts) {
		span.SetName(content.RedactedName)
	}
	s.status(span.Status(), cache.Key(), counts)
	s.traceState(span.TraceState(), counts)
}

// hides reports whether a name has to be replaced. safe is the name if the
// caller knows it to be harmless.
func (s *Stripper) hides(name string, known func(string) bool, safe string, place Place, field Field, counts *Counts) bool {
	outcome := Stays
	switch {
	case name == "" || name == safe || name == content.RedactedName:
	case content.GivesAwayCredential(name):
		outcome = Replaced
	case s.indifferent() || known(name) || s.Keeps(name):
	case s.strict:
		outcome = Replaced
	default:
		outcome = StaysUnknown
	}
	s.took(place, field, name, outcome, counts)
	return outcome == Replaced
}

// status digests the message of a status, which libraries fill with the text
// of exceptions.
func (s *Stripper) status(status ptrace.Status, key *content.Key, counts *Counts) {
	message := status.Message()
	if message == "" {
		return
	}
	d := key.OfString(message)
	outcome, left := Digest, d.Value
	switch {
	case content.LooksLikeCredential(message): // which has no digest
		outcome, left = RemovedCredential, ""
	case d.Value == "" && content.IsPlaceholder(message):
		outcome, left = StaysPlaceholder, message
	case d.Value == "":
		outcome, left = Redacted, content.Placeholder
	}
	s.took(PlaceStatus, FieldMessage, message, outcome, counts)
	if left != message {
		status.SetMessage(left)
	}
}

// traceState leaves of a tracestate what it says about sampling.
func (s *Stripper) traceState(state pcommon.TraceState, counts *Counts) {
	raw := state.AsRaw()
	if raw == "" || s.indifferent() {
		return
	}
	kept, outcome := content.Threshold(raw), Stays
	switch {
	case kept == raw:
	case s.strict:
		outcome = RemovedUnknown
		state.FromRaw(kept)
	default:
		outcome = StaysUnknown
	}
	s.took(PlaceTraceState, FieldTraceState, raw, outcome, counts)
}
