// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/ledger/actions"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/record"
)

// errUndecided says that a request is not decided on to its end.
var errUndecided = errors.New("records with the same ids are being written")

// Claim is something of a draft that only one journal of an organization may have:
// the action that it is about, its own id, or its event id. Two claims are equal if
// they are of the same.
type Claim struct {
	kind claimKind
	name string
}

type claimKind uint8

const (
	claimsAction claimKind = iota
	claimsID
	claimsEvent
)

// ClaimsOf returns the claims of a draft.
func ClaimsOf(d *record.Draft) (claims []Claim) {
	if facts, err := factsOf(d.Kind(), d.Version(), d.Body()); err == nil && facts != nil {
		claims = append(claims, Claim{claimsAction, facts.ActionID()})
	}
	if hasOwnID(d) {
		claims = append(claims, Claim{claimsID, d.ID()})
	}
	if id := d.EventID(); id != "" {
		claims = append(claims, Claim{claimsEvent, id})
	}
	return claims
}

// hasOwnID reports whether clients know a draft by its id. Parts of an audit event, and
// what the journal says about one, are found by what they belong to.
func hasOwnID(d *record.Draft) bool {
	switch d.Kind() {
	case record.KindDecision, record.KindApproval, record.KindAuditEvent:
		return true
	case record.KindJournal:
		return strings.HasPrefix(d.ID(), record.AuditLogID(record.Text{}))
	default:
		return false
	}
}

// Elsewhere is the refusal of the draft with an index since another journal has an
// entry with what the draft claims.
func (c Claim) Elsewhere(index int, eventID string) *Refusal {
	r := &Refusal{Index: index, Code: CodeConflict, EventID: eventID, Reason: ReasonElsewhere}
	switch c.kind {
	case claimsAction:
		r.Code, r.Reason = CodeElsewhere, ""
	case claimsEvent:
		r.Pointer = "/event_id"
	}
	return r
}

// isOf reports whether an item claims the same.
func (c Claim) isOf(it *item) bool {
	switch c.kind {
	case claimsAction:
		return it.facts != nil && it.facts.ActionID() == c.name
	case claimsID:
		return it.draft.ID() == c.name
	default:
		return it.draft.EventID() == c.name
	}
}

// Holder returns the first of some claims of which the journal has an entry, or is
// about to have one, and the event id of that entry; -1 if there is none.
func (l *Ledger) Holder(ctx context.Context, claims []Claim) (claim int, eventID string, err error) {
	claim = -1
	err = l.do(ctx, func(w *writer) error {
		if w.down != nil {
			return w.down
		}
		for i, c := range claims {
			id, found, err := w.holds(c)
			switch {
			case err != nil:
				return unavailable(err)
			case found:
				claim, eventID = i, id
				return nil
			case w.current != nil && slices.ContainsFunc(w.current.items, func(it item) bool { return c.isOf(&it) }):
				return unavailable(errUndecided)
			}
		}
		return nil
	})
	return claim, eventID, l.place.hide(err)
}

// holds returns the event id of the newest entry about an action, or the first with an
// id, durable or on its way.
func (w *writer) holds(c Claim) (eventID string, found bool, err error) {
	var key repeat.Key
	switch c.kind {
	case claimsAction:
		known, err := w.recall(actions.About(c.name))
		if err != nil || known == nil {
			return "", false, err
		}
		return known.EventID, true, nil
	case claimsID:
		key = repeat.KeyOfID(c.name)
	case claimsEvent:
		key = repeat.KeyOfEvent(c.name)
	}
	if e := w.flying[key]; e != nil {
		return e.receipt.EventID, true, nil
	}
	seen, err := w.find(key)
	if err != nil || seen[0] == nil {
		return "", false, err
	}
	e, err := w.ledger.read(seen[0].At)
	if err != nil {
		return "", false, err
	}
	return eventIDOf(e), true, nil
}
