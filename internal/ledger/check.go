// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/sha256"
	"encoding/json/v2"
	"errors"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/execution"
	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// check says which lines of a journal are intact: those that parse, hash to what
// they say, and continue the chain. Of those that nobody acknowledged since the
// journal was opened it also has the signatures verified, and demands a bridge
// where the key changes: a writer goes on only behind what a journal's key signed.
// Which key that must be in the end, bridgeFrom knows.
type check struct {
	signatures signatures

	// journalID is that of all entries that say it, "" until one did.
	journalID string
	// last is the last intact entry, and end where it ends.
	last repeat.Position
	end  segment.Position
	// keyID is the key that signed the last intact entry, and handsOverTo the one
	// that it names if it is a journal.key_rotated.
	keyID, handsOverTo string
	// unseen are the record hashes of the entries behind the acknowledged one.
	unseen [][sha256.Size]byte
	// acknowledged is an entry that must be found unchanged.
	acknowledged repeat.Position
	// began is the recorded_at of the first entry in the last segment.
	began time.Time
	// executions collects the entries of the last segment that belong to executions,
	// nil if nobody wants them.
	executions *execution.Marker
	// named are the torn bytes that a journal.recovered names.
	named map[string]bool
}

var (
	errRecordHash   = errors.New("record_hash is not that of the entry")
	errPrevious     = errors.New("previous_event_hash is not that of the entry before")
	errOther        = errors.New("entry is of another journal")
	errAcknowledged = errors.New("entry is not the one that was acknowledged")
)

// validate implements segment.Validate.
func (c *check) validate(l segment.Line, sequence uint64) error {
	e, err := journal.ParseLine(l.Bytes)
	if err != nil {
		return err
	}
	digest := e.PayloadDigest()
	hash, previous := e.Integrity.RecordHash, e.Integrity.PreviousEventHash
	switch {
	case journal.SpellHash(digest) != hash:
		return errRecordHash
	case e.Header.Sequence != sequence:
		return &segment.SequenceError{Found: e.Header.Sequence}
	case (sequence == 1) != (previous == ""), c.last.Sequence > 0 && previous != c.last.Hash:
		return errPrevious
	case c.journalID != "" && e.Header.JournalID != "" && e.Header.JournalID != c.journalID:
		return errOther
	case sequence == c.acknowledged.Sequence && hash != c.acknowledged.Hash:
		return errAcknowledged
	}
	if sequence > c.acknowledged.Sequence {
		if !c.continues(e) {
			c.signatures.fail(l.Position, sequence, errUnbridged)
		}
		c.signatures.verify(signed{l.Position, sequence, digest, e.Integrity.Signature})
	}
	if c.last.Sequence == 0 || l.Segment != c.last.At.Segment {
		c.began = e.Header.RecordedAt.Std()
	}
	if c.executions != nil {
		if l.Segment != c.last.At.Segment {
			*c.executions = execution.Marker{}
		}
		c.executions.Line(l.Bytes, l.Offset)
	}
	if c.journalID == "" {
		c.journalID = e.Header.JournalID
	}
	c.last = repeat.Position{At: l.Position, Sequence: sequence, Hash: hash}
	c.end = l.End()
	c.keyID, c.handsOverTo = e.Integrity.Signature.KeyID, ""
	if c.acknowledged.Sequence > 0 && sequence > c.acknowledged.Sequence {
		c.unseen = append(c.unseen, digest)
	}
	if e.Kind != record.KindJournal {
		return nil
	}
	switch e.Header.EventType {
	case record.EventJournalRecovered:
		if d, ok := detailOf[record.Recovered](e); ok {
			c.named[d.KeptAs] = true
		}
	case record.EventKeyRotated:
		if d, ok := detailOf[record.KeyRotated](e); ok {
			c.handsOverTo = d.IncomingKeyID
		}
	}
	return nil
}

// continues reports whether an entry has the key of the last one, or is the
// journal.key_accepted of the key that the last one hands over to (contract 4).
func (c *check) continues(e *journal.Entry) bool {
	switch id := e.Integrity.Signature.KeyID; {
	case c.handsOverTo != "":
		return id == c.handsOverTo && accepts(e, c.keyID)
	default:
		return c.keyID == "" || id == c.keyID
	}
}

// accepts reports whether an entry is the second end of a bridge from a key.
func accepts(e *journal.Entry, from string) bool {
	if e.Kind != record.KindJournal || e.Header.EventType != record.EventKeyAccepted {
		return false
	}
	d, ok := detailOf[record.KeyAccepted](e)
	return ok && d.OutgoingKeyID == from
}

// detailOf reads the detail of an entry of the journal about itself.
func detailOf[T any](e *journal.Entry) (T, bool) {
	var body struct {
		Detail T `json:"detail"`
	}
	err := json.Unmarshal(e.Body, &body)
	return body.Detail, err == nil
}

// unnamed returns the torn bytes that the journal does not tell of yet: those of
// now, and those of a recovery that was interrupted before it could.
func (c *check) unnamed(torn []string) (names []string) {
	for _, name := range torn {
		if !c.named[name] {
			names = append(names, name)
		}
	}
	return names
}
