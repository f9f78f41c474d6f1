// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// ErrUnconfirmed says that a journal does not have the entry that somebody says was
// written to it.
var ErrUnconfirmed = errors.New("the journal does not have the entry")

// ConfirmHold makes sure that a journal, which may be written meanwhile, has the
// entry of a receipt: one of an event type and about a hold, with the hash of its
// receipt and a signature by the key that it names. Whether that key is to be
// trusted is for a verifier to say. It returns ErrUnconfirmed if it has not.
func ConfirmHold(fs durable.FS, dir string, receipt journal.Receipt, eventType string, hold record.Hold) error {
	e, err := entryAt(fs, dir, receipt.Sequence)
	if err != nil {
		return err
	}
	d, ok := detailOf[record.Hold](e)
	var v journal.OwnKeyVerifier
	switch digest := e.PayloadDigest(); {
	case journal.SpellHash(digest) != e.Integrity.RecordHash, e.Integrity.RecordHash != receipt.RecordHash, e.Header.EventID != receipt.EventID,
		e.Kind != record.KindJournal, e.Header.EventType != eventType, !ok, d != hold:
		return fmt.Errorf("%w of its receipt at sequence %d", ErrUnconfirmed, receipt.Sequence)
	default:
		if err := v.Verify(&e.Integrity.Signature, digest); err != nil {
			return fmt.Errorf("%w of its receipt at sequence %d: %w", ErrUnconfirmed, receipt.Sequence, err)
		}
	}
	return nil
}

// entryAt returns the entry with a sequence.
func entryAt(fs durable.FS, dir string, sequence uint64) (*journal.Entry, error) {
	segments, err := segment.List(fs, dir)
	if err != nil {
		return nil, err
	}
	for at := len(segments) - 1; at >= 0; at-- {
		if segments[at].First > sequence {
			continue
		}
		for line, err := range segment.LinesOf(fs, dir, segments[at]) {
			if errors.Is(err, segment.ErrNoLine) {
				break // it is written this moment
			}
			if err != nil {
				return nil, err
			}
			e, err := journal.ParseLine(bytes.Clone(line.Bytes))
			if err != nil {
				return nil, fmt.Errorf("%s at %d: %w", segment.Name(line.Segment), line.Offset, err)
			}
			if e.Header.Sequence == sequence {
				return e, nil
			}
		}
		break
	}
	return nil, fmt.Errorf("%w: none has sequence %d", ErrUnconfirmed, sequence)
}
