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
	case s.Digest != "" && locked.SpelledDigest() != s.Digest:
		return "", fmt.Errorf("%v has other bytes than the segment", locked)
	case !locked.LegalHold && !locked.Until.After(time.Now()):
		return "", fmt.Errorf("the lock of %v ended at %s", locked, locked.Until.UTC().Format(time.RFC3339))
	}
	return locked.String(), nil
}
