// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/record"
)

// Report is what would become of all that was read. Its member names are a
// public contract, described in docs/lint.md.
type Report struct {
	// Profile is the redaction_profile that records name: mode and version of
	// the tables.
	Profile string   `json:"profile"`
	Inputs  []string `json:"inputs"`
	Summary Summary  `json:"summary"`
	// Unreadable are the lines that could not be read, by input and reason.
	Unreadable []Unreadable `json:"unreadable"`
	Groups     []*Group     `json:"groups"`
	Places     []Place      `json:"places"`
	// Keep are suggestions that somebody has to confirm.
	Keep []Suggestion `json:"keep_suggestions"`
}

// Summary counts what was read.
type Summary struct {
	// Lines counts the lines that were not blank; MetricsLines those of them
	// with nothing but metrics or profiles, which the collector does not take.
	Lines           int64 `json:"lines"`
	UnreadableLines int64 `json:"unreadable_lines"`
	MetricsLines    int64 `json:"metrics_lines"`
	Spans           int64 `json:"spans"`
	LogRecords      int64 `json:"log_records"`
	Reads           int64 `json:"reads"`
	// Contexts counts model calls of which a context is recorded.
	Contexts     int64 `json:"contexts,omitzero"`
	Unrecordable int64 `json:"unrecordable"`
	// Dialects are the conventions by which items were recognized, sorted.
	Dialects []string `json:"dialects"`
	// UnknownKeys counts different keys that no rule knows; the others count
	// values.
	UnknownKeys int   `json:"unknown_keys"`
	Misshapen   int64 `json:"misshapen_values"`
	Credentials int64 `json:"credentials"`
	// UnknownTexts counts names and other texts, apart from attributes, that no
	// rule knows.
	UnknownTexts int64 `json:"unknown_texts"`
	// TooMany says that there were more different kinds of items or keys than
	// are remembered, so that some are counted together.
	TooMany bool `json:"too_many"`
}

// Suggestion is an entry for keep. Shapes tell what values look like and not
// what they mean.
type Suggestion struct {
	Key    string `json:"key"`
	Shape  string `json:"shape"`
	Values int64  `json:"values"`
}

// LookAt reports whether there is something that somebody should look at.
func (s *Summary) LookAt() bool {
	return s.UnknownKeys > 0 || s.Misshapen > 0 || s.Credentials > 0 || s.UnknownTexts > 0 || s.Unrecordable > 0
}

// Complete reports whether all of the input was understood, and there was some.
func (s *Summary) Complete() bool { return s.UnreadableLines == 0 && s.Spans+s.LogRecords > 0 }

// Report sums up what was read so far.
func (l *Linter) Report() *Report {
	r := &Report{
		Profile: l.profile, Inputs: slices.Clone(l.inputs), Unreadable: l.problems.sorted(),
		Groups: l.groups.sorted(), Places: []Place{},
		Summary: Summary{Lines: l.lines, MetricsLines: l.metrics, Dialects: []string{}},
	}
	for _, u := range r.Unreadable {
		r.Summary.UnreadableLines += u.Count
	}
	for _, g := range r.Groups {
		r.Summary.addGroup(g)
	}
	slices.Sort(r.Summary.Dialects)
	rows := l.places.sorted()
	for _, row := range rows {
		r.Places = append(r.Places, row.Place)
		r.Summary.addPlace(row)
	}
	unknown := unknownKeys(rows)
	r.Summary.UnknownKeys = len(unknown)
	r.Keep = suggestions(unknown)
	return r
}

func (s *Summary) addGroup(g *Group) {
	if g.Signal == record.SignalLog {
		s.LogRecords += g.Items
	} else {
		s.Spans += g.Items
	}
	s.Reads += g.Reads
	s.Contexts += g.Contexts
	for _, n := range g.Unrecordable {
		s.Unrecordable += n
	}
	if g.Dialect != "" && !slices.Contains(s.Dialects, g.Dialect) {
		s.Dialects = append(s.Dialects, g.Dialect)
	}
	s.TooMany = s.TooMany || g.Name == tooMany || slices.Contains(g.Tools, tooMany)
}

func (s *Summary) addPlace(row *placeRow) {
	s.TooMany = s.TooMany || row.key == tooMany
	switch attentionTo(row.outcome) {
	case attentionUnknown, attentionReplaced:
		if row.field != "" {
			s.UnknownTexts += row.Values
		}
	case attentionMisshapen:
		s.Misshapen += row.Values
	case attentionCredential:
		s.Credentials += row.Values
	}
}

// unknownKeys joins what the places say about each key that no rule knows.
func unknownKeys(rows []*placeRow) map[string]*placeRow {
	keys := map[string]*placeRow{}
	for _, row := range rows {
		if !row.noRule() {
			continue
		}
		joined := keys[row.key]
		if joined == nil {
			copied := *row
			keys[row.key] = &copied
			continue
		}
		joined.fits.and(row.fits)
		joined.whole = joined.whole && row.whole
	}
	return keys
}

// suggestions proposes to keep keys all of whose values had one narrow shape.
func suggestions(unknown map[string]*placeRow) []Suggestion {
	out := []Suggestion{}
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		row := unknown[key]
		shape, fit := row.fits.narrowest()
		if !fit || !row.whole || shape.String() != content.ShapeBool.String() && namesPerson(key) {
			continue
		}
		if _, err := content.NewPolicy(genai.ContentPlaces(), []content.Keep{{Key: key, Shape: shape}}); err != nil {
			continue // the collector would refuse it
		}
		out = append(out, Suggestion{Key: key, Shape: shape.String(), Values: row.fits.values})
	}
	return out
}

// personal are words by which a key says that it is about a person or a case.
var personal = []string{
	"user", "enduser", "owner", "customer", "client", "patient", "person", "employee", "member", "email", "mail", "phone", "address", "iban", "account", "author", "case",
}

// namesPerson reports whether a key says that it is about a person: whoever
// means to keep it writes that down without being asked.
func namesPerson(key string) bool {
	isBreak := func(r rune) bool { return !unicode.IsLetter(r) }
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(key), isBreak), func(word string) bool { return slices.Contains(personal, word) })
}
