// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/hsm"
	"github.com/readtrail/readtrail/journal"
)

// tokenFlags name a PKCS#11 token and a key in it.
type tokenFlags struct {
	module, token, label string
	pinFile, pinEnv      string
}

func (f *tokenFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.module, "pkcs11-module", "", "make the key in a token: the path of its PKCS#11 library")
	cmd.Flags().StringVar(&f.token, "token", "", "label of the token")
	cmd.Flags().StringVar(&f.label, "label", "", "label of the new key, which no other key of the token has")
	cmd.Flags().StringVar(&f.pinFile, "pin-file", "", "file with the user's PIN, readable by its owner only")
	cmd.Flags().StringVar(&f.pinEnv, "pin-env", "", "environment variable with the user's PIN")
}

// read returns nil if no token is named.
func (f *tokenFlags) read(cmd *cobra.Command) (*hsm.Config, error) {
	if f.module == "" {
		for _, name := range []string{"pkcs11-module", "token", "label", "pin-file", "pin-env"} {
			if cmd.Flags().Changed(name) {
				return nil, usagef(cmd, "--pkcs11-module PATH is missing")
			}
		}
		return nil, nil
	}
	c := &hsm.Config{Module: f.module, TokenLabel: f.token, KeyLabel: f.label}
	switch {
	case f.token == "":
		return nil, usagef(cmd, "--token LABEL is missing")
	case f.label == "":
		return nil, usagef(cmd, "--label LABEL is missing")
	case (f.pinFile == "") == (f.pinEnv == ""):
		return nil, usagef(cmd, "give one of --pin-file and --pin-env")
	case f.pinFile != "":
		c.PIN = hsm.FilePIN(f.pinFile)
	default:
		c.PIN = hsm.EnvPIN(f.pinEnv)
	}
	if err := c.Check(); err != nil {
		return nil, usagef(cmd, "--pkcs11-module: %w", err)
	}
	return c, nil
}

// newTokenKey makes a key in a token and adds it to the registry of a directory.
func newTokenKey(con *console, dir string, c *hsm.Config, from time.Time) error {
	unlock, err := enter(dir)
	if err != nil {
		return err
	}
	defer unlock()
	registryPath := filepath.Join(dir, registryFile)
	var key journal.Key
	var unsynced error
	err = hsm.Generate(*c, func(public ed25519.PublicKey) error {
		key = journal.TrustedKey(public, from)
		trusted, err := addKey(registryPath, key)
		if err != nil && trusted {
			unsynced = mayBeLost(key.ID, dir, err)
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "key_id: %s\ntoken: %s\nlabel: %s\nregistry: %s\n\n", key.ID, escape(c.TokenLabel), escape(c.KeyLabel), escape(registryPath))
	fmt.Fprintf(con.out, "The private key cannot leave the token. Configure it (signing_key: {pkcs11: {module, token_label, key_label, pin}});\n"+
		"if it takes over from another key, name that one in outgoing_keys until every journal has handed over.\n")
	tellAboutRegistry(con)
	return unsynced
}
