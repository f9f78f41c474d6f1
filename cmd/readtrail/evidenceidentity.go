// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"
)

func newEvidenceIdentityCommand(con *console) *cobra.Command {
	return &cobra.Command{
		Use:   "identity FILE",
		Short: "Make an age identity that opens copies, and print its public key",
		Long: "Make an age identity (X25519), as age-keygen does. FILE holds the secret key (mode 0600) and is\n" +
			"never overwritten. The public key is printed: it goes into the recipients of the collector's\n" +
			"evidence_store. Make the identity where copies will be read, not where the collector runs.",
		Example: "  readtrail evidence identity evidence-key.txt",
		Args:    arguments("FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return newIdentity(con, args[0]) },
	}
}

func newIdentity(con *console, path string) error {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return fmt.Errorf("make identity: %w", err)
	}
	text := fmt.Sprintf("# created: %s\n# public key: %s\n%s\n", time.Now().UTC().Format(time.RFC3339), identity.Recipient(), identity)
	err = writeNew(path, []byte(text), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return neverOverwritten(path, "choose another FILE")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "public_key: %s\nidentity: %s\n\n", identity.Recipient(), escape(path))
	fmt.Fprintf(con.out, "%s is secret: whoever has it can read every copy that is encrypted to the public key, and without it\n"+
		"nobody can. Keep it and a second copy of it away from the collector.\n", escape(path))
	fmt.Fprint(con.out, "The public key is not: give it to the collector (evidence_store: {recipients: [{keys: [...]}]}).\n")
	return nil
}
