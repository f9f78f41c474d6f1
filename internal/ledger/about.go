// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/readtrail/readtrail/internal/ledger/actions"
	"github.com/readtrail/readtrail/record"
)

// errUndecided says that a request is not decided on to its end.
var errUndecided = errors.New("records about the action are being written")

// ActionOf returns the id of the action that the draft of an action or an approval is
// about, "" for other drafts.
func ActionOf(d *record.Draft) string {
	facts, err := factsOf(d.Kind(), d.Version(), d.Body())
	if err != nil || facts == nil {
		return ""
	}
	return facts.ActionID()
}

// About returns, for each action, the event id of the newest record about it that the
// journal has or is about to have, "" if there is none.
func (l *Ledger) About(ctx context.Context, ids []string) ([]string, error) {
	events := make([]string, len(ids))
	err := l.do(ctx, func(w *writer) error {
		if w.down != nil {
			return w.down
		}
		for i, id := range ids {
			known, err := w.recall(actions.About(id))
			switch {
			case err != nil:
				return unavailable(err)
			case known != nil:
				events[i] = known.EventID
			case w.current != nil && slices.ContainsFunc(w.current.items, func(it item) bool { return it.facts != nil && it.facts.ActionID() == id }):
				return unavailable(errUndecided)
			}
		}
		return nil
	})
	return events, l.place.hide(err)
}
