// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/readtrail/readtrail/internal/segment"
)

// ErrAhead says that an archive holds segments of a journal that the journal has not.
var ErrAhead = errors.New("the archive holds a segment of this journal that is not here: the journal was rolled back or restored, " +
	"or there are two of it; nothing is stored any more: put back the missing segments, or keep this directory, verify both (readtrail verify) and begin a new one")

// ask lists what the archive holds of a journal, having made sure that the bucket can
// lock, and holds it against what is here. Until it once agreed, every walk asks, also
// one that has nothing to store: a wrong bucket or a journal that was rolled back must
// not wait for a segment to be sealed.
func (a *Archive) ask(ctx context.Context, j Journal, status *Status) (map[string]*version, error) {
	known, err := a.listSegments(ctx, j.Place)
	if err != nil {
		return nil, err
	}
	if status.Ahead, err = a.ahead(j, known); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.agreed[j.Place] = status.Ahead == nil
	return known, nil
}

func (a *Archive) hasAgreed(p Place) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.agreed[p]
}

// ahead says of a listing which segment the journal cannot have got rid of: one that
// is not sealed here and begins where the journal does or behind. The files are listed
// after the bucket, so that what another process stored meanwhile is among them.
func (a *Archive) ahead(j Journal, known map[string]*version) (ahead, err error) {
	segments, err := segment.List(j.FS, j.Dir)
	if err != nil {
		return nil, err
	}
	files, err := sealedFiles(j.FS, j.Dir)
	if err != nil {
		return nil, err
	}
	begin, here := uint64(0), make(map[string]bool, len(files))
	if len(segments) > 0 {
		begin = segments[0].First
	}
	for _, f := range files {
		here[f.name] = true
	}
	var found *version
	lowest := uint64(0)
	below := a.bucket.key(j.Place, segmentsPart, "") + "/"
	for key, v := range known {
		name := strings.TrimPrefix(key, below)
		first, isSegment := firstOf(name)
		if isSegment && first >= begin && !here[name] && (found == nil || first < lowest) {
			found, lowest = v, first
		}
	}
	if found == nil {
		return nil, nil
	}
	return fmt.Errorf("%s: %w", a.bucket.address(found), ErrAhead), nil
}
