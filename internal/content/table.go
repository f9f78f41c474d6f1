// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// wildcardRule is a row of the tables whose key has wildcards.
type wildcardRule struct {
	pattern pattern
	rule    Rule
	// nameAt is where in the key the name of a header or of a variable
	// begins, or 0.
	nameAt int
}

var (
	exactRules    = map[string]Rule{}
	wildcardRules = map[string][]wildcardRule{} // by first segment, the first match counts
	genericSet    = patternSet(genericPlaces)
)

func init() {
	for _, row := range harmlessRows {
		compile(row.keys, Rule{Class: Harmless, Shape: row.shape}, false)
	}
	compile(credentialPlaces, Rule{Class: Secret}, false)
	compile(headerPlaces, Rule{Class: Content}, true)
	compile(urlPlaces, Rule{Class: Address}, false)
	compile(contentPlaces, Rule{Class: Content}, false)
}

// compile adds rows in the order of precedence.
func compile(keys string, rule Rule, header bool) {
	for key := range strings.FieldsSeq(keys) {
		if hasWildcard(key) {
			p, nameAt := parsePattern(key), 0
			if header {
				nameAt = len(key) - len("**")
			}
			wildcardRules[p[0]] = append(wildcardRules[p[0]], wildcardRule{p, rule, nameAt})
		} else if _, ok := exactRules[key]; !ok {
			exactRules[key] = rule
		}
	}
}

// patternRule finds what is known of a key that stands in no table itself.
func patternRule(key string) (Rule, bool) {
	if base, ok := strings.CutSuffix(key, "_ref"); ok {
		if rule, ok := exactRules[base]; ok && rule.Class == Content || base == "body" {
			return Rule{Class: Harmless, Shape: ShapeLocation}, true
		}
	}
	first, _, _ := strings.Cut(key, ".")
	for _, r := range wildcardRules[first] {
		ok, free := r.pattern.match(key)
		if !ok {
			continue
		}
		rule := r.rule
		rule.Free = free || rule.Class != Harmless && hasIndexPair(key)
		if r.nameAt > 0 && mayNameSecret(key[r.nameAt:]) {
			rule.Class = Secret
		}
		return rule, true
	}
	if hasPIISegment(key) {
		return Rule{Class: Content, Free: !allKnown(key)}, true
	}
	return Rule{}, false
}

// hasPIISegment reports whether a segment of the key is "pii", LiveKit's mark
// of what is personal.
func hasPIISegment(key string) bool {
	for more := true; more; {
		var segment string
		segment, key, more = strings.Cut(key, ".")
		if segment == "pii" {
			return true
		}
	}
	return false
}
