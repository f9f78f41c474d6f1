// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
)

// errFull ends collecting.
var errFull = errors.New("no more can be kept")

// collect reads again the audit events that did not fit, as many as fit now. What cannot
// be read any more, or is not what it was, goes on waiting, and is told so.
func (l *lookup) collect(ctx context.Context) {
	r := l.r
	from := r.rest
	r.full = false
	for ; from.journal < len(r.journals); from = (reference{journal: from.journal + 1}) {
		j := r.journals[from.journal]
		if j.waiting > 0 {
			l.collectFrom(ctx, j, from)
		}
		if r.full {
			return
		}
	}
}

func (l *lookup) collectFrom(ctx context.Context, j *reconciling, from reference) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	at := reference{journal: from.journal}
	// An error leaves events waiting.
	_ = checkLines(ctx, j.source, l.options(&seeker{events: true}), func(lines []checked, _ int64) {
		for i := range lines {
			c := &lines[i]
			if at.line >= from.line && !l.r.full && c.names != nil && j.waiting > 0 && l.holds(c, j, at.line) && !l.r.isBeyond(c.names) {
				j.waiting--
				j.take(c, at)
			}
			at.line++
		}
		if l.r.full {
			stop(errFull)
		}
	})
}
