// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
)

// Since iterates over the entries from the first segment on that has one which was
// recorded at or after a time: over all that were recorded since, and some before. An
// entry whose group is not durable yet may be among the last. It ends with an error if
// an entry cannot be read.
func (l *Ledger) Since(ctx context.Context, since time.Time) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		fail := func(err error) {
			yield(nil, l.place.hide(fmt.Errorf("entries since %s: %w", since.UTC().Format(time.RFC3339), err)))
		}
		from, err := l.firstSince(since)
		if err != nil {
			fail(err)
			return
		}
		for line, err := range segment.Lines(l.options.FS, l.options.Dir, segment.Position{Segment: from}) {
			if errors.Is(err, segment.ErrNoLine) {
				return // written this moment
			}
			var e *journal.Entry
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				e, err = journal.ParseLine(append([]byte(nil), line.Bytes...))
			}
			if err != nil {
				fail(err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// firstSince returns the first sequence of the segment to begin with.
func (l *Ledger) firstSince(since time.Time) (uint64, error) {
	segments, err := segment.List(l.options.FS, l.options.Dir)
	if err != nil {
		return 0, err
	}
	for at := len(segments) - 1; at >= 0; at-- {
		line, err := segment.LastLine(l.options.FS, l.options.Dir, segments[at])
		if errors.Is(err, segment.ErrNoLine) && at == len(segments)-1 {
			continue // empty, or written this moment
		}
		var e *journal.Entry
		if err == nil {
			e, err = journal.ParseLine(line.Bytes)
		}
		if err != nil {
			return 0, err
		}
		if e.Header.RecordedAt.Std().Before(since) {
			if at+1 < len(segments) {
				return segments[at+1].First, nil
			}
			return segments[at].First, nil
		}
	}
	if len(segments) == 0 {
		return 0, nil
	}
	return segments[0].First, nil
}
