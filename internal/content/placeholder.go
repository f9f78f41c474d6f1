// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

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

const (
	truncatedBefore = "...[TRUNCATED: original length " // Gemini CLI
	truncatedAfter  = ']'
	// maxTruncatedSuffix is the longest suffix that says that a value was cut.
	maxTruncatedSuffix = len(truncatedBefore) + 20 + 1
)

// endsTruncated reports whether t ends with the words by which a library says
// that it cut the value.
func endsTruncated[T text](t T) bool {
	i := len(t) - 1
	if i < 0 || t[i] != truncatedAfter {
		return false
	}
	digits := i
	for i > 0 && digits-i < 20 && '0' <= t[i-1] && t[i-1] <= '9' {
		i--
	}
	return i < digits && i >= len(truncatedBefore) && string(t[i-len(truncatedBefore):i]) == truncatedBefore
}
