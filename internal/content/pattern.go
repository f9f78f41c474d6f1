// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// pattern is a key with wildcards (places.go), in segments.
type pattern []string

func parsePattern(s string) pattern { return strings.Split(s, ".") }

func hasWildcard(s string) bool {
	for _, segment := range parsePattern(s) {
		switch segment {
		case "N", "*", "**":
			return true
		}
	}
	return false
}

// match reports whether the pattern matches the key and, if it does, whether a
// wildcard stands for text that is neither an index nor of the vocabulary.
func (p pattern) match(key string) (ok, free bool) {
	rest, more := key, true
	for _, want := range p {
		if !more {
			return false, false
		}
		if want == "**" {
			return true, free || !allKnown(rest)
		}
		var segment string
		segment, rest, more = strings.Cut(rest, ".")
		switch want {
		case "N":
			if !isIndex(segment) {
				return false, false
			}
		case "*":
			free = free || !knownSegment(segment)
		default:
			if segment != want {
				return false, false
			}
		}
	}
	return !more, free
}

// allKnown reports whether segments are words of the vocabulary and indices.
func allKnown(segments string) bool {
	for rest, more := segments, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, ".")
		if !knownSegment(segment) {
			return false
		}
	}
	return !hasIndexPair(segments)
}

// hasIndexPair reports whether two indices stand side by side, which those of
// conventions never do: together they are as long a number as one likes.
func hasIndexPair(key string) bool {
	before := false
	for more := true; more; {
		var segment string
		segment, key, more = strings.Cut(key, ".")
		index := isIndex(segment)
		if index && before {
			return true
		}
		before = index
	}
	return false
}

func knownSegment(segment string) bool {
	_, ok := vocabularySet[segment]
	return ok || isIndex(segment)
}

// maxIndexDigits is how long an index is at most; a longer number is an
// account, not an index.
const maxIndexDigits = 5

func isIndex(s string) bool {
	if s == "" || len(s) > maxIndexDigits {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return true
}

var vocabularySet = wordSet(vocabulary)

func wordSet(words string) map[string]struct{} {
	set := make(map[string]struct{})
	for word := range strings.FieldsSeq(words) {
		set[word] = struct{}{}
	}
	return set
}

// patterns is a set of exact names and patterns, by first segment.
type patterns struct {
	exact    map[string]struct{}
	wildcard map[string][]pattern
}

func patternSet(words string) patterns {
	set := patterns{exact: map[string]struct{}{}, wildcard: map[string][]pattern{}}
	for word := range strings.FieldsSeq(words) {
		if hasWildcard(word) {
			p := parsePattern(word)
			set.wildcard[p[0]] = append(set.wildcard[p[0]], p)
		} else {
			set.exact[word] = struct{}{}
		}
	}
	return set
}

func (s patterns) has(name string) bool {
	ok, _ := s.find(name)
	return ok
}

// find reports whether a name is in the set and, if it is, whether a wildcard
// stands for text of somebody's choosing.
func (s patterns) find(name string) (ok, free bool) {
	if _, ok := s.exact[name]; ok {
		return true, false
	}
	if len(s.wildcard) == 0 {
		return false, false
	}
	first, _, _ := strings.Cut(name, ".")
	for _, p := range s.wildcard[first] {
		if ok, free := p.match(name); ok {
			return true, free || hasIndexPair(name)
		}
	}
	return false, false
}
