// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/bundle"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newBundleCommand(con *console) *cobra.Command {
	b := &bundling{con: con}
	cmd := &cobra.Command{
		Use:   "bundle TARGET --out FILE",
		Short: "Hand over entries with all that proves them, in one file",
		Long: "Make an evidence bundle of entries: the stored lines, the lineage of their traces, proofs that they stand\n" +
			"in the tree of a checkpoint, checkpoints with cosignatures and time stamps, keys, schemas, and what was left\n" +
			"out and why. TARGET is a root with journals or the directory of one. Several conditions select what meets\n" +
			"all of them; without any every entry is taken. The journals are only read, and a collector may be writing.\n\n" +
			"The manifest is signed by a key of its own, which signs no journal: make one with readtrail keys new.\n" +
			"--with-evidence adds the copies of content that the reads name, encrypted as they are.",
		Example: "  readtrail bundle journal --execution run_1 --checkpoints checkpoints --keys keys.json \\\n" +
			"    --manifest-key manifest/signing-key.pem --out run_1.bundle.tar\n" +
			"  readtrail bundle verify run_1.bundle.tar --keys keys.json --manifest-keys manifest/keys.json",
		Args: arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := b.parse(cmd); err != nil {
				return err
			}
			return b.run(cmd.Context(), args[0])
		},
	}
	flags := cmd.Flags()
	b.filter.register(flags)
	flags.StringVar(&b.decision, "decision", "", "a decision id: selects the executions that it belongs to")
	flags.StringVar(&b.from, "from", "", "the first time of recording, RFC 3339 in UTC")
	flags.StringVar(&b.until, "until", "", "the first time of recording that is no longer taken, RFC 3339 in UTC")
	flags.StringVar(&b.out, "out", "", "the file to write, which must not exist")
	flags.StringVar(&b.keys, "keys", "", "the registry of trusted keys, keys.json")
	flags.StringVar(&b.checkpoints, "checkpoints", "", "the directory where checkpoints are kept, searched to the bottom")
	flags.StringVar(&b.manifestKey, "manifest-key", "", "the key that signs the manifest, PKCS#8 PEM")
	flags.StringArrayVar(&b.stores, "with-evidence", nil, "an evidence store, whose copies are handed over encrypted; may be repeated")
	flags.StringArrayVar(&b.omit, "omit", nil, "leave out an entry and declare it, JOURNAL_ID=SEQUENCE or =FIRST-LAST; may be repeated")
	flags.StringVar(&b.omitReason, "omit-reason", "withheld", "why, a word in lower case")
	cmd.AddCommand(newBundleVerifyCommand(con))
	return cmd
}

// bundling makes one bundle.
type bundling struct {
	con                                 *console
	filter                              filter
	decision, from, until               string
	out, keys, checkpoints, manifestKey string
	stores, omit                        []string
	omitReason                          string
	recordedFrom, recordedUntil         record.Time
	omitted                             []omittedRange
}

// omittedRange is what --omit names.
type omittedRange struct {
	journalID   string
	first, last uint64
}

func (b *bundling) parse(cmd *cobra.Command) error {
	for _, name := range []string{"out", "keys", "checkpoints", "manifest-key"} {
		if cmd.Flag(name).Value.String() == "" {
			return usagef(cmd, "--%s is missing", name)
		}
	}
	for _, name := range []string{"decision", "from", "until"} {
		if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "" {
			return usagef(cmd, "--%s is empty", name)
		}
	}
	if err := b.filter.parse(cmd); err != nil {
		return err
	}
	for _, t := range []struct {
		name, text string
		to         *record.Time
	}{{"from", b.from, &b.recordedFrom}, {"until", b.until, &b.recordedUntil}} {
		if t.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, t.text)
		if err != nil || !strings.HasSuffix(t.text, "Z") {
			return usagef(cmd, "--%s %q is not a time like 2026-10-09T08:12:03Z", t.name, t.text)
		}
		*t.to = record.NewTime(at)
	}
	if b.from != "" && b.until != "" && !b.recordedFrom.Std().Before(b.recordedUntil.Std()) {
		return usagef(cmd, "--from is not before --until")
	}
	for _, text := range b.omit {
		id, sequences, _ := strings.Cut(text, "=")
		f := filter{sequence: sequences}
		if err := f.check(); id == "" || sequences == "" || err != nil {
			return usagef(cmd, "--omit %q is not a journal id and a sequence or range, like jrn_1=7", text)
		}
		b.omitted = append(b.omitted, omittedRange{id, f.first, f.last})
	}
	if !bundle.IsReason(b.omitReason) || b.omitReason == bundle.ReasonPruned {
		return usagef(cmd, "--omit-reason %q is not a word in lower case, or has a meaning of its own", b.omitReason)
	}
	return nil
}

