// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
)

// trust is whose word on a checkpoint counts.
type trust struct {
	keys      string
	vkeys     []string
	rootsPath string

	registry  *journal.Registry
	witnesses []journal.Witness
	roots     *x509.CertPool
}

func (t *trust) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.keys, "keys", "", "the registry of trusted keys, keys.json")
	cmd.Flags().StringArrayVar(&t.vkeys, "witness", nil, "the verifier key of a witness whose cosignature must be there (repeatable)")
}

// load reads what the flags name.
func (t *trust) load(cmd *cobra.Command) (err error) {
	if cmd.Flags().Changed("keys") {
		if t.keys == "" {
			return usagef(cmd, "--keys is empty")
		}
		if t.registry, err = journal.ReadRegistry(t.keys); err != nil {
			return err
		}
	}
	for _, vkey := range t.vkeys {
		w, err := journal.ParseWitness(vkey)
		if err != nil {
			return usagef(cmd, "--witness is %w", err)
		}
		t.witnesses = append(t.witnesses, w)
	}
	if t.rootsPath != "" {
		text, err := os.ReadFile(t.rootsPath)
		if err != nil {
			return fmt.Errorf("read roots: %w", err)
		}
		t.roots = x509.NewCertPool()
		if !t.roots.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s holds no certificate in PEM", t.rootsPath)
		}
	}
	return nil
}

// trusted says whether a trusted key signed a checkpoint.
func (t *trust) trusted(c *journal.SignedCheckpoint) bool {
	if t.registry == nil {
		return false
	}
	_, err := c.Signer(t.registry)
	return err == nil
}

// judge prints who stands behind a checkpoint and returns the exit code for it.
func (t *trust) judge(con *console, c *journal.SignedCheckpoint) int {
	code := exitOK
	switch key, err := t.signer(c); {
	case t.registry == nil:
		con.line("signature", "not_performed")
		con.note("readtrail: no --keys FILE, so nobody says who signed the checkpoint")
		code = exitUnchecked
	case err != nil:
		con.line("signature", "failed checkpoint_signature_invalid")
		return exitBroken
	default:
		con.line("signature", "valid "+key.ID)
	}
	for _, w := range t.witnesses {
		if at := c.Cosignatures([]journal.Witness{w}); len(at) == 1 {
			con.line("witness", fmt.Sprintf("valid %s %s", at[0].At.Format(time.RFC3339), at[0].By))
			continue
		}
		con.line("witness", "none "+w.Name)
		code = exitUnchecked
	}
	return code
}

func (t *trust) signer(c *journal.SignedCheckpoint) (journal.Key, error) {
	if t.registry == nil {
		return journal.Key{}, journal.ErrCheckpointUntrusted
	}
	return c.Signer(t.registry)
}
