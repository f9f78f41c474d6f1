// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// maxGroupEntries bounds a commit group beside its bytes.
const maxGroupEntries = journal.MaxGroupSize

// entry is an entry that is chained but not yet durable.
type entry struct {
	sealed     journal.Unsigned
	signer     journal.Signer
	line       []byte // once signed
	receipt    journal.Receipt
	recordedAt time.Time
	item       *item
	parts      []record.Part // those that are written
	// conflict is the first entry with the same id and another body.
	conflict *first
	// event is the key of its event id, and claims says that it is known by it: that
	// the application gave it, or that clients look for entries of its kind.
	event  repeat.Key
	claims bool
	// names are the keys under which the rules of actions find the entry.
	names []repeat.Key
	// accepts is the key that the journal goes on with, of a journal.key_accepted.
	accepts journal.Signer
	// at is where the entry stands, once it is durable, and signature the value of
	// its signature then, if wanted was set when it was sealed.
	at        segment.Position
	wanted    bool
	signature string
}

// signedWith reports whether an entry is signed by the same key and in the same
// way as another.
func (e *entry) signedWith(other *entry) bool {
	return e.receipt.KeyID == other.receipt.KeyID && e.sealed.Grouped() == other.sealed.Grouped()
}

// first is the first entry that has an id: one that is on its way or one that is
// stored.
type first struct {
	flying  *entry
	seen    repeat.Seen // if it is stored
	eventID string
}

// group is what one write and one fsync make durable. Only the writer adds to
// it; once the committer has it, only the committer reads it until the outcome
// is back with the writer.
type group struct {
	entries []*entry
	bytes   int64
	// ends are the requests whose last records are in the group or before it.
	ends               []*request
	repeats, conflicts int
	hold               bool
	signing            signing
	paper              paper
}

func (g *group) empty() bool { return len(g.entries) == 0 && len(g.ends) == 0 }

// room reports whether a number of entries that are made of size bytes together
// fit, whatever they become.
func (g *group) room(entries int, size, limit int64) bool {
	return len(g.entries)+entries <= maxGroupEntries && (len(g.entries) == 0 || g.bytes+size <= limit)
}

func (g *group) add(e *entry) {
	g.entries = append(g.entries, e)
	g.bytes += int64(e.sealed.Size())
}

// lines makes the signatures that nobody else makes, and waits for the others.
func (g *group) lines() ([][]byte, error) {
	if err := errors.Join(g.signRest(), g.signing.wait()); err != nil {
		return nil, err
	}
	lines := make([][]byte, len(g.entries))
	for i, e := range g.entries {
		lines[i] = e.line
	}
	return lines, nil
}

// place tells the entries of a durable group where they stand.
func (g *group) place(at segment.Position) {
	for _, e := range g.entries {
		if e.wanted {
			e.signature = e.sealed.SignatureIn(e.line)
		}
		e.at = at
		at.Offset += int64(len(e.line))
	}
}
