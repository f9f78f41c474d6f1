// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// Observer is told of each decision before it is carried out. Observing
// changes nothing.
type Observer interface {
	Decided(Decision)
}

// Decision is what becomes of one value. An absent value (an empty text or
// body) is none.
type Decision struct {
	Place Place
	// Key is that of an attribute. What is no attribute has a Field instead.
	Key   string
	Field Field
	// Value is the value as it came. It is valid only until Decided returns,
	// and it may be content.
	Value pcommon.Value
	// Rule is what is known of the key of an attribute.
	Rule    content.Rule
	Outcome Outcome
}

// Field names what is no attribute, in its place.
type Field string

// The fields, as OTLP calls them.
const (
	FieldName         Field = "name"
	FieldVersion      Field = "version"
	FieldEventName    Field = "event_name"
	FieldSeverityText Field = "severity_text"
	FieldMessage      Field = "message"
	FieldBody         Field = "body"
	FieldTraceState   Field = "trace_state"
	FieldSchemaURL    Field = "schema_url"
)

// Observed returns a stripper that does the same and tells the observer. It is
// as safe for concurrent use as the observer is.
func (s *Stripper) Observed(by Observer) *Stripper {
	observed := *s
	observed.observer = by
	return &observed
}

// indifferent says that what no rule knows stays, and that nobody asks whether
// a rule does.
func (s *Stripper) indifferent() bool { return !s.strict && s.observer == nil }

// took counts what becomes of a text that is no attribute, and tells it.
func (s *Stripper) took(place Place, field Field, text string, outcome Outcome, counts *Counts) {
	if s.observer != nil && text != "" {
		s.observer.Decided(Decision{Place: place, Field: field, Value: pcommon.NewValueStr(text), Outcome: outcome})
	}
	counts.took(place, outcome)
}
