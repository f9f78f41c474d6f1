// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// CodeConflict is the code of a refusal of a record whose id another record has
// (contract 3).
const CodeConflict = "conflict"

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
// since the writer decides on all of them at once.
func (l *Ledger) AppendStrict(ctx context.Context, drafts []*record.Draft) ([]journal.Receipt, error) {
	receipts, err := l.append(ctx, drafts, func(w *writer, r *request) error { return w.admitStrict(r) })
	return receipts, l.place.hide(err)
}

// admitStrict says which record of a request the journal does not take.
func (w *writer) admitStrict(r *request) error {
	bodies := make(map[repeat.Key]repeat.Digest, len(r.items))
	for i := range r.items {
		it := &r.items[i]
		if it.draft.ID() == "" {
			continue
		}
		if digest, found := bodies[it.key]; found && digest != it.digest {
			return &Refusal{Index: i, Code: CodeConflict}
		}
		bodies[it.key] = it.digest
		verdict, err := w.judge(it)
		if err != nil {
			return err
		}
		if verdict.conflict != nil {
			return &Refusal{Index: i, Code: CodeConflict, EventID: verdict.conflict.eventID}
		}
	}
	return nil
}
