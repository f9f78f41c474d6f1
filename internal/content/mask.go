// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package content

import "strings"

// maxMasked is how many segments of a key are shown.
const maxMasked = 16

// MaskKey returns a key that may be shown: a star stands for every segment that
// is neither a word of the tables nor an index, and for what precedes the name
// of a credential in a segment. "metadata.marta" is "metadata.*".
func MaskKey(key string) string {
	var out []string
	pair := hasIndexPair(key)
	for segment := range strings.SplitSeq(key, ".") {
		if len(out) == maxMasked {
			return strings.Join(append(out, "*"), ".")
		}
		out = append(out, maskSegment(segment, pair))
	}
	return strings.Join(out, ".")
}

func maskSegment(segment string, pair bool) string {
	if _, ok := tableWords[segment]; ok || isIndex(segment) && !pair {
		return segment
	}
	var f folding
	words := string(f.fold(segment))
	for rest, more := words, true; more; _, rest, more = strings.Cut(rest, "_") {
		if _, ok := secretNames[rest]; !ok {
			continue
		}
		if len(rest) == len(segment) {
			return rest
		}
		return "*_" + rest
	}
	return "*"
}

// tableWords are the segments of the keys in the tables.
var tableWords = func() map[string]struct{} {
	words := make(map[string]struct{})
	add := func(keys string) {
		for key := range strings.FieldsSeq(keys) {
			for segment := range strings.SplitSeq(key, ".") {
				words[segment] = struct{}{}
			}
		}
	}
	for _, row := range harmlessRows {
		add(row.keys)
	}
	for _, keys := range []string{contentPlaces, urlPlaces, headerPlaces, credentialPlaces, genericPlaces, vocabulary} {
		add(keys)
	}
	for _, wildcard := range []string{"N", "*", "**"} {
		delete(words, wildcard)
	}
	return words
}()