// run reads checkpoints before the journals, so that none is newer than what is read
// of them.
func (b *bundling) run(ctx context.Context, target string) error {
	registry, err := journal.ReadRegistry(b.keys)
	if err != nil {
		return err
	}
	signer, err := journal.NewFileSigner(b.manifestKey)
	if err != nil {
		return err
	}
	store, err := bundle.ReadStore(b.checkpoints)
	if err != nil {
		return err
	}
	sources, err := journal.Open(target)
	if err != nil {
		return err
	}
	for _, source := range sources {
		if info, err := os.Stat(source.Path); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not the directory of a journal, which proofs are made from", source.Path)
		}
	}
	options := bundle.Options{
		Sources: sources, Store: store, Registry: registry, Signer: signer, Selection: b.selection(), Matches: b.matches, Omit: b.reasonFor,
		CopiesOf: digestsOfCopies, Now: time.Now(),
	}
	for _, dir := range b.stores {
		place, err := openStore(ctx, dir)
		if err != nil {
			return err
		}
		options.Copies = append(options.Copies, place)
	}
	manifest, err := b.write(ctx, options)
	if errors.Is(err, fs.ErrExist) {
		return neverOverwritten(b.out, "choose another --out")
	}
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	b.tell(manifest)
	return nil
}

func (b *bundling) selection() bundle.Selection {
	s := bundle.Selection{
		DecisionID: b.decision, ExecutionID: b.filter.execution, Kind: b.filter.kind, ToolCallID: b.filter.toolCall, TraceID: b.filter.trace,
		RecordedFrom: b.recordedFrom, RecordedUntil: b.recordedUntil,
	}
	if b.filter.sequence != "" {
		s.FirstSequence, s.LastSequence = max(b.filter.first, 1), b.filter.last
	}
	return s
}

func (b *bundling) matches(e *journal.Entry) bool {
	return b.filter.matchesEntry(e) && (b.filter.toolCall == "" || b.filter.matchesBody(observe(e)))
}

func (b *bundling) reasonFor(journalID string, sequence uint64) string {
	for _, o := range b.omitted {
		if o.journalID == journalID && sequence >= o.first && sequence <= o.last {
			return b.omitReason
		}
	}
	return ""
}

// digestsOfCopies returns the digests of which a read says that copies are kept.
func digestsOfCopies(e *journal.Entry) ([]string, error) {
	named, err := namedCopies(e)
	digests := make([]string, 0, len(named))
	for _, n := range named {
		digests = append(digests, n.digest)
	}
	return digests, err
}

func openStore(ctx context.Context, dir string) (evidence.Reading, error) {
	place := evidence.Directory{FS: durable.OS{}, Root: filepath.Clean(dir)}
	begun, err := evidence.IsBegun(ctx, place)
	if err == nil && !begun {
		err = errors.New("holds no evidence store")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return place, nil
}

// write writes the bundle beside its name and gives it the name when it is whole.
func (b *bundling) write(ctx context.Context, options bundle.Options) (*bundle.Manifest, error) {
	if _, err := os.Lstat(b.out); err == nil {
		return nil, fs.ErrExist
	}
	scratch, err := os.MkdirTemp(filepath.Dir(b.out), unfinishedPrefix(b.out))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	options.Scratch = scratch
	f, err := os.OpenFile(filepath.Join(scratch, "bundle"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	manifest, err := bundle.Make(ctx, f, options)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	// A link, unlike a rename, replaces nothing; not every file system has links.
	if err := os.Link(f.Name(), b.out); errors.Is(err, fs.ErrExist) {
		return nil, err
	} else if err != nil {
		if err := os.Rename(f.Name(), b.out); err != nil {
			return nil, err
		}
	}
	return manifest, syncDirectory(filepath.Dir(b.out))
}

// tell says what the bundle holds, and what it does not prove.
func (b *bundling) tell(m *bundle.Manifest) {
	var entries, omitted, unproven uint64
	for i := range m.Journals {
		entries += m.Journals[i].Entries
		omitted += m.Journals[i].Omitted
		unproven += m.Journals[i].Unproven
	}
	b.con.line("bundle", b.out)
	b.con.line("journals", fmt.Sprint(len(m.Journals)))
	b.con.line("entries", fmt.Sprint(entries))
	b.con.line("omissions", fmt.Sprint(omitted))
	b.con.line("artifacts", fmt.Sprint(m.Artifacts.Count))
	b.con.line("merkle_root", m.Artifacts.MerkleRoot)
	if unproven > 0 {
		b.con.note("readtrail: %d entries have no proof, since no checkpoint covers them yet: make the bundle again after the next one", unproven)
	}
}
