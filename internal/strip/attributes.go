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
	m.RemoveIf(func(key string, v pcommon.Value) bool {
		return s.attribute(key, v, gate, cache, place, counts)
	})
}

// attribute strips one attribute and reports whether it has to go.
func (s *Stripper) attribute(key string, v pcommon.Value, gate content.Gate, cache *telemetry.Cache, place Place, counts *Counts) (remove bool) {
	rule := s.policy.Rule(key, gate)
	switch rule.Class {
	case content.Harmless, content.Unknown:
		switch {
		case !s.strict && !telemetry.GivesAwayCredential(v): // most values of most spans
			return false
		case rule.Class == content.Harmless && telemetry.Matches(rule.Shape, v):
			return false
		case telemetry.GivesAwayCredential(v):
			counts.add(place, Credential)
		default:
			counts.add(place, Removed)
		}
		return true
	case content.Secret:
		if t := v.Type(); t == pcommon.ValueTypeBool || t == pcommon.ValueTypeEmpty {
			if s.strict {
				counts.add(place, Removed)
			}
			return s.strict
		}
		counts.add(place, Credential)
		return true
	}
	switch {
	case telemetry.LooksLikeCredential(v) || rule.Class == content.Address && telemetry.HoldsCredential(v):
		counts.add(place, Credential)
		return true
	case s.strict && rule.Free:
		counts.add(place, Removed)
		return true
	}
	s.digest(v, cache, place, counts)
	return false
}

// digest replaces a value by its digest. A placeholder says that there is no
// content and stays.
func (s *Stripper) digest(v pcommon.Value, cache *telemetry.Cache, place Place, counts *Counts) {
	if d := cache.Digest(v); d.State == record.CapturedContent || d.State == record.CapturedTruncated {
		v.SetStr(d.Value)
		counts.add(place, Digested)
	}
}
