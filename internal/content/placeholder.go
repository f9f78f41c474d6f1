// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"encoding/json/jsontext"
	"strings"

	"github.com/readtrail/readtrail/record"
)

// placeholders stand where a library was told to leave content out, or could
// not write it: they are present but are not content. Case is exact and the
// whole value counts.
//
// The value says whether a placeholder is one inside JSON too. What people
// write into a field themselves is not.
var placeholders = map[string]bool{
	"":                           false, // Haystack: None
	"__REDACTED__":               true,  // OpenInference
	"[REDACTED]":                 true,  // Codex
	"<REDACTED>":                 true,  // Claude Code
	"<redacted>":                 true,  // Genkit
	"readacted":                  true,  // OpenTelemetry openai-agents, spelled so
	"<not specified>":            true,  // Google ADK
	"<not serializable>":         true,  // Google ADK
	"N/A":                        false, // Google ADK
	"(merged tools)":             true,  // Google ADK
	"<replaced>":                 true,  // Strands
	"[image omitted: too large]": true,  // dd-trace
	"([IMAGE DETECTED])":         true,  // dd-trace
	"[object Object]":            true,  // JavaScript: an object that nobody serialized
	"undefined":                  false, // JavaScript: no value
	"null":                       false, // JSON: no value
}

// Placeholder is what this program writes in place of a value of which nothing
// may leave, though it is no content: a placeholder under names of somebody's
// choosing.
const Placeholder = "[REDACTED]"

// maxPlaceholder is the length of the longest placeholder, in bytes.
const maxPlaceholder = 26

// beginsPlaceholder are the bytes that a placeholder begins with.
var beginsPlaceholder = func() (begins [256]bool) {
	for p := range placeholders {
		if p != "" {
			begins[p[0]] = true
		}
	}
	return begins
}()

// IsPlaceholder reports whether s stands for content that was left out. An
// empty JSON object or array does so only for some libraries: see
// Key.EmptyAsPlaceholder.
func IsPlaceholder(s string) bool {
	if s != "" && (len(s) > maxPlaceholder || !beginsPlaceholder[s[0]]) {
		return false
	}
	_, ok := placeholders[s]
	return ok
}

// maxQuoted is the length of the longest spelling of a placeholder as a JSON
// string: every character as an escape.
const maxQuoted = len(`\u0000`)*maxPlaceholder + len(`""`)

// isQuotedPlaceholder reports whether text is a JSON string that is a
// placeholder, as libraries that write every value as JSON leave it.
func isQuotedPlaceholder[T text](t T) bool {
	if len(t) > maxQuoted || len(t) < len(`""`) || t[0] != '"' || t[len(t)-1] != '"' {
		return false
	}
	s, err := jsontext.AppendUnquote(nil, []byte(t))
	return err == nil && placeholders[string(s)]
}

// leaves are what the strings, numbers and bools of a JSON object or array say
// of it. null says nothing.
type leaves struct {
	// content says that one is content, placeholder that one is none, truncated
	// that a library cut one.
	content, placeholder, truncated bool
}

// addLeaf takes a string into account.
func addLeaf[T text](l *leaves, t T) {
	if !l.content && len(t) <= maxPlaceholder && placeholders[string(t)] {
		l.placeholder = true
		return
	}
	l.content = true
	l.truncated = l.truncated || endsTruncated(t)
}

// onlyPlaceholders reports whether every leaf is a placeholder.
func (l leaves) onlyPlaceholders() bool { return l.placeholder && !l.content }

// state is the state of a value with such leaves that is content.
func (l leaves) state() record.Captured {
	if l.truncated {
		return record.CapturedTruncated
	}
	return record.CapturedContent
}

// leavesOf looks at the leaves of JSON text in the form of RFC 8785, no further
// than to the first that is content unless the text holds a mark of what was
// cut.
func leavesOf(canonical []byte) (l leaves) {
	mayBeCut := bytes.Contains(canonical, []byte("[TRUNCATED")) || bytes.Contains(canonical, []byte("[truncated"))
	for i := 0; i < len(canonical) && (!l.content || mayBeCut && !l.truncated); i++ {
		switch c := canonical[i]; {
		case c == '"':
			end := closingQuote(canonical, i)
			if canonical[end+1] != ':' { // it is no name
				// No placeholder and no mark has a character that JSON escapes.
				addLeaf(&l, canonical[i+1:end])
			}
			i = end
		case c == '-' || '0' <= c && c <= '9' || c == 't' || c == 'f':
			l.content = true
		}
	}
	return l
}

// closingQuote returns the index of the quote that ends the JSON string that
// starts at i in valid JSON text.
func closingQuote(text []byte, i int) int {
	for end := i + 1; ; end++ {
		end += bytes.IndexByte(text[end:], '"')
		escapes := end
		for text[escapes-1] == '\\' {
			escapes--
		}
		if (end-escapes)%2 == 0 {
			return end
		}
	}
}

// cut is how a library says at the end of a value that it cut it: words, a
// number, words.
type cut struct{ before, after string }

var cuts = []cut{
	{"...[TRUNCATED: original length ", "]"},                              // Gemini CLI
	{"...[truncated, original ", " chars]"},                               // GitHub Copilot Chat
	{"[TRUNCATED - Content exceeds ", "KB limit]"},                        // Claude Code
	{"[TRUNCATED - Content exceeds configured limit of ", " characters]"}, // Qwen Code
}

const (
	// maxCutNumber is how long the number is at most, in digits.
	maxCutNumber = 20
	// maxTruncatedSuffix is the longest suffix that says that a value was cut.
	maxTruncatedSuffix = 96
)

// endsTruncated reports whether t ends with the words by which a library says
// that it cut the value.
func endsTruncated[T text](t T) bool {
	if len(t) == 0 || t[len(t)-1] != ']' {
		return false
	}
	tail := string(t[max(0, len(t)-maxTruncatedSuffix):])
	for _, c := range cuts {
		rest, ok := strings.CutSuffix(tail, c.after)
		if !ok {
			continue
		}
		words := strings.TrimRight(rest, "0123456789")
		if n := len(rest) - len(words); n > 0 && n <= maxCutNumber && strings.HasSuffix(words, c.before) {
			return true
		}
	}
	return false
}
