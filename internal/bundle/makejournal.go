// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
)

// proving makes the proofs of one journal.
type proving struct {
	id   string
	tree *tiles.Tree
	// anchor is the checkpoint to whose root they lead.
	anchor *journal.SignedCheckpoint
	held   stored
}

// prove prepares the proofs of a journal; nil if no checkpoint of it is there. A
// checkpoint that the journal contradicts is an error: a bundle of it would not
// verify.
func (m *maker) prove(ctx context.Context, l *looking, scratch string) (*proving, error) {
	held, found := m.options.Store.newest(l.id)
	if !found {
		return nil, nil
	}
	anchor, err := readCheckpoint(held.path)
	if err != nil {
		return nil, err
	}
	if _, err := anchor.Signer(m.options.Registry); err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", held.path, err)
	}
	if anchor.Size > l.seen.LastSequence {
		return nil, fmt.Errorf("checkpoint %s counts %d entries and the journal has %d: it is cut off; run readtrail verify", held.path, anchor.Size, l.seen.LastSequence)
	}
	p := &proving{id: l.id, anchor: anchor, held: held}
	from := checkpoint.Journal{FS: durable.OS{}, Dir: l.source.Path, ID: l.id, UpTo: l.seen.LastSequence, Scratch: scratch, Trusted: func(c *journal.SignedCheckpoint) bool {
		_, err := c.Signer(m.options.Registry)
		return err == nil
	}}
	p.tree, _, err = checkpoint.OpenTree(ctx, from)
	if err == nil {
		err = p.check()
	}
	if errors.Is(err, tiles.ErrDamaged) || errors.Is(err, tiles.ErrUnknown) {
		// The cache is of no use.
		if p.tree, err = checkpoint.BuildTree(ctx, from); err == nil {
			err = p.check()
		}
	}
	return p, err
}

func (p *proving) check() error {
	root, err := p.tree.Root(p.anchor.Size)
	if err != nil {
		return err
	}
	if root != p.anchor.Root {
		return fmt.Errorf("the journal has other entries than checkpoint %s: run readtrail verify", p.held.path)
	}
	return nil
}

// writeJournal writes what is taken of a journal and lists it in the manifest.
func (m *maker) writeJournal(ctx context.Context, l *looking) error {
	scratch, err := os.MkdirTemp(m.options.Scratch, "tree-")
	if err != nil {
		return fmt.Errorf("make room for the tree: %w", err)
	}
	defer os.RemoveAll(scratch)
	p, err := m.prove(ctx, l, scratch)
	if err != nil {
		return err
	}
	w := &journalWriter{maker: m, looking: l, proving: p, listed: Journal{
		JournalID: l.id, OrganizationRef: l.scope.OrganizationRef, RetentionClass: l.scope.RetentionClass,
		LookedAt: l.seen, Range: l.stretch, Kinds: map[string]uint64{},
	}}
	if p != nil {
		w.listed.Checkpoint = &Root{Size: p.anchor.Size, Root: spell(p.anchor.Root)}
		if err := w.writeCheckpoints(); err != nil {
			return err
		}
	}
	if err := w.writeEntries(ctx); err != nil {
		return err
	}
	m.manifest.Journals = append(m.manifest.Journals, w.listed)
	return nil
}

// journalWriter writes the artifacts of one journal.
type journalWriter struct {
	*maker
	*looking
	*proving
	listed Journal
}

func (w *journalWriter) journalID() string { return w.looking.id }

// writeCheckpoints writes the checkpoint of the proofs and, of others, those that
// say best when an entry existed.
func (w *journalWriter) writeCheckpoints() error {
	all := []stored{w.held}
	for _, sequence := range w.taken {
		first, found := w.options.Store.first(w.journalID(), sequence)
		if found && first.size < w.anchor.Size && first.size != all[len(all)-1].size {
			all = append(all, first)
		}
	}
	slices.SortFunc(all, func(a, b stored) int {
		if a.size < b.size {
			return -1
		}
		return 1
	})
	for i := range all {
		if err := w.writeCheckpoint(&all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *journalWriter) writeCheckpoint(held *stored) error {
	c, err := readCheckpoint(held.path)
	if err != nil {
		return err
	}
	key, err := c.Signer(w.options.Registry)
	if err != nil || c.Size != held.size || c.Origin != w.journalID() {
		return fmt.Errorf("checkpoint %s: %w", held.path, journal.ErrCheckpointUntrusted)
	}
	w.keys[key.ID] = true
	tokens, err := held.readTokens()
	if err != nil {
		return err
	}
	artifacts := []token{{checkpointSuffix, c.Note}}
	if c.Size != w.anchor.Size {
		path, err := w.tree.ProveConsistency(c.Size, w.anchor.Size)
		switch {
		case errors.Is(err, tiles.ErrUnknown):
			// Its end was pruned: it says nothing that could be checked.
			return nil
		case err != nil:
			return err
		}
		proof := journal.ConsistencyProof{OldSize: c.Size, Path: path, Checkpoint: w.anchor}
		if err := proof.Verify(c.Checkpoint); err != nil {
			return fmt.Errorf("checkpoint %s: %w; run readtrail verify", held.path, err)
		}
		artifacts = append(artifacts, token{consistencySuffix, proof.Format()})
	}
	artifacts = append(artifacts, tokens...)
	slices.SortFunc(artifacts, func(a, b token) int {
		if a.suffix < b.suffix {
			return -1
		}
		return 1
	})
	for _, a := range artifacts {
		if err := w.out.add(checkpointName(w.journalID(), c.Size, a.suffix), a.response); err != nil {
			return err
		}
	}
	return nil
}
