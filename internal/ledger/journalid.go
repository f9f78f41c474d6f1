// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
)

var errNameless = errors.New("no entry says which journal it is; restore the missing segments")

// JournalID returns the id of the journal in a directory, which may be written
// meanwhile: that of the first entry which says it. An audit event does not, whose
// dictionary has no place for it (contract 14).
func JournalID(fs durable.FS, dir string) (string, error) {
	for line, err := range segment.Lines(fs, dir, segment.Position{}) {
		if errors.Is(err, segment.ErrNoLine) {
			break // written this moment
		}
		if err != nil {
			return "", err
		}
		e, err := journal.ParseLine(line.Bytes)
		if err != nil {
			return "", err
		}
		if e.Header.JournalID != "" {
			return e.Header.JournalID, nil
		}
	}
	return "", errNameless
}

// name has a check know the journal of which no line that it saw says which it is.
func (w *writer) name(c *check) (err error) {
	if c.journalID == "" && c.last.Sequence > 0 {
		c.journalID, err = JournalID(w.ledger.options.FS, w.ledger.options.Dir)
	}
	return err
}
