// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import "fmt"

// Signatures says what one Ed25519 signature covers (contract 4).
type Signatures string

const (
	// SignaturesEntry signs every entry by itself.
	SignaturesEntry Signatures = "entry"
	// SignaturesGroup signs all entries that are synced together once. Each entry
	// carries the signature and its path to what is signed, so that it still
	// verifies alone.
	SignaturesGroup Signatures = "group"
)

// Validate refuses what is no word for either.
func (s Signatures) Validate() error {
	switch s {
	case SignaturesEntry, SignaturesGroup:
		return nil
	}
	return fmt.Errorf("is %q: write %s (a signature for every entry) or %s (one for all entries that are synced together)", string(s), SignaturesEntry, SignaturesGroup)
}
