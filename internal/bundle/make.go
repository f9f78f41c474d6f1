// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/readtrail/readtrail/internal/evidence"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Options say what to bundle.
type Options struct {
	// Sources are the journals, directories each, opened after Store was read.
	Sources []*journal.Source
	Store   *Store
	// Registry holds the keys that are trusted now.
	Registry *journal.Registry
	// Signer signs the manifest. Its key must not be one of Registry.
	Signer    journal.Signer
	Selection Selection
	// Matches says whether an entry meets the conditions of Selection that are about
	// an entry alone: all but the decision, the sequences and the times.
	Matches func(*journal.Entry) bool
	// Omit returns a reason, a token in lower case, if an entry of the selection is to
	// be left out; nil leaves out none.
	Omit func(journalID string, sequence uint64) string
	// Copies are stores of copies of content; the encrypted objects that the reads
	// name are handed over as they are. Nil hands over none.
	Copies []evidence.Reading
	// CopiesOf returns the digests of which a read says that copies are kept.
	CopiesOf func(*journal.Entry) ([]string, error)
	Now      time.Time
	// Scratch is a directory for what is too large for memory.
	Scratch string
}

// ErrNothing says that no entry was selected.
var ErrNothing = errors.New("no entry matches")

// Make writes a bundle. Journals are only read. What cannot be handed over whole is
// an error, or an omission that the bundle declares.
func Make(ctx context.Context, out io.Writer, o Options) (*Manifest, error) {
	if _, found := o.Registry.Key(o.Signer.KeyID()); found {
		return nil, fmt.Errorf("key %s signs journals: a manifest needs a key of its own, make one with: readtrail keys new --out DIR", o.Signer.KeyID())
	}
	m := &maker{options: &o, out: newOutput(out, o.Scratch), manifest: Manifest{
		MadeAt: record.NewTime(o.Now), MadeBy: journal.VerifierVersion, Selection: o.Selection, Redactions: []Redaction{},
	}}
	defer m.out.discard()
	if err := m.make(ctx); err != nil {
		return nil, err
	}
	return &m.manifest, nil
}

type maker struct {
	options  *Options
	out      *output
	manifest Manifest
	// keys and schemas are those that the entries need; copies the digests of which
	// they name copies.
	keys       map[string]bool
	schemas    map[[2]string]bool
	redactions map[Redaction]uint64
	copies     map[copyKey]bool
	// traces and executions are those of what was selected, and actions those that it
	// names.
	traces, executions map[string]bool
	actions            map[actionName]bool
}

// maxJoined bounds the traces, executions and copies of one bundle.
const maxJoined = 1_000_000

func (m *maker) make(ctx context.Context) error {
	m.keys, m.schemas, m.redactions, m.copies = map[string]bool{}, map[[2]string]bool{}, map[Redaction]uint64{}, map[copyKey]bool{}
	m.traces, m.executions, m.actions = map[string]bool{}, map[string]bool{}, map[actionName]bool{}
	looked, err := m.lookAll(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(looked, func(a, b *looking) int { return cmp.Compare(journalDir(a.id), journalDir(b.id)) })
	taken := 0
	for i, l := range looked {
		if i > 0 && l.id == looked[i-1].id {
			return fmt.Errorf("%s and %s are the same journal: name one of them", looked[i-1].source.Path, l.source.Path)
		}
		taken += len(l.taken)
	}
	if taken == 0 {
		return ErrNothing
	}
	for _, l := range looked {
		if err := m.writeJournal(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", l.source.Path, err)
		}
	}
	if err := m.writeKeys(); err != nil {
		return err
	}
	if err := m.writeCopies(ctx); err != nil {
		return err
	}
	if err := m.writeSchemas(); err != nil {
		return err
	}
	for r, n := range m.redactions {
		r.Reads = n
		m.manifest.Redactions = append(m.manifest.Redactions, r)
	}
	slices.SortFunc(m.manifest.Redactions, func(a, b Redaction) int {
		return cmp.Or(cmp.Compare(a.RedactionProfile, b.RedactionProfile), cmp.Compare(a.ContentStored, b.ContentStored))
	})
	return m.out.finish(&m.manifest, m.options.Signer)
}
