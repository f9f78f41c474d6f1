// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/record"
)

// CopyOf returns where the locked copy of a segment is, as Held found it, for a
// journal.pruned to name. A lock that has ended is none.
func (a *Archive) CopyOf(ctx context.Context, j Journal, s record.PrunedSegment) (string, error) {
	locked, err := a.Held(ctx, j, s.Segment)
	switch {
	case err != nil:
		return "", err
	case locked.SpelledDigest() != s.Digest || locked.Size != s.Size:
		return "", fmt.Errorf("%s: %w", locked, ErrConflict)
	case !locked.LegalHold && !locked.Until.After(a.bucket.now()):
		return "", fmt.Errorf("%s: %w: its lock ended at %s", locked, ErrNotLocked, locked.Until.UTC().Format(time.RFC3339))
	}
	return locked.String(), nil
}
