// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/journal"
)

// Locked is an object of an archive, as the server described it when it was asked.
type Locked struct {
	Bucket, Key, VersionID string
	// Size is in bytes, Digest the SHA-256 of the object.
	Size   int64
	Digest [sha256.Size]byte
	Mode   Mode
	// Until is the date before which the version cannot be deleted.
	Until time.Time
	// LegalHold says that it cannot be after that either.
	LegalHold bool
	// Stored is when, by the server's clock.
	Stored time.Time
	// Later counts newer versions and delete markers of the same key, of which an
	// archive makes none: somebody tried to replace or to hide the object.
	Later int
}

// String returns the address of the version, s3://bucket/key?versionId=ID.
func (l *Locked) String() string {
	return fmt.Sprintf("%s%s/%s?versionId=%s", Scheme, l.Bucket, l.Key, l.VersionID)
}

// SpelledDigest returns the digest as a journal spells it (contract 2).
func (l *Locked) SpelledDigest() string { return journal.SpellHash(l.Digest) }
