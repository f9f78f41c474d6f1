// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var errFull = errors.New("journal has as many entries as it can number")

// chain is the serial part of sealing: where the journal ends, and which key
// signs the next entry.
type chain struct {
	sequence uint64
	hash     string // of the last entry, "" before the first
	signer   journal.Signer
}

// decide decides on one item: it is a repeat, or it becomes an entry of the open
// group. Nothing is durable yet, and a request is only acknowledged behind the
// group that its last item was decided in.
func (w *writer) decide(r *request, i int) error {
	it := &r.items[i]
	var verdict verdict
	var err error
	if len(it.parts) > 0 {
		verdict, err = w.judgeParts(it)
	} else if it.draft.ID() != "" {
		verdict, err = w.judge(it)
	}
	switch {
	case err != nil:
		return err
	case verdict.flying != nil:
		r.receipts[i] = verdict.flying.receipt
		r.receipts[i].Repeat = true
		r.signedBy(i, verdict.flying)
		w.open.repeats++
		return nil
	case verdict.stored != nil:
		r.readBack(i, *verdict.stored)
		w.open.repeats++
		return nil
	}
	e, err := w.seal(w.open, it, verdict)
	if err != nil {
		return err
	}
	r.receipts[i] = e.receipt
	r.signedBy(i, e)
	w.stand(e)
	w.launch(e)
	w.open.add(e)
	return nil
}

// seal completes, chains and hashes an item for a group.
func (w *writer) seal(g *group, it *item, v verdict) (*entry, error) {
	if w.head.sequence >= record.MaxInteger {
		return nil, errFull
	}
	o := &w.ledger.options
	now := o.Now()
	event, err := w.eventID(it, now)
	if err != nil {
		return nil, err
	}
	completion := &w.completion
	*completion = record.Completion{
		EventID:       event.id,
		JournalID:     w.ledger.id,
		Sequence:      w.head.sequence + 1,
		RecordedAt:    record.NewTime(now),
		Scope:         o.Scope,
		CollectorID:   o.CollectorID,
		ConflictsWith: event.taken,
		Parts:         v.parts,
	}
	if v.conflict != nil {
		completion.ConflictsWith = v.conflict.eventID
	}
	if completion.ConflictsWith != "" {
		g.conflicts++
	}
	signer := w.head.signer
	e := g.paper.entry()
	e.signer, e.recordedAt, e.item = signer, now, it
	e.parts, e.conflict = v.parts, v.conflict
	e.wanted = it.signed
	e.claims = event.given || isLookedFor(it.draft.Kind(), it.draft.OfActions())
	if e.event = it.event; e.claims && !event.given {
		e.event = repeat.KeyOfEvent(event.id)
	}
	if it.facts != nil && completion.ConflictsWith == "" {
		e.names = factKeys(it.facts)
	}
	size := journal.DraftSpace(it.draft)
	e.sealed.AssembleDraft(g.paper.space(&w.drawer, size), it.draft, completion, w.head.hash, signer,
		o.GroupSignatures && journal.Groupable(it.draft.Kind()))
	g.paper.written(size, e.sealed.Size())
	w.head.sequence, w.head.hash = completion.Sequence, e.sealed.RecordHash()
	e.receipt = journal.Receipt{
		EventID: event.id, JournalID: w.ledger.id, Sequence: w.head.sequence, RecordHash: w.head.hash, KeyID: signer.KeyID(),
		RecordedAt: completion.RecordedAt,
	}
	return e, nil
}

// eventName is the event id that an entry gets.
type eventName struct {
	id string
	// given says that it is the one that the application gave.
	given bool
	// taken is the one that the application gave if another entry has it: then
	// the new entry conflicts with that one (contract 3).
	taken string
}

// eventID returns the event id of a new entry: the application's, or one of our
// own if it gave none or one that names another entry.
func (w *writer) eventID(it *item, now time.Time) (eventName, error) {
	var name eventName
	if id := it.draft.EventID(); id != "" {
		found, err := w.find(it.event)
		if err != nil {
			return name, err
		}
		if w.flying[it.event] == nil && found[0] == nil {
			return eventName{id: id, given: true}, nil
		}
		name.taken = id
	}
	id, err := w.ids.next(now)
	name.id = record.EventID(string(id[:]))
	return name, err
}

// position returns where an entry that is durable stands.
func (e *entry) position() repeat.Position {
	return repeat.Position{At: e.at, Sequence: e.receipt.Sequence, Hash: e.receipt.RecordHash}
}
