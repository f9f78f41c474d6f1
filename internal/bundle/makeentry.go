// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"encoding/json/v2"
	"fmt"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
	"github.com/readtrail/readtrail/schema"
)

// writeEntries reads the journal again and writes what is taken of it, each entry
// with its proof.
func (w *journalWriter) writeEntries(ctx context.Context) error {
	if at := w.removed(w.looking); at != nil {
		if err := w.omit(&Omission{FirstSequence: at.FirstSequence, LastSequence: at.LastSequence, Reason: ReasonPruned}, omittedSuffix); err != nil {
			return err
		}
		w.listed.Omitted++
	}
	rest := w.taken
	err := w.each(ctx, func(e *journal.Entry) error {
		if len(rest) == 0 || e.Header.Sequence != rest[0] {
			return nil
		}
		rest = rest[1:]
		return w.writeEntry(e)
	})
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("entry %d is gone: the journal was pruned meanwhile; try again", rest[0])
	}
	return err
}

func (w *journalWriter) writeEntry(e *journal.Entry) error {
	sequence := e.Header.Sequence
	reason := ""
	if w.options.Omit != nil {
		reason = w.options.Omit(w.journalID(), sequence)
	}
	if reason != "" {
		w.listed.Omitted++
		if err := w.omit(&Omission{sequence, sequence, reason, e.Integrity.RecordHash}, omittedSuffix); err != nil {
			return err
		}
		return w.writeProof(e)
	}
	line := append(append(make([]byte, 0, len(e.Line)+1), e.Line...), '\n')
	if err := w.out.add(entryName(w.journalID(), sequence, entrySuffix), line); err != nil {
		return err
	}
	w.listed.Entries++
	w.listed.Kinds[string(e.Kind)]++
	w.keys[e.Integrity.Signature.KeyID] = true
	if schema.Supports(e.Kind, e.SchemaVersion) {
		w.schemas[[2]string{string(e.Kind), e.SchemaVersion}] = true
	}
	if err := w.note(e); err != nil {
		return err
	}
	return w.writeProof(e)
}

// writeProof writes the proof that an entry is in the tree of the checkpoint, or
// declares that there is none.
func (w *journalWriter) writeProof(e *journal.Entry) error {
	sequence := e.Header.Sequence
	if w.proving == nil || sequence > w.anchor.Size {
		w.listed.Unproven++
		return w.omit(&Omission{FirstSequence: sequence, LastSequence: sequence, Reason: ReasonNotCovered}, unprovenSuffix)
	}
	path, err := w.tree.ProveInclusion(sequence-1, w.anchor.Size)
	if err != nil {
		return fmt.Errorf("prove entry %d: %w", sequence, err)
	}
	proof := journal.InclusionProof{Index: sequence - 1, Path: path, Checkpoint: w.anchor}
	if err := proof.Verify(e.PayloadDigest()); err != nil {
		return fmt.Errorf("prove entry %d: %w; run readtrail verify", sequence, err)
	}
	return w.out.add(entryName(w.journalID(), sequence, proofSuffix), proof.Format())
}

func (w *journalWriter) omit(o *Omission, suffix string) error {
	text, err := canonical(o)
	if err != nil {
		return err
	}
	name := entryName(w.journalID(), o.FirstSequence, suffix)
	if suffix == omittedSuffix {
		name = rangeName(w.journalID(), o.FirstSequence, o.LastSequence)
	}
	return w.out.add(name, text)
}

// note counts what a read keeps of its content and remembers its copies.
func (w *journalWriter) note(e *journal.Entry) error {
	if e.Kind != record.KindRead || !schema.Supports(e.Kind, e.SchemaVersion) {
		return nil
	}
	r, err := redactionOf(e)
	if err != nil {
		return err
	}
	w.redactions[r]++
	if err := within(len(w.redactions)); err != nil || w.options.Copies == nil {
		return err
	}
	return w.nameCopies(e)
}

// redactionOf returns what a read keeps of its content, counted as nothing.
func redactionOf(e *journal.Entry) (Redaction, error) {
	var read record.Read
	if err := json.Unmarshal(e.Body, &read); err != nil {
		return Redaction{}, fmt.Errorf("entry %d: %w", e.Header.Sequence, errNotEntry)
	}
	return Redaction{ContentStored: string(read.Retention.ContentStored), RedactionProfile: read.Retention.RedactionProfile}, nil
}
