// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// SourceMatch says which reads a rule is about. All patterns that are given
// must match; in a pattern * stands for any characters and ? for one.
type SourceMatch struct {
	// Tool is a pattern for the tool's name as the model called it.
	Tool string `mapstructure:"tool"`
	// Index is a pattern for the id of an index or of a memory store.
	Index string `mapstructure:"index"`
	// Scope is a pattern for the name of the instrumentation scope.
	Scope string `mapstructure:"scope"`

	_ struct{}
}

// ruleFor returns the first rule that matches, or one that says nothing.
func (l *Lifter) ruleFor(tool, index, scope string) *compiledRule {
	for i := range l.sources {
		m := &l.sources[i].match
		if wildcard(m.Tool, tool) && wildcard(m.Index, index) && wildcard(m.Scope, scope) {
			return &l.sources[i]
		}
	}
	return &noRule
}

// wildcard reports whether a pattern matches; an empty pattern matches
// everything. It takes time in proportion to the product of the lengths.
func wildcard(pattern, s string) bool {
	if pattern == "" {
		return true
	}
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
