// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"sync"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// maxGroupEntries bounds a commit group beside its bytes.
const maxGroupEntries = 4096

// entry is an entry that is chained but not yet durable.
type entry struct {
	sealed     *journal.Unsigned
	line       []byte // once signed
	receipt    journal.Receipt
	recordedAt time.Time
	item       *item
	parts      []record.Part // those that are written
	// conflict is the first entry with the same id and another body.
	conflict *first
	// claims says that the entry has the event id that the application gave.
	claims bool
	// at is where the entry stands, once it is durable.
	at segment.Position
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

	signing sync.WaitGroup
	mu      sync.Mutex
	signErr error
}

func (g *group) empty() bool { return len(g.entries) == 0 && len(g.ends) == 0 }

// room reports whether any entry that is made of size bytes fits.
func (g *group) room(size, limit int64) bool {
	return len(g.entries) < maxGroupEntries && (len(g.entries) == 0 || g.bytes+size <= limit)
}

func (g *group) add(e *entry) {
	g.entries = append(g.entries, e)
	g.bytes += int64(e.sealed.Size())
}

// signed notes that one signature is done or failed.
func (g *group) signed(err error) {
	if err != nil {
		g.mu.Lock()
		g.signErr = err
		g.mu.Unlock()
	}
	g.signing.Done()
}

// lines waits for the signatures.
func (g *group) lines() ([][]byte, error) {
	g.signing.Wait()
	if g.signErr != nil {
		return nil, g.signErr
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
		e.at = at
		at.Offset += int64(len(e.line))
	}
}
