// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func newCheckpointShowCommand(con *console) *cobra.Command {
	s := &checkpointView{con: con}
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a checkpoint and check who stands behind it",
		Long: "Show a checkpoint: the journal, the number of its entries, the root of the tree over them. With --keys its\n" +
			"signature is checked, with --witness each cosignature, with --roots the time stamps that lie beside the\n" +
			"file. Whether a journal has these entries is for readtrail proof and readtrail verify.\n\n" +
			"Exit codes: 0 what was demanded is there; 1 the signature is none of a trusted key; 2 an attestation that was\n" +
			"demanded is not there or does not count, or no --keys; 64 the command line is wrong.",
		Example: "  readtrail checkpoint show 00000000000000000007.checkpoint --keys keys.json",
		Args:    arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.trust.load(cmd); err != nil {
				return err
			}
			return s.run(args[0])
		},
	}
	s.trust.register(cmd)
	cmd.Flags().StringVar(&s.trust.rootsPath, "roots", "", "a PEM file with the roots of time stamp authorities")
	return cmd
}

// checkpointView prints a checkpoint.
type checkpointView struct {
	con   *console
	trust trust
}

func (s *checkpointView) run(path string) error {
	c, err := readCheckpoint(path)
	if err != nil {
		return err
	}
	s.con.line("journal_id", c.Origin)
	s.con.line("tree_size", fmt.Sprint(c.Size))
	s.con.line("root", hex.EncodeToString(c.Root[:]))
	stamps, first, stamped := []string(nil), time.Time{}, exitOK
	if s.trust.roots != nil {
		stamps, first, stamped = s.timestamps(path, c)
	}
	code := s.trust.judge(s.con, c, first, record.Time{})
	for _, stamp := range stamps {
		s.con.line("timestamp", stamp)
	}
	if code == exitOK {
		code = stamped
	}
	if code != exitOK {
		return verdict(code)
	}
	return nil
}

// timestamps checks the tokens that lie beside a checkpoint. It returns what is to be
// said of each, and the first time that counts, zero if none does.
func (s *checkpointView) timestamps(path string, c *journal.SignedCheckpoint) (said []string, first time.Time, code int) {
	stem := strings.TrimSuffix(filepath.Base(path), ".checkpoint")
	files, err := durable.OS{}.List(filepath.Dir(path))
	if err != nil {
		s.con.note("readtrail: list time stamps: %v", err)
		return nil, first, exitUnchecked
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name, stem+".") || filepath.Ext(f.Name) != ".tsr" {
			continue
		}
		token, err := durable.ReadWhole(durable.OS{}, filepath.Join(filepath.Dir(path), f.Name), journal.MaxTimestampBytes)
		var at journal.Attestation
		if err == nil {
			at, err = c.Timestamp(token, s.trust.roots)
		}
		if err != nil {
			said, code = append(said, fmt.Sprintf("not_counted %s: %v", f.Name, err)), exitUnchecked
			continue
		}
		said = append(said, fmt.Sprintf("valid %s %s", at.At.Format(time.RFC3339), at.By))
		if first.IsZero() || at.At.Before(first) {
			first = at.At
		}
	}
	if said == nil {
		return []string{"none"}, first, exitUnchecked
	}
	return said, first, code
}

// line prints one fact.
func (c *console) line(name, value string) { fmt.Fprintf(c.out, "%s: %s\n", name, escape(value)) }
