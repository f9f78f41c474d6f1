// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package strip

// Outcome is what becomes of a value, and why. Outcomes are a closed set.
type Outcome uint8

// The outcomes. Those of a value that no rule knows, or that has another shape
// than its key demands, are two: what mode strict removes stays in mode known.
const (
	// Stays: the value is known to be harmless.
	Stays Outcome = iota
	// StaysPlaceholder: it stands where a library left content out.
	StaysPlaceholder
	// StaysUnknown: no rule knows it.
	StaysUnknown
	// StaysMisshapen: its key is known and it has not the shape of that.
	StaysMisshapen
	// Digest: it is content, and its digest takes its place.
	Digest
	// Redacted: all that its JSON holds is what a library put in place of content,
	// and a placeholder takes the place of the whole.
	Redacted
	// RemovedUnknown: no rule knows it.
	RemovedUnknown
	// RemovedMisshapen: its key is known and it has not the shape of that.
	RemovedMisshapen
	// RemovedFreeKey: it is content under a key that is itself a text of
	// somebody's choosing, so that not even the key may stay.
	RemovedFreeKey
	// RemovedCredential: it is, or may contain, a credential.
	RemovedCredential
	// Replaced: it is a name that no rule knows, and "redacted" takes its place.
	Replaced
	outcomes
)

var outcomeNames = [outcomes]string{
	"stays", "stays_placeholder", "stays_unknown", "stays_misshapen", "digest", "redacted",
	"removed_unknown", "removed_misshapen", "removed_free_key", "removed_credential", "replaced",
}

// String returns the outcome as reports spell it.
func (o Outcome) String() string { return outcomeNames[o] }

// stays reports whether nothing is done to the value.
func (o Outcome) stays() bool { return o < Digest }

// removes reports whether nothing of the value stays.
func (o Outcome) removes() bool {
	return o == RemovedUnknown || o == RemovedMisshapen || o == RemovedFreeKey || o == RemovedCredential
}

// action returns what metrics call the outcome, if anything was done at all.
func (o Outcome) action() (a Action, acted bool) {
	switch o {
	case Digest, Redacted:
		return Digested, true
	case RemovedCredential:
		return Credential, true
	case RemovedUnknown, RemovedMisshapen, RemovedFreeKey, Replaced:
		return Removed, true
	default:
		return 0, false
	}
}
