// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

func newReceiptCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "receipt",
		Short: "Check what the API answered to a client",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newReceiptVerifyCommand(con))
	return cmd
}

func newReceiptVerifyCommand(con *console) *cobra.Command {
	v := &receiptVerification{con: con}
	cmd := &cobra.Command{
		Use:   "verify FILE --keys FILE",
		Short: "Check receipts, without the journal",
		Long: "Check that a trusted key signed the record hash of each receipt in FILE: one receipt, or an answer that has\n" +
			"some. The signature covers event id, journal, sequence and time through that hash only; whether they are the\n" +
			"entry's shows --entry, and journal and sequence a proof in the receipt. What was not checked is not_performed;\n" +
			"without --entry and without a proof the receipt is tied to nothing, and the exit code is 2.\n\n" +
			"Exit codes: 0 every receipt holds as far as it was checked; 1 one does not; 2 something could not be checked;\n" +
			"64 the command line is wrong.",
		Example: "  readtrail receipt verify receipt.json --keys keys.json\n" +
			"  readtrail receipt verify receipt.json --keys keys.json --entry entry.json",
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.trust.load(cmd); err != nil {
				return err
			}
			if v.trust.registry == nil {
				return usagef(cmd, "--keys FILE is missing")
			}
			code, err := v.run(args[0])
			if err == nil && code != exitOK {
				err = verdict(code)
			}
			return err
		},
	}
	v.trust.register(cmd)
	cmd.Flags().StringVar(&v.entry, "entry", "", "the entry that the receipt is for, one line of a segment")
	return cmd
}

// receiptVerification checks the receipts in one file.
type receiptVerification struct {
	con   *console
	trust trust
	entry string
}

func (v *receiptVerification) run(path string) (code int, err error) {
	text, err := durable.ReadWhole(durable.OS{}, path, journal.MaxReceiptsBytes)
	if err != nil {
		return 0, fmt.Errorf("read receipts: %w", err)
	}
	receipts, err := journal.ParseReceipts(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if v.entry != "" && len(receipts) != 1 {
		return 0, fmt.Errorf("%s has %d receipts, and --entry is about one: give the one in a file of its own", path, len(receipts))
	}
	for i := range receipts {
		if i > 0 {
			fmt.Fprintln(v.con.out)
		}
		found, err := v.check(&receipts[i])
		if err != nil {
			return 0, err
		}
		code = worse(code, found)
	}
	return code, nil
}

// worse returns the exit code of two: broken goes before unchecked.
func worse(a, b int) int {
	if a == exitBroken || b == exitOK {
		return a
	}
	return b
}

// check prints what was found of one receipt: each check stands for itself.
func (v *receiptVerification) check(r *journal.KeptReceipt) (int, error) {
	v.con.line("event_id", r.EventID)
	v.con.line("journal_id", orElse(r.JournalID, "unknown"))
	v.con.line("sequence", fmt.Sprint(r.Sequence))
	v.con.line("record_hash", r.RecordHash)
	code := v.signature(r)
	entry, err := v.matches(r)
	if err != nil {
		return 0, err
	}
	code = worse(code, entry)
	if v.entry == "" && r.Proof == "" {
		v.con.note("readtrail: nothing ties event id, journal, sequence and time to what was signed: give the entry (--entry), or a receipt with a proof (/v1/receipts/EVENT_ID?proof=1)")
		code = worse(code, exitUnchecked)
	}
	return worse(code, v.proof(r)), nil
}

// signature judges who signed. Of a revoked key nothing is valid: the time in the
// receipt is the writer's word.
func (v *receiptVerification) signature(r *journal.KeptReceipt) int {
	if fault := r.Verify(v.trust.registry); fault != "" {
		v.con.line("signature", fmt.Sprintf("failed %s %s", fault, r.KeyID))
		return exitBroken
	}
	if key, _ := v.trust.registry.Key(r.KeyID); !key.RevokedAt.IsZero() {
		v.con.line("signature", "not_performed "+r.KeyID)
		v.con.note("readtrail: key %s is revoked from %s on, and a receipt does not prove when it was signed; verify the journal with its checkpoints", key.ID, key.RevokedAt)
		return exitUnchecked
	}
	v.con.line("signature", "valid "+r.KeyID)
	return exitOK
}

// matches checks the receipt against its entry.
func (v *receiptVerification) matches(r *journal.KeptReceipt) (int, error) {
	if v.entry == "" {
		v.con.line("entry", string(journal.NotPerformed))
		return exitOK, nil
	}
	text, err := readEnvelope(v.entry)
	if err != nil {
		return 0, err
	}
	checked := journal.VerifyEnvelope(text, journal.Options{Registry: v.trust.registry})
	entry, err := journal.ParseEnvelope(text)
	switch {
	case err != nil || checked.Hash != journal.Valid:
		v.con.line("entry", "failed: the file is not an entry that hashes to what it says")
		return exitBroken, nil
	case r.MatchesEntry(entry) != "":
		v.con.line("entry", "failed: it has another "+r.MatchesEntry(entry))
		return exitBroken, nil
	case checked.ExitCode() == exitBroken:
		v.con.line("entry", "failed: see readtrail verify --envelope")
		return exitBroken, nil
	case checked.ExitCode() != exitOK:
		v.con.line("entry", string(journal.NotPerformed)+": see readtrail verify --envelope")
		return exitUnchecked, nil
	}
	v.con.line("entry", string(journal.Valid))
	return exitOK, nil
}

// proof checks the place in the journal, if the receipt has a proof.
func (v *receiptVerification) proof(r *journal.KeptReceipt) int {
	if r.Proof == "" {
		v.con.line("inclusion", string(journal.NotPerformed))
		if r.Checkpoint != "" {
			v.con.line("checkpoint", string(journal.NotPerformed)+": there is no proof that it covers the entry")
			return exitUnchecked
		}
		return exitOK
	}
	proof, err := journal.ParseProof([]byte(r.Proof))
	if err != nil {
		v.con.line("inclusion", "failed: the proof is malformed")
		return exitBroken
	}
	hash, _ := journal.ParseHash(r.RecordHash)
	fault := ""
	switch {
	case r.JournalID != proof.Checkpoint.Origin:
		fault = string(journal.CodeJournalIDMismatch)
	case r.Sequence != proof.Index+1:
		fault = "receipt has another sequence"
	case r.Checkpoint != "" && r.Checkpoint != string(proof.Checkpoint.Note):
		fault = "receipt has another checkpoint than its proof"
	case proof.Verify(hash) != nil:
		fault = journal.ErrNotIncluded.Error()
	}
	if fault != "" {
		v.con.line("inclusion", "failed "+fault)
		return exitBroken
	}
	v.con.line("inclusion", string(journal.Valid))
	v.con.line("tree_size", fmt.Sprint(proof.Checkpoint.Size))
	return v.trust.judge(v.con, proof.Checkpoint, time.Time{}, r.RecordedAt)
}
