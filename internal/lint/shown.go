// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/genai"
	"github.com/readtrail/readtrail/internal/strip"
)

// This file decides what of telemetry a report may show: what would leave in
// mode strict, whatever the mode is, and keys, as far as they look like words.

func shownScope(name string) string {
	if name == "" || content.ShapeName.Matches(name) {
		return name
	}
	return content.RedactedName
}

// spanName returns a span's name if it is known to be harmless.
func (l *Linter) spanName(name string, seen *genai.Observation) string {
	if name == seen.SafeName || l.stripper.Keeps(name) {
		return name
	}
	return content.RedactedName
}

// eventName returns the name of the event that a log record is, wherever a
// library puts it.
func (l *Linter) eventName(log plog.LogRecord) string {
	name := strip.EventName(log)
	if name == "" || content.KnownEventName(name) || l.stripper.Keeps(name) {
		return name
	}
	return content.RedactedName
}

// shownKey returns a key as a report may show it, with N for an index. One that
// a table knows has stars for what is text of somebody's choosing in it; of
// another, and of one that an operator keeps, the segments are shown up to the
// first that does not look like a word: what follows that is text with dots in it.
func shownKey(key string, class content.Class) string {
	masked := class != content.Unknown && class != content.Harmless
	if masked {
		key = content.MaskKey(key)
	}
	var out []string
	for segment := range strings.SplitSeq(key, ".") {
		if len(out) == maxSegments {
			out = append(out, "*")
			break
		}
		if !masked && !isWord(segment) {
			out = append(out, "*")
			break
		}
		out = append(out, shownIndex(segment))
	}
	return strings.Join(out, ".")
}

func shownIndex(segment string) string {
	if segment != "" && strings.Trim(segment, "0123456789") == "" {
		return "N"
	}
	return segment
}

// maxSegments bounds what is shown of a key.
const maxSegments = 16

// maxDigits is how many digits in a row a word has at most: more are an account.
const maxDigits = 4

// isWord reports whether a segment of a key looks like a programmer's word: it
// has the shape of a token and no long number.
func isWord(segment string) bool {
	if !content.ShapeToken.Matches(segment) {
		return false
	}
	digits := 0
	for i := range len(segment) {
		if segment[i] < '0' || '9' < segment[i] {
			digits = 0
		} else if digits++; digits > maxDigits {
			return false
		}
	}
	return true
}
