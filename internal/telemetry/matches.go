// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
)

// Matches reports whether a value may stay in clear as a value of shape s. An
// empty value has nothing to hide.
func Matches(s content.Shape, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return true
	case pcommon.ValueTypeStr:
		text := v.Str()
		return s.Matches(text) || content.IsPlaceholder(text)
	case pcommon.ValueTypeDouble:
		return s.Takes(content.KindDouble) && !math.IsNaN(v.Double()) && !math.IsInf(v.Double(), 0)
	case pcommon.ValueTypeSlice:
		if !s.TakesList(v.Slice().Len()) {
			return false
		}
		for _, e := range v.Slice().All() {
			if e.Type() == pcommon.ValueTypeSlice || !Matches(s, e) {
				return false
			}
		}
		return true
	default:
		return s.Takes(kindOf(v))
	}
}

// Judge says whether a value may stay in clear as that of its key.
func Judge(known *content.Step, v pcommon.Value) content.Verdict {
	switch {
	case v.Type() == pcommon.ValueTypeStr:
		return known.Judge(v.Str())
	case known.Rule.Class == content.Harmless && Matches(known.Rule.Shape, v):
		return content.Fits
	case GivesAwayCredential(v):
		return content.Betrays
	default:
		return content.Tells
	}
}
