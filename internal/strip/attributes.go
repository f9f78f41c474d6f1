// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/telemetry"
	"github.com/readtrail/readtrail/record"
)

// maxDepth is how deep a value is searched for credentials. Deeper values are
// taken to hold one.
const maxDepth = 64

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
		if rule.Class == content.Harmless && telemetry.Matches(rule.Shape, v) {
			return false
		}
		if isCredential(v) || rule.Class == content.Harmless && rule.Shape.String() == content.ShapeLocation.String() && mayHoldCredential(v) {
			counts.add(place, Credential)
			return true
		}
		if s.strict {
			counts.add(place, Removed)
		}
		return s.strict
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
	case isCredential(v) || rule.Class == content.Address && mayHoldCredential(v):
		counts.add(place, Credential)
		return true
	case s.strict && rule.Free:
		counts.add(place, Removed)
		return true
	}
	s.digest(key, v, cache, place, counts)
	return false
}

// digest replaces a value by its digest. A placeholder says that there is no
// content and stays.
func (s *Stripper) digest(key string, v pcommon.Value, cache *telemetry.Cache, place Place, counts *Counts) {
	if d := cache.Attribute(key, v); d.State == record.CapturedContent || d.State == record.CapturedTruncated {
		v.SetStr(d.Value)
		counts.add(place, Digested)
	}
}

// isCredential reports whether a value is a credential by its form, or a list
// or map with one at its top.
func isCredential(v pcommon.Value) bool { return anyString(v, 1, false, content.LooksLikeCredential) }

// mayHoldCredential reports whether a URL or a command line, in one string or
// in words, contains a credential or can't be searched for one.
func mayHoldCredential(v pcommon.Value) bool {
	if v.Type() == pcommon.ValueTypeSlice && content.HoldsCredential(joined(v.Slice())) {
		return true
	}
	return anyString(v, maxDepth, true, content.HoldsCredential)
}

// joined returns the words of a command line with spaces between them, so that
// a flag and its value stand together. It stops where a search would.
func joined(words pcommon.Slice) string {
	var line strings.Builder
	for _, w := range words.All() {
		if w.Type() != pcommon.ValueTypeStr {
			continue
		}
		line.WriteString(w.Str())
		line.WriteByte(' ')
		if line.Len() > content.MaxSearched {
			break
		}
	}
	return line.String()
}

// anyString reports whether a string in v is such. What is nested deeper than
// depth is not searched and counts as beyond.
func anyString(v pcommon.Value, depth int, beyond bool, such func(string) bool) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return such(v.Str())
	case pcommon.ValueTypeSlice:
		if depth == 0 {
			return beyond
		}
		for _, e := range v.Slice().All() {
			if anyString(e, depth-1, beyond, such) {
				return true
			}
		}
	case pcommon.ValueTypeMap:
		if depth == 0 {
			return beyond
		}
		for _, e := range v.Map().All() {
			if anyString(e, depth-1, beyond, such) {
				return true
			}
		}
	}
	return false
}
