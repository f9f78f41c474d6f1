// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newProofVerifyCommand(con *console) *cobra.Command {
	v := &proofVerification{con: con}
	cmd := &cobra.Command{
		Use:   "verify FILE (--entry FILE | --older FILE) --keys FILE",
		Short: "Check a proof, without the journal",
		Long: "Check that a proof leads from an entry to a checkpoint (--entry), or that its checkpoint continues an older one\n" +
			"(--older), and who stands behind the checkpoints. The journal is not needed. An entry is one line of a\n" +
			"segment, in a file of its own.\n\n" +
			"Exit codes: 0 it holds; 1 it does not, or no trusted key signed; 2 something could not be checked; 64 the\n" +
			"command line is wrong.",
		Example: "  readtrail proof verify 4.tlog-proof --entry entry.json --keys keys.json",
		Args:    arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (v.entry == "") == (v.older == "") {
				return usagef(cmd, "one of --entry FILE and --older FILE is needed")
			}
			if err := v.trust.load(cmd); err != nil {
				return err
			}
			text, err := durable.ReadWhole(durable.OS{}, args[0], journal.MaxProofBytes)
			if err != nil {
				return fmt.Errorf("read proof: %w", err)
			}
			code, err := v.check(args[0], text)
			if err == nil && code != exitOK {
				err = verdict(code)
			}
			return err
		},
	}
	v.trust.register(cmd)
	cmd.Flags().StringVar(&v.entry, "entry", "", "the entry that the proof is about, one line of a segment")
	cmd.Flags().StringVar(&v.older, "older", "", "the checkpoint that the proof's continues")
	return cmd
}

// proofVerification checks one proof.
type proofVerification struct {
	con          *console
	trust        trust
	entry, older string
}

func (v *proofVerification) check(path string, text []byte) (int, error) {
	if v.older != "" {
		return v.consistency(path, text)
	}
	return v.inclusion(path, text)
}

// inclusion checks that the entry is the one at the proof's place: of that
// journal, with that sequence, and with the hash that it says.
func (v *proofVerification) inclusion(path string, text []byte) (int, error) {
	proof, err := journal.ParseProof(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	line, err := durable.ReadWhole(durable.OS{}, v.entry, record.MaxEntryBytes+1)
	if err != nil {
		return 0, fmt.Errorf("read entry: %w", err)
	}
	entry, err := journal.ParseLine(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", v.entry, err)
	}
	v.con.line("journal_id", proof.Checkpoint.Origin)
	v.con.line("sequence", fmt.Sprint(proof.Index+1))
	v.con.line("tree_size", fmt.Sprint(proof.Checkpoint.Size))
	digest := entry.PayloadDigest()
	fault := ""
	switch {
	case journal.SpellHash(digest) != entry.Integrity.RecordHash:
		fault = string(journal.CodeRecordHashMismatch)
	case entry.Header.JournalID != "" && entry.Header.JournalID != proof.Checkpoint.Origin:
		fault = string(journal.CodeJournalIDMismatch)
	case entry.Header.Sequence != proof.Index+1:
		fault = "entry has another sequence"
	default:
		if err := proof.Verify(digest); err != nil {
			fault = err.Error()
		}
	}
	return v.conclude("inclusion", fault, proof.Checkpoint, entry.Header.RecordedAt), nil
}

func (v *proofVerification) consistency(path string, text []byte) (int, error) {
	proof, err := journal.ParseConsistencyProof(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	older, err := readCheckpoint(v.older)
	if err != nil {
		return 0, err
	}
	v.con.line("journal_id", proof.Checkpoint.Origin)
	v.con.line("older_size", fmt.Sprint(older.Size))
	v.con.line("tree_size", fmt.Sprint(proof.Checkpoint.Size))
	fault := ""
	if err := proof.Verify(older.Checkpoint); err != nil {
		fault = err.Error()
	}
	code := v.conclude("consistency", fault, proof.Checkpoint, record.Time{})
	if v.trust.registry == nil {
		return code, nil
	}
	if old := v.trust.judgeSigner(v.con, "older_signature", older, v.trust.attested(older, time.Time{}), record.Time{}); old == exitBroken || code == exitOK {
		return old, nil
	}
	return code, nil
}

// conclude prints what was found of the proof and of its checkpoint: each stands for
// itself.
func (v *proofVerification) conclude(name, fault string, c *journal.SignedCheckpoint, notBefore record.Time) int {
	code := v.trust.judge(v.con, c, time.Time{}, notBefore)
	if fault != "" {
		v.con.line(name, "failed "+fault)
		return exitBroken
	}
	v.con.line(name, "valid")
	return code
}
