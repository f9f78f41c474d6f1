// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
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

// judge prints who stands behind a checkpoint and returns the exit code for it. The
// time stamp is when an authority first attested it, zero if none did; what is not
// older than an entry that it covers was not signed before notBefore.
func (t *trust) judge(con *console, c *journal.SignedCheckpoint, stamped time.Time, notBefore record.Time) int {
	code := t.judgeSigner(con, "signature", c, t.attested(c, stamped), notBefore)
	if code == exitBroken {
		return code
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

// attested returns when a checkpoint was attested: when the last of the witnesses who
// were named cosigned it, or by the time stamp.
func (t *trust) attested(c *journal.SignedCheckpoint, stamped time.Time) time.Time {
	at := time.Time{}
	if cosigned := c.Cosignatures(t.witnesses); len(t.witnesses) > 0 && len(cosigned) == len(t.witnesses) {
		at = slices.MaxFunc(cosigned, func(a, b journal.Attestation) int { return a.At.Compare(b.At) }).At
	}
	if at.IsZero() || !stamped.IsZero() && stamped.Before(at) {
		return stamped
	}
	return at
}

// judgeSigner prints whether a key signed a checkpoint that was trusted for it then, as
// verify --checkpoints judges it. Of a revoked key nothing is valid without a time.
func (t *trust) judgeSigner(con *console, name string, c *journal.SignedCheckpoint, at time.Time, notBefore record.Time) int {
	key, err := t.signer(c)
	switch {
	case t.registry == nil:
		con.line(name, "not_performed")
		con.note("readtrail: no --keys FILE, so nobody says who signed the checkpoint")
		return exitUnchecked
	case err != nil:
		con.line(name, "failed checkpoint_signature_invalid")
		return exitBroken
	}
	problem := key.JudgeCheckpoint(c, at)
	if problem == "" && at.IsZero() && !notBefore.IsZero() {
		problem = key.JudgeCheckpoint(c, notBefore.Std())
	}
	switch {
	case problem != "":
		con.line(name, fmt.Sprintf("failed checkpoint_signature_invalid %s %s", problem, key.ID))
		return exitBroken
	case at.IsZero() && !key.RevokedAt.IsZero():
		con.line(name, "not_performed "+key.ID)
		con.note("readtrail: key %s is revoked from %s on, and nobody outside says when it signed the checkpoint; name a witness that cosigned it, or ask for its time stamp", key.ID, key.RevokedAt)
		return exitUnchecked
	}
	con.line(name, "valid "+key.ID)
	return exitOK
}

// trusted says whether a trusted key signed a checkpoint and may have done so.
func (t *trust) trusted(c *journal.SignedCheckpoint) bool {
	key, err := t.signer(c)
	return err == nil && key.JudgeCheckpoint(c, t.attested(c, time.Time{})) == ""
}

func (t *trust) signer(c *journal.SignedCheckpoint) (journal.Key, error) {
	if t.registry == nil {
		return journal.Key{}, journal.ErrCheckpointUntrusted
	}
	return c.Signer(t.registry)
}
