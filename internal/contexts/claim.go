// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package contexts

// Supported reports whether a claim that cites entries is supported (requirement
// G3): it cites at least one, and each of them stands in a context of the
// execution, which is what shown says. That the model read them rightly is
// another question.
func Supported(entryIDs []string, shown func(entryID string) bool) bool {
	for _, id := range entryIDs {
		if !shown(id) {
			return false
		}
	}
	return len(entryIDs) > 0
}

// Unsupported returns the cited entries that stand in no context of the
// execution.
func Unsupported(entryIDs []string, shown func(entryID string) bool) []string {
	var out []string
	for _, id := range entryIDs {
		if !shown(id) {
			out = append(out, id)
		}
	}
	return out
}
