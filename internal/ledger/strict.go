// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	"github.com/readtrail/readtrail/internal/ledger/actions"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The codes of a Refusal: of a record whose id another record has (contract 3), and
// those of the rules of actions.
const (
	CodeConflict        = actions.CodeConflict
	CodeNotPlanned      = actions.CodeNotPlanned
	CodeChanged         = actions.CodeChanged
	CodeUnreadable      = actions.CodeUnreadable
	CodeActionRevoked   = actions.CodeRevoked
	CodeNotBound        = actions.CodeNotBound
	CodeApprovalRevoked = actions.CodeWithdrawn
	CodeElsewhere       = actions.CodeElsewhere
	CodeAttemptTaken    = actions.CodeAttemptTaken
	CodeAttemptOpen     = actions.CodeAttemptOpen
	CodeAttemptOver     = actions.CodeAttemptOver
	CodeAttemptsDiffer  = actions.CodeAttemptsDiffer
	CodeAttemptNotSent  = actions.CodeAttemptNotSent
)

// The reasons of a Refusal, where its code has several.
const (
	// ReasonExpired: an approval does not bind what it is about any more, since it has
	// expired by the journal's clock.
	ReasonExpired = actions.ReasonExpired
	// ReasonElsewhere: the id is in conflict with one that stands in another journal of
	// the organization, with the same body or another.
	ReasonElsewhere = "elsewhere"
)

// Refusal is the error of AppendStrict for a record that the journal does not take.
// It quotes nothing of the record.
type Refusal struct {
	// Index is that of the draft.
	Index int
	// Code is one of the Code constants.
	Code string
	// Pointer is the JSON Pointer (RFC 6901) of the member of the body that is in the
	// way, "" if it is none.
	Pointer string
	// EventID is the id of the entry that is in the way, "" if it is none.
	EventID string
	// Reason is one of the Reason constants, "" if the code says it all.
	Reason string
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("record %d is refused: %s", r.Index, r.Code)
	if r.Pointer != "" {
		text += " at " + r.Pointer
	}
	if r.EventID != "" {
		text += ", see entry " + r.EventID
	}
	return text
}

// AppendStrict is Append for a client that can be told no: either it writes all of the
// records or, with a Refusal, none. What else is decided in between does not matter,
// since the writer decides on all of them at once. A record that the journal has
// already is a repeat whatever happened since, but for the sending of an action, whose
// receipt is a permission: it is refused once a rule would. Receipts have signatures.
//
// Records of actions and approvals are always appended so: Append refuses them too,
// since a receipt of one is what an executor acts on.
func (l *Ledger) AppendStrict(ctx context.Context, drafts []*record.Draft) ([]journal.Receipt, error) {
	receipts, err := l.append(ctx, drafts, (*request).makeStrict)
	return receipts, l.place.hide(err)
}

// makeStrict has the writer say no to a request.
func (r *request) makeStrict() {
	r.admit = (*writer).admitStrict
	r.entries = make(map[int]*entry, len(r.items))
	for i := range r.items {
		r.items[i].signed = true
	}
}

// admitStrict says which record of a request the journal does not take.
func (w *writer) admitStrict(r *request) error {
	b := batch{writer: w, request: r, named: map[string]*actions.Known{}, bodies: map[repeat.Key]repeat.Digest{}}
	for i := range r.items {
		refusal, err := b.take(&r.items[i])
		if err != nil {
			return unavailable(err)
		}
		if refusal != nil {
			return &Refusal{Index: i, Code: refusal.Code, Pointer: refusal.Pointer, EventID: refusal.EventID, Reason: refusal.Reason}
		}
	}
	return nil
}

// batch is the items of a request that were taken, on top of what the writer has
// decided. None of them is chained yet.
type batch struct {
	*writer
	request *request
	// bodies are those of their ids and event ids.
	bodies map[repeat.Key]repeat.Digest
	named  map[string]*actions.Known
}

// take takes the next item, or says why not.
func (b *batch) take(it *item) (*actions.Refusal, error) {
	if it.draft.ID() != "" {
		repeated, refusal, err := b.compare(it)
		switch {
		case refusal != nil || err != nil:
			return refusal, err
		case repeated:
			return b.again(it)
		}
	}
	if refusal, err := b.claim(it); refusal != nil || err != nil {
		return refusal, err
	}
	if it.facts == nil {
		return nil, nil
	}
	refusal, err := actions.Judge(it.facts, b.ledger.options.Now(), b)
	if refusal != nil || err != nil {
		return refusal, err
	}
	known := &actions.Known{Facts: it.facts, EventID: it.draft.EventID(), Ours: true}
	for _, name := range it.facts.Names() {
		b.named[name] = known
	}
	return nil, nil
}

// again says whether an item that the journal has is answered with its receipt. That
// of a sending is a permission, unless the request says itself how the attempt ended:
// then it only reports.
func (b *batch) again(it *item) (*actions.Refusal, error) {
	if it.facts == nil || !it.facts.IsSending() {
		return nil, nil
	}
	for i := range b.request.items {
		if f := b.request.items[i].facts; f != nil && f.IsOutcomeOf(it.facts) {
			return nil, nil
		}
	}
	return actions.JudgeAgain(it.facts, b.ledger.options.Now(), b)
}

// compare says whether an item with an id repeats or contradicts another record.
func (b *batch) compare(it *item) (repeated bool, refusal *actions.Refusal, err error) {
	if digest, found := b.bodies[it.key]; found {
		if digest != it.digest {
			refusal = &actions.Refusal{Code: CodeConflict}
		}
		return true, refusal, nil
	}
	b.bodies[it.key] = it.digest
	v, err := b.judge(it)
	switch {
	case err != nil:
		return false, nil, err
	case v.conflict != nil:
		return false, &actions.Refusal{Code: CodeConflict, EventID: v.conflict.eventID}, nil
	}
	return v.flying != nil || v.stored != nil, nil, nil
}

// claim refuses an event id that another entry has.
func (b *batch) claim(it *item) (*actions.Refusal, error) {
	id := it.draft.EventID()
	if id == "" {
		return nil, nil
	}
	_, taken := b.bodies[it.event]
	taken = taken || b.flying[it.event] != nil // on its way, or on disk and not yet in the index
	if !taken {
		found, err := b.find(it.event)
		if err != nil {
			return nil, err
		}
		taken = found[0] != nil
	}
	if taken {
		return &actions.Refusal{Code: CodeConflict, Pointer: "/event_id", EventID: id}, nil
	}
	b.bodies[it.event] = it.digest
	return nil, nil
}

// Named implements actions.Records.
func (b *batch) Named(name string) (*actions.Known, error) {
	if known := b.named[name]; known != nil {
		return known, nil
	}
	return b.recall(name)
}
