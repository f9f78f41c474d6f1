// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
)

// Log strips a log record in place. The gate is that of its scope; if the record
// has two names of an event, what either says is content is.
func (s *Stripper) Log(log plog.LogRecord, gate content.Gate, cache *telemetry.Cache, counts *Counts) {
	gate |= content.EventGate(log.EventName()) | content.EventGate(eventNameAttribute(log))
	s.body(log.Body(), gate, cache, counts)
	s.attributes(log.Attributes(), gate, cache, PlaceAttribute, counts)
	if s.hides(log.EventName(), content.KnownEventName, "", PlaceName, FieldEventName, counts) {
		log.SetEventName(content.RedactedName)
	}
	log.SetSeverityText(s.text(log.SeverityText(), content.KnownSeverity, PlaceName, FieldSeverityText, counts))
}

// EventName returns the name of the event that a log record is, which older
// libraries put into an attribute.
func EventName(log plog.LogRecord) string {
	if name := log.EventName(); content.KnownEventName(name) {
		return name
	}
	if name := eventNameAttribute(log); name != "" {
		return name
	}
	return log.EventName()
}

func eventNameAttribute(log plog.LogRecord) string {
	if v, ok := log.Attributes().Get("event.name"); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// body digests a body. In mode known only that of an event or of a library
// that is known to put content there goes, or of the form that AWS's
// distribution gives to content that it moved out of spans.
func (s *Stripper) body(body pcommon.Value, gate content.Gate, cache *telemetry.Cache, counts *Counts) {
	if body.Type() == pcommon.ValueTypeEmpty {
		return
	}
	d := decided{outcome: StaysUnknown}
	isContent := s.strict || gate != 0 || telemetry.HoldsMessages(body)
	switch {
	case isContent && !telemetry.LooksLikeCredential(body):
		d = decideContent(body, cache)
	case isContent || telemetry.GivesAwayCredential(body):
		d.outcome = RemovedCredential
	}
	if s.observer != nil {
		s.observer.Decided(Decision{Place: PlaceBody, Field: FieldBody, Value: body, Outcome: d.outcome})
	}
	switch d.outcome {
	case Digest, Redacted, RemovedCredential: // which leaves ""
		body.SetStr(d.text)
	}
	counts.took(PlaceBody, d.outcome)
}
