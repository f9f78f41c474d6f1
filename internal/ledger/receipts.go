// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// receipts returns the receipts of a request that is durable, reading back those
// of repeats of stored entries.
func (l *Ledger) receipts(r *request) ([]journal.Receipt, error) {
	for i, at := range r.stored {
		e, err := l.read(at)
		if err == nil && !hasRecord(e, &r.items[i]) {
			err = fmt.Errorf("%w: the entry at %d of %s is another one", repeat.ErrDamaged, at.Offset, segment.Name(at.Segment))
			l.raiseDoubt(err)
		}
		if errors.Is(err, errPruned) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: receipt of a repeat: %w", ErrUnavailable, err)
		}
		r.receipts[i] = e.Receipt()
		r.receipts[i].JournalID = l.id // which an audit event does not name
		r.receipts[i].Repeat = true
		if r.entries == nil {
			r.receipts[i].Signature = ""
		}
	}
	for i, e := range r.entries {
		signature, err := l.signatureOf(e)
		if err != nil {
			return nil, fmt.Errorf("%w: signature of a receipt: %w", ErrUnavailable, err)
		}
		r.receipts[i].Signature = signature
	}
	return r.receipts, nil
}

// signatureOf returns the value of the signature of an entry that is durable. Only
// one that was sealed for somebody who did not ask for it is read back.
func (l *Ledger) signatureOf(e *entry) (string, error) {
	if e.signature != "" {
		return e.signature, nil
	}
	stored, err := l.read(e.at)
	if err != nil {
		return "", err
	}
	return stored.Integrity.Signature.Value, nil
}

// hasRecord reports whether an entry is the one that an item repeats.
func hasRecord(e *journal.Entry, it *item) bool {
	stored, err := record.RepeatOf(e.Kind, e.Body)
	if err != nil {
		return false
	}
	if len(it.parts) == 0 {
		return stored.ID == it.draft.ID() && stored.Digest == it.draft.Digest()
	}
	for _, p := range stored.Parts {
		if repeat.KeyOfPart(p) == it.parts[0] {
			return true
		}
	}
	return false
}

// read parses the stored entry at a place that the index gave. If none begins
// there, the index is in doubt, or a segment is missing: the writer looks.
func (l *Ledger) read(at segment.Position) (*journal.Entry, error) {
	line, err := segment.ReadLine(l.options.FS, l.options.Dir, at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && at.Segment < l.begins.Load():
		return nil, errPruned
	case errors.Is(err, fs.ErrNotExist):
		err = &segment.MissingError{Segments: []string{segment.Name(at.Segment)}}
	case err != nil && !errors.Is(err, segment.ErrNoLine):
		return nil, err
	}
	var e *journal.Entry
	if err == nil {
		e, err = journal.ParseLine(line)
	}
	if err != nil {
		err = fmt.Errorf("%w: no entry begins at %d of %s: %w", repeat.ErrDamaged, at.Offset, segment.Name(at.Segment), err)
		l.raiseDoubt(err)
		return nil, err
	}
	return e, nil
}

// raiseDoubt asks the writer to build the index anew, unless someone did.
func (l *Ledger) raiseDoubt(err error) {
	select {
	case l.doubt <- err:
	default:
	}
}
