// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
)

func newProofCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proof",
		Short: "Prove that a checkpoint covers an entry, or continues another checkpoint",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newProofMakeCommand(con), newProofConsistencyCommand(con), newProofVerifyCommand(con))
	return cmd
}

func newProofMakeCommand(con *console) *cobra.Command {
	p := &proving{con: con}
	var checkpointPath string
	cmd := &cobra.Command{
		Use:   "make JOURNAL SEQUENCE --checkpoint FILE",
		Short: "Prove that an entry is in the tree of a checkpoint",
		Long: "Make a proof (c2sp.org/tlog-proof) that the entry with a sequence is in the tree of a checkpoint. JOURNAL is\n" +
			"the directory of one journal. Whoever has the entry, the proof and the registry needs nothing else to\n" +
			"know that the entry stood there. The journal is only read; with --keys its cached tree is used.",
		Example: "  readtrail proof make journal/demo-bank/kyc/reads 4 --checkpoint 00000000000000000007.checkpoint --out 4.tlog-proof",
		Args:    arguments("JOURNAL", "SEQUENCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			sequence, err := strconv.ParseUint(args[1], 10, 53)
			if err != nil || sequence == 0 {
				return usagef(cmd, "%q is not a sequence", args[1])
			}
			if checkpointPath == "" {
				return usagef(cmd, "--checkpoint FILE is missing")
			}
			if err := p.load(cmd); err != nil {
				return err
			}
			c, err := readCheckpoint(checkpointPath)
			if err != nil {
				return err
			}
			return p.run(cmd.Context(), args[0], c, func(tree *tiles.Tree) ([]byte, error) {
				path, err := tree.ProveInclusion(sequence-1, c.Size)
				if err != nil {
					return nil, fmt.Errorf("prove entry %d: %w", sequence, err)
				}
				proof := journal.InclusionProof{Index: sequence - 1, Path: path, Checkpoint: c}
				return proof.Format(), nil
			})
		},
	}
	p.register(cmd)
	cmd.Flags().StringVar(&checkpointPath, "checkpoint", "", "the checkpoint, a signed note")
	return cmd
}

func newProofConsistencyCommand(con *console) *cobra.Command {
	p := &proving{con: con}
	cmd := &cobra.Command{
		Use:   "consistency JOURNAL OLDER NEWER",
		Short: "Prove that one checkpoint continues another",
		Long: "Make a proof that the tree of one checkpoint continues that of an older one: that no entry of the older one\n" +
			"was changed, removed or put in between. The text is that of c2sp.org/tlog-witness: the older size, the\n" +
			"hashes, an empty line, and the newer checkpoint.",
		Example: "  readtrail proof consistency journal/demo-bank/kyc/reads old.checkpoint new.checkpoint --out consistency.txt",
		Args:    arguments("JOURNAL", "OLDER", "NEWER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.load(cmd); err != nil {
				return err
			}
			older, err := readCheckpoint(args[1])
			if err != nil {
				return err
			}
			newer, err := readCheckpoint(args[2])
			if err != nil {
				return err
			}
			return p.run(cmd.Context(), args[0], newer, func(tree *tiles.Tree) ([]byte, error) {
				path, err := tree.ProveConsistency(older.Size, newer.Size)
				if err != nil {
					return nil, fmt.Errorf("prove consistency: %w", err)
				}
				proof := journal.ConsistencyProof{OldSize: older.Size, Path: path, Checkpoint: newer}
				if err := proof.Verify(older.Checkpoint); err != nil {
					return nil, fmt.Errorf("%s: %w", args[1], err)
				}
				return proof.Format(), nil
			})
		},
	}
	p.register(cmd)
	return cmd
}

// proving makes a proof from a journal.
type proving struct {
	con   *console
	trust trust
	out   string
}

func (p *proving) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.trust.keys, "keys", "", "the registry of trusted keys, keys.json: with it the journal's cached tree is believed")
	cmd.Flags().StringVar(&p.out, "out", "", "a file to write to, which must not exist (default standard output)")
}

func (p *proving) load(cmd *cobra.Command) error {
	if cmd.Flags().Changed("out") && p.out == "" {
		return usagef(cmd, "--out is empty")
	}
	return p.trust.load(cmd)
}

// run makes a proof for a checkpoint, if the journal has its root. A tree that is
// built anew is written beside no journal.
func (p *proving) run(ctx context.Context, dir string, c *journal.SignedCheckpoint, prove func(*tiles.Tree) ([]byte, error)) error {
	scratch, err := os.MkdirTemp("", "readtrail-tree-")
	if err != nil {
		return fmt.Errorf("make room for the tree: %w", err)
	}
	defer os.RemoveAll(scratch)
	from := checkpoint.Journal{FS: durable.OS{}, Dir: dir, ID: c.Origin, Trusted: p.trust.trusted, UpTo: c.Size, Scratch: scratch}
	tree, _, err := checkpoint.OpenTree(ctx, from)
	var proof []byte
	if err == nil {
		proof, err = p.prove(dir, tree, c, prove)
	}
	if errors.Is(err, tiles.ErrDamaged) || errors.Is(err, tiles.ErrUnknown) {
		// The cache is of no use.
		if tree, err = checkpoint.BuildTree(ctx, from); err == nil {
			proof, err = p.prove(dir, tree, c, prove)
		}
	}
	if err != nil {
		return err
	}
	if p.out == "" {
		_, err = p.con.out.Write(proof)
		return err
	}
	if err := writeNew(p.out, proof, 0o644); errors.Is(err, fs.ErrExist) {
		return neverOverwritten(p.out, "choose another --out")
	} else if err != nil {
		return err
	}
	p.con.note("%s: written, and it leads to the root of the checkpoint", p.out)
	return nil
}

func (p *proving) prove(dir string, tree *tiles.Tree, c *journal.SignedCheckpoint, prove func(*tiles.Tree) ([]byte, error)) ([]byte, error) {
	if tree.Size() == 0 {
		return nil, fmt.Errorf("%s: %w", dir, journal.ErrNoJournal)
	}
	if c.Size > tree.Size() {
		return nil, fmt.Errorf("the checkpoint counts %d entries and %s has %d: it is cut off, or not that journal", c.Size, dir, tree.Size())
	}
	root, err := tree.Root(c.Size)
	if err != nil {
		return nil, fmt.Errorf("root of %d entries: %w", c.Size, err)
	}
	if root != c.Root {
		return nil, fmt.Errorf("%s has other entries than the checkpoint of %d: run readtrail verify on it", dir, c.Size)
	}
	return prove(tree)
}
