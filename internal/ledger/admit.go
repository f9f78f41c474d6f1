// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/journal"
)

// admitTail says whether the writer may go on behind the intact lines that a check
// found, before it cuts what is torn behind them: not if one of them has a
// signature that does not hold, if a place outside counts more entries, or if the
// last one is by a key that is not there.
func (w *writer) admitTail(c *check, torn []byte) error {
	if err := c.signatures.wait(); err != nil {
		return err
	}
	if err := w.name(c); err != nil {
		return err
	}
	if err := w.checkAttested(c, torn); err != nil {
		return err
	}
	// A try: what it decides is decided again once the tail is durable.
	signer, incoming, head := w.signer, w.incoming, w.head
	_, err := w.bridgeFrom(c.keyID, c.handsOverTo)
	w.signer, w.incoming, w.head = signer, incoming, head
	return err
}

// checkAttested refuses a journal that lacks entries which a checkpoint counts.
// Only a journal that was just opened is asked about: of one that runs, what was
// durable is known, and no disk trouble waits for a place outside.
func (w *writer) checkAttested(c *check, torn []byte) error {
	o, size := &w.ledger.options, c.last.Sequence
	if o.Attested == nil || c.journalID == "" || w.durable.Sequence > 0 {
		return nil
	}
	attested, err := o.Attested(w.ledger.ctx, c.journalID, size)
	switch {
	case errors.Is(err, ErrContradicted):
		return fmt.Errorf("%w%s", err, damagedTail(size, torn))
	case err != nil:
		o.Observer.failed(fmt.Errorf("ask for the last checkpoint of %s: %w; opened without knowing whether entries are missing at its end", c.journalID, err))
	case attested != nil && attested.Size > size:
		return fmt.Errorf("%w: a checkpoint counts %d entries, and %s has %d; restore the missing segments, or begin a new directory and keep this one%s",
			ErrRolledBack, attested.Size, c.journalID, size, damagedTail(size, torn))
	}
	return nil
}

// damagedTail says what else stands behind the last intact entry of a journal that
// is refused, "" if nothing does.
func damagedTail(size uint64, torn []byte) string {
	if len(torn) == 0 {
		return ""
	}
	whole := 0
	for line := range bytes.Lines(torn) {
		line, terminated := bytes.CutSuffix(line, []byte{'\n'})
		e, err := journal.ParseLine(line)
		if terminated && err == nil && journal.SpellHash(e.PayloadDigest()) == e.Integrity.RecordHash {
			whole++
		}
	}
	return fmt.Sprintf("; behind entry %d stand %d bytes that do not continue it, with %d whole entries among them: nothing was changed, "+
		"keep the files as they are and run: readtrail verify", size, len(torn), whole)
}
