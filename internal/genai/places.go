// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "slices"

// contentFields are what a read asked and answered.
var contentFields = []field{arguments, result, query}

// ContentPlaces returns the attributes from which the recognition table reads
// what was asked and answered, and those by which an application says it. They
// hold content wherever they stand, so that a row also says what has to be
// stripped.
func ContentPlaces() []string { return slices.Concat(contentKeys(rows()), ownContent) }

// contentKeys returns the attributes from which rows read what was asked and
// answered, in the notation of the places of internal/content.
func contentKeys(rows []row) []string {
	var keys []string
	for _, r := range rows {
		for _, f := range contentFields {
			keys = append(keys, keysOf(r.fields[f])...)
		}
		for _, d := range r.documents {
			keys = append(keys, d.keys...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func keysOf(sources []source) []string {
	var keys []string
	for _, s := range sources {
		keys = append(keys, s.keys...)
	}
	return keys
}
