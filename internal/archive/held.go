// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/record"
)

// Asks returns the question that pruning asks before it announces that a segment
// goes: where the archive holds those very bytes.
func (a *Archive) Asks(j Journal) func(context.Context, record.PrunedSegment) (string, error) {
	return func(ctx context.Context, s record.PrunedSegment) (string, error) {
		held, err := a.Held(ctx, j, s.Segment)
		switch {
		case err != nil:
			return "", err
		case held.SpelledDigest() != s.Digest || held.Size != s.Size:
			return "", fmt.Errorf("%s: %w", held, ErrConflict)
		}
		return held.String(), nil
	}
}

// Held says where the archive holds a sealed segment of a journal, which is what
// lets the local copy go: the bytes of the oldest version were read back and are
// those of the file, and the server says that the version is locked as demanded. A
// lock that has ended is none. Nothing that was found out before is believed.
func (a *Archive) Held(ctx context.Context, j Journal, name string) (*Locked, error) {
	r, err := a.policy.of(j.RetentionClass)
	if err != nil {
		return nil, err
	}
	files, err := sealedFiles(j.FS, j.Dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.name == name {
			return a.held(ctx, j, f, r)
		}
	}
	return nil, fmt.Errorf("journal %s: %s is no sealed segment of it", j.Place, name)
}

func (a *Archive) held(ctx context.Context, j Journal, f sealed, r retention) (*Locked, error) {
	c, err := examine(j.FS, j.Dir, f)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", j.Place, err)
	}
	u := upload{key: a.bucket.key(j.Place, segmentsPart, f.name), size: f.size, digest: c.digest, recorded: c.recorded}
	v, err := a.bucket.oldest(ctx, u.key)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, fmt.Errorf("%s: %w", a.bucket.url(u.key), ErrAbsent)
	}
	digest, size, err := a.bucket.readDigest(ctx, v)
	if err != nil {
		return nil, err
	}
	if digest != u.digest || size != u.size {
		return nil, fmt.Errorf("%s: %w", a.bucket.address(v), ErrConflict)
	}
	locked, err := a.bucket.inspectLock(ctx, u, r, v)
	if err == nil && !locked.LegalHold && !locked.Until.After(a.bucket.now()) {
		return nil, fmt.Errorf("%s: %w: its lock ended at %s", locked, ErrNotLocked, locked.Until.UTC().Format(time.RFC3339))
	}
	return locked, err
}
