// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// placeholders stand where a library was told to leave content out: they are
// present but are not content. Case is exact and the whole value
// counts.
var placeholders = map[string]struct{}{
	"":                           {}, // Haystack: None
	"__REDACTED__":               {}, // OpenInference
	"[REDACTED]":                 {}, // Codex
	"<REDACTED>":                 {}, // Claude Code
	"readacted":                  {}, // OpenTelemetry openai-agents, spelled so
	"<not specified>":            {}, // Google ADK
	"<not serializable>":         {}, // Google ADK
	"N/A":                        {}, // Google ADK
	"(merged tools)":             {}, // Google ADK
	"<replaced>":                 {}, // Strands
	"[image omitted: too large]": {}, // dd-trace
	"([IMAGE DETECTED])":         {}, // dd-trace
}

// maxPlaceholder is the length of the longest placeholder, in bytes.
const maxPlaceholder = 26

// IsPlaceholder reports whether s stands for content that was left out. An
// empty JSON object or array does so only for some libraries: see
// Digest.EmptyAsPlaceholder.
func IsPlaceholder(s string) bool {
	_, ok := placeholders[s]
	return ok
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
