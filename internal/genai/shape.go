// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// kept returns s if it has a shape and is no placeholder, else "".
func kept(shape content.Shape, s string) string {
	if !shape.Matches(s) || content.IsPlaceholder(s) {
		return ""
	}
	return s
}

func identifier(s string) string { return kept(content.ShapeIdentifier, s) }
func name(s string) string       { return kept(content.ShapeName, s) }
func token(s string) string      { return kept(content.ShapeToken, s) }
func version(s string) string    { return kept(content.ShapeVersion, s) }
func hostname(s string) string   { return kept(content.ShapeHost, s) }
func typeName(s string) string   { return kept(content.ShapeTypeName, s) }

// noIDs are the words that libraries write where they have no id: Agent
// Framework "unknown", Python "None", JavaScript "undefined", Micrometer "none".
var noIDs = []string{"unknown", "none", "null", "nil", "undefined", "n/a"}

const longestNoID = len("undefined")

// joinID returns an id by which readers join what tells of the same thing. A word
// for no id would join what has nothing in common.
func joinID(s string) string {
	if len(s) <= longestNoID && slices.ContainsFunc(noIDs, func(word string) bool { return strings.EqualFold(word, s) }) {
		return ""
	}
	return identifier(s)
}

// mergedTools is the name of Google ADK for several calls as one. It stands for
// no tool, and that the record says so keeps it from being taken for one.
const mergedTools = "(merged tools)"

// toolTitle returns the name of a tool.
func toolTitle(s string) string {
	if s == mergedTools {
		return s
	}
	return name(s)
}

// givenID returns an id that an application may give (contract 3), or "".
func givenID(s string) string {
	if !record.ValidGivenID(s) {
		return ""
	}
	return joinID(s)
}

// location returns where an application says that content is kept: a URI or
// path, or the name of a place.
func location(s string) string { return kept(content.ShapeWhereabouts, s) }

// maxLabel is the longest label, in bytes.
const maxLabel = 256

// label returns one printable line that an operator wrote to stand in clear,
// such as a purpose, or "". What telemetry says is no label: it has a shape.
func label(s string) string {
	if s == "" || len(s) > maxLabel || !utf8.ValidString(s) || strings.TrimSpace(s) != s {
		return ""
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return ""
		}
	}
	if content.GivesAwayCredential(s) {
		return ""
	}
	return s
}

// timeOf reads an RFC 3339 time of any precision, or returns the absent time.
func timeOf(s string) record.Time {
	const longest = 64
	if s == "" || len(s) > longest {
		return record.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return record.Time{}
	}
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return record.Time{}
	}
	return record.NewTime(t)
}

// harmless are the keys that content knows, without an operator's additions.
var harmless = func() *content.Policy {
	p, err := content.NewPolicy(nil, nil)
	if err != nil {
		panic(err) // the tables of this program contradict each other
	}
	return p
}()

// inClear returns the value of an attribute that stays in clear wherever it
// goes, or "".
func inClear(key, s string) string {
	if rule := harmless.Rule(key, 0); rule.Class == content.Harmless {
		return kept(rule.Shape, s)
	}
	return ""
}
