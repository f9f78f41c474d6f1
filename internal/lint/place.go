// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/strip"
	"github.com/readtrail/readtrail/internal/telemetry"
)

// Place counts the values that stand under one key in one place and become the
// same.
type Place struct {
	// Place is where the values stand, as the collector's metrics spell it.
	Place string `json:"place"`
	// Key is the key of an attribute, with a star for each part that may not be
	// shown; Field is what OTLP calls what is no attribute.
	Key   string      `json:"key,omitzero"`
	Field strip.Field `json:"field,omitzero"`
	// Outcome is what becomes of the values.
	Outcome string `json:"outcome"`
	// Shape is the one that values of the key must have to stay, if there is one.
	Shape  string `json:"shape,omitzero"`
	Values int64  `json:"values"`
	// Length is the range of the lengths of texts, bytes and structures in
	// bytes, a structure as it is digested; absent if there were only numbers,
	// bools and empty values.
	Length *Length  `json:"length,omitzero"`
	First  Position `json:"first"`
}

// Length is a range of lengths in bytes.
type Length struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// placeKey is what values are counted by.
type placeKey struct {
	place   strip.Place
	key     string
	field   strip.Field
	outcome strip.Outcome
	shape   string
}

type placeRow struct {
	placeKey
	Place
	// whole says that nothing of the key is hidden.
	whole bool
	fits  fits
}

// noRule reports whether the row is about a key that no rule knows.
func (r *placeRow) noRule() bool {
	return r.field == "" && (r.outcome == strip.StaysUnknown || r.outcome == strip.RemovedUnknown)
}

// maxPlaces bounds the rows; what has none when they are used up is counted
// under a key that says so.
const maxPlaces = 10_000

type places map[placeKey]*placeRow

// add counts a decision and returns its row.
func (p places) add(at Position, d *strip.Decision, cache *telemetry.Cache) *placeRow {
	k := placeKey{place: d.Place, field: d.Field, outcome: d.Outcome, shape: d.Rule.Shape.String()}
	if d.Field == "" {
		k.key = shownKey(d.Key, d.Rule.Class)
	}
	row := p[k]
	if row == nil && len(p) >= maxPlaces {
		k.key, k.shape = tooMany, ""
		row = p[k]
	}
	if row == nil {
		row = &placeRow{placeKey: k, whole: true, fits: allFit, Place: Place{
			Place: d.Place.String(), Key: k.key, Field: k.field, Outcome: d.Outcome.String(), Shape: k.shape, First: at,
		}}
		p[k] = row
	}
	row.Values++
	row.whole = row.whole && k.key == d.Key
	row.length(d.Value, cache)
	if row.noRule() {
		row.fits.add(d.Value)
	}
	return row
}

// length widens the range by the length of a value.
func (r *placeRow) length(v pcommon.Value, cache *telemetry.Cache) {
	var n int64
	switch v.Type() {
	case pcommon.ValueTypeStr:
		n = int64(len(v.Str()))
	case pcommon.ValueTypeBytes:
		n = int64(v.Bytes().Len())
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		n = cache.Digest(v).Size
	default:
		return
	}
	if r.Length == nil {
		r.Length = &Length{n, n}
	}
	r.Length.Min, r.Length.Max = min(r.Length.Min, n), max(r.Length.Max, n)
}

// attention is how urgently somebody should look at what becomes of values.
type attention int

const (
	attentionNone attention = iota
	attentionReplaced
	attentionCredential
	attentionMisshapen
	attentionUnknown
)

func attentionTo(o strip.Outcome) attention {
	switch o {
	case strip.StaysUnknown, strip.RemovedUnknown:
		return attentionUnknown
	case strip.StaysMisshapen, strip.RemovedMisshapen:
		return attentionMisshapen
	case strip.RemovedCredential:
		return attentionCredential
	case strip.Replaced:
		return attentionReplaced
	default:
		return attentionNone
	}
}

// sorted puts first what somebody should look at, then content, then what
// leaves in clear; in each of them what comes most often.
func (p places) sorted() []*placeRow {
	out := make([]*placeRow, 0, len(p))
	for _, row := range p {
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b *placeRow) int {
		return cmp.Or(
			cmp.Compare(attentionTo(b.outcome), attentionTo(a.outcome)), cmp.Compare(b.outcome, a.outcome), cmp.Compare(b.Values, a.Values),
			cmp.Compare(a.place, b.place), cmp.Compare(a.key, b.key), cmp.Compare(a.field, b.field), cmp.Compare(a.shape, b.shape),
		)
	})
	return out
}

// fits is the set of the narrow shapes that all values of a key had.
type fits struct {
	shapes [len(narrow)]bool
	// values counts those that say something: an empty one has every shape.
	values int64
}

// narrow are the shapes that may be suggested for a key, the narrowest first.
var narrow = [...]content.Shape{content.ShapeBool, content.ShapeNumber, content.ShapeTimestamp, content.ShapeIdentifier}

var allFit = fits{shapes: [len(narrow)]bool{true, true, true, true}}

func (f *fits) add(v pcommon.Value) {
	if v.Type() == pcommon.ValueTypeEmpty || v.Type() == pcommon.ValueTypeStr && content.IsPlaceholder(v.Str()) {
		return
	}
	f.values++
	for i, shape := range narrow {
		f.shapes[i] = f.shapes[i] && telemetry.Matches(shape, v)
	}
}

// and joins what two places say of one key.
func (f *fits) and(g fits) {
	f.values += g.values
	for i := range f.shapes {
		f.shapes[i] = f.shapes[i] && g.shapes[i]
	}
}

// narrowest returns the narrowest shape that all values had, if there is one.
func (f *fits) narrowest() (content.Shape, bool) {
	for i, fit := range f.shapes {
		if fit && f.values > 0 {
			return narrow[i], true
		}
	}
	return content.Shape{}, false
}
