// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// maxDepth is how deep a value is searched for credentials.
const maxDepth = 64

// search asks every text in a value a question of internal/content.
type search struct {
	text func(string) bool
	// name is asked of the names in maps, or nil.
	name func(string) bool
	// beyond is the answer for what is nested too deep or is too large.
	beyond bool
}

// LooksLikeCredential reports whether a value is a credential by its form, or
// a list or map with one at its top.
func LooksLikeCredential(v pcommon.Value) bool {
	return search{text: content.LooksLikeCredential}.in(v, 1)
}

// GivesAwayCredential reports whether a value would give away a credential if
// it stayed in clear. Values that are nested deeper than 64 levels are not
// looked at.
func GivesAwayCredential(v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return content.GivesAwayCredential(v.Str())
	case pcommon.ValueTypeInt, pcommon.ValueTypeDouble, pcommon.ValueTypeBool:
		return false
	}
	return search{text: content.GivesAwayCredential, name: content.NamesSecret}.in(v, maxDepth)
}

// HoldsCredential reports whether a URL or a command line, in one string, in
// words or in named parts, contains a credential or can't be searched for one.
func HoldsCredential(v pcommon.Value) bool {
	if v.Type() == pcommon.ValueTypeSlice && content.HoldsCredential(joined(v.Slice())) {
		return true
	}
	return search{text: content.HoldsCredential, name: content.NamesSecretParameter, beyond: true}.in(v, maxDepth)
}

// QueryHoldsCredential reports whether a database query, in one string or in
// named parts, contains a credential or can't be searched for one.
func QueryHoldsCredential(v pcommon.Value) bool {
	return search{text: content.QueryHoldsCredential, name: content.NamesSecret, beyond: true}.in(v, maxDepth)
}

func (s search) in(v pcommon.Value, depth int) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return s.text(v.Str())
	case pcommon.ValueTypeBytes:
		if v.Bytes().Len() > content.MaxSearched {
			return s.beyond
		}
		return s.text(string(v.Bytes().AsRaw()))
	case pcommon.ValueTypeSlice:
		if depth == 0 {
			return s.beyond
		}
		for _, e := range v.Slice().All() {
			if s.in(e, depth-1) {
				return true
			}
		}
	case pcommon.ValueTypeMap:
		if depth == 0 {
			return s.beyond
		}
		for name, e := range v.Map().All() {
			if s.in(e, depth-1) || s.name != nil && hasSecret(e) && s.name(name) {
				return true
			}
		}
	}
	return false
}

// hasSecret reports whether a value can be a secret: a flag that says whether
// there is one is none.
func hasSecret(v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeEmpty, pcommon.ValueTypeBool:
		return false
	case pcommon.ValueTypeStr:
		return v.Str() != ""
	default:
		return true
	}
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
