// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// attributes strips one set of attributes in place.
func (s *Stripper) attributes(m pcommon.Map, gate content.Gate, cache *telemetry.Cache, place Place, counts *Counts) {
	if cache == nil || place != PlaceAttribute {
		m.RemoveIf(func(key string, v pcommon.Value) bool {
			return s.attribute(key, v, &content.Step{Rule: s.policy.Rule(key, gate)}, cache, place, counts)
		})
		return
	}
	cache.Trail.Begin()
	m.RemoveIf(func(key string, v pcommon.Value) bool {
		known := cache.Trail.Next(s.policy, key, gate)
		if known.Rule.Class == content.Harmless && s.observer == nil && telemetry.Judge(known, v) == content.Fits {
			return false // as most do, and nobody has to be told
		}
		return s.attribute(key, v, known, cache, place, counts)
	})
}

// attribute strips one attribute and reports whether it has to go.
func (s *Stripper) attribute(key string, v pcommon.Value, known *content.Step, cache *telemetry.Cache, place Place, counts *Counts) (remove bool) {
	d := s.decide(known, v, cache)
	if s.observer != nil {
		s.observer.Decided(Decision{Place: place, Key: key, Value: v, Rule: *known.Rule, Outcome: d.outcome})
	}
	if d.outcome.stays() {
		return false
	}
	if d.text != "" {
		v.SetStr(d.text)
	}
	counts.took(place, d.outcome)
	return d.outcome.removes()
}

// decided is what becomes of a value, and the text that takes its place if one
// does.
type decided struct {
	outcome Outcome
	text    string
}

// decide says what becomes of an attribute by what is known of its key. It changes nothing.
func (s *Stripper) decide(known *content.Step, v pcommon.Value, cache *telemetry.Cache) decided {
	rule := known.Rule
	switch rule.Class {
	case content.Harmless, content.Unknown:
		switch telemetry.Judge(known, v) {
		case content.Fits:
			return decided{outcome: Stays}
		case content.Betrays:
			return decided{outcome: RemovedCredential}
		}
		switch {
		case s.strict && rule.Class == content.Harmless:
			return decided{outcome: RemovedMisshapen}
		case s.strict:
			return decided{outcome: RemovedUnknown}
		case rule.Class == content.Harmless:
			return decided{outcome: StaysMisshapen}
		default:
			return decided{outcome: StaysUnknown}
		}
	case content.Secret:
		switch t := v.Type(); {
		case t != pcommon.ValueTypeBool && t != pcommon.ValueTypeEmpty:
			return decided{outcome: RemovedCredential}
		case s.strict:
			return decided{outcome: RemovedMisshapen}
		default:
			return decided{outcome: StaysMisshapen}
		}
	}
	switch {
	case telemetry.LooksLikeCredential(v) || rule.Class == content.Address && telemetry.HoldsCredential(v):
		return decided{outcome: RemovedCredential}
	case s.strict && rule.Free:
		return decided{outcome: RemovedFreeKey}
	}
	return decideContent(v, cache)
}

// decideContent says what becomes of content. A placeholder says that there is
// none and stays; one in JSON goes with the names around it.
func decideContent(v pcommon.Value, cache *telemetry.Cache) decided {
	switch d := cache.Digest(v); {
	case d.Value != "":
		return decided{Digest, d.Value}
	case d.State == record.CapturedPlaceholder && !(v.Type() == pcommon.ValueTypeStr && content.IsPlaceholder(v.Str())):
		return decided{Redacted, content.Placeholder}
	}
	return decided{outcome: StaysPlaceholder}
}
