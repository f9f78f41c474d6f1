// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
)

// The files that keys new writes.
const (
	keyFile      = "signing-key.pem"
	registryFile = "keys.json"
)

func newKeysNewCommand(con *console) *cobra.Command {
	var dir string
	var from validFrom
	var token tokenFlags
	cmd := &cobra.Command{
		Use:   "new --out DIR",
		Short: "Make an Ed25519 signing key and add it to the registry of trusted keys",
		Long: "Make an Ed25519 signing key.\n\n" +
			"DIR/" + keyFile + " is the private key (PKCS#8 PEM, mode 0600). It is never overwritten.\n" +
			"DIR/" + registryFile + " is the registry of trusted keys, without any secret. If it exists, the\n" +
			"new key is added to it.\n\n" +
			"With --pkcs11-module the key is made in a token (a hardware security module) and never leaves\n" +
			"it; only the registry is written then.",
		Example: "  readtrail keys new --out keys\n" +
			"  readtrail keys new --out keys --pkcs11-module /usr/lib/softhsm/libsofthsm2.so --token journal --label journal-2026 --pin-file pin",
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usagef(cmd, "--out DIR is missing")
			}
			at, err := from.read(cmd)
			if err != nil {
				return err
			}
			inToken, err := token.read(cmd)
			switch {
			case err != nil:
				return err
			case inToken != nil:
				return newTokenKey(con, dir, inToken, at)
			}
			return newKey(con, dir, at)
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "directory to write to; made if it does not exist")
	from.register(cmd)
	token.register(cmd)
	return cmd
}

// validFrom is the flag that says when a new key becomes valid.
type validFrom struct{ text string }

func (v *validFrom) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.text, "valid-from", "", "when the key becomes valid, RFC 3339 in whole seconds (default now)")
}

func (v *validFrom) read(cmd *cobra.Command) (time.Time, error) {
	if !cmd.Flags().Changed("valid-from") {
		return time.Now(), nil
	}
	at, err := parseSeconds(v.text)
	if err != nil {
		return time.Time{}, usagef(cmd, "--valid-from %q %w", v.text, err)
	}
	return at, nil
}

// parseSeconds reads a time of whole seconds, which is what keys are given.
func parseSeconds(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || strings.ContainsAny(s, ".,") {
		return time.Time{}, errors.New("is not a time of whole seconds like 2026-10-09T08:12:03Z")
	}
	if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, errors.New("is not in the years 1970 to 9999")
	}
	return t, nil
}

// enter makes a directory and locks it.
func enter(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	return lockDir(dir)
}

func newKey(con *console, dir string, from time.Time) error {
	unlock, err := enter(dir)
	if err != nil {
		return err
	}
	defer unlock()
	keyPath, registryPath := filepath.Join(dir, keyFile), filepath.Join(dir, registryFile)
	pem, key, err := journal.NewKey(from)
	if err != nil {
		return err
	}
	if err := createKeyFile(keyPath, pem); err != nil {
		return err
	}
	switch trusted, err := addKey(registryPath, key); {
	case err != nil && trusted:
		return mayBeLost(key.ID, dir, err)
	case err != nil:
		// A key that no registry holds must not come into use.
		return alsoRemove(err, keyPath)
	}
	fmt.Fprintf(con.out, "key_id: %s\nsigning_key: %s\nregistry: %s\n\n", key.ID, escape(keyPath), escape(registryPath))
	fmt.Fprintf(con.out, "%s is secret: keep it beside the collector (signing_key: {file: ...}), readable by it alone.\n", keyFile)
	tellAboutRegistry(con)
	return nil
}

func tellAboutRegistry(con *console) {
	fmt.Fprintf(con.out, "%s is not: give it to the auditor by a way of its own, apart from the journal.\n", registryFile)
}

// mayBeLost says that a key and its trust stay although a sync failed: whoever read
// the registry trusts the key already.
func mayBeLost(id, dir string, err error) error {
	return fmt.Errorf("key %s and the registry with it are written but may be lost if the machine stops now: sync the disk of %s: %w", id, dir, err)
}

// createKeyFile writes a private key to a file that did not exist.
func createKeyFile(path string, pem []byte) error {
	err := writeNew(path, pem, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return neverOverwritten(path, "move it beside the collector or choose another --out; to change the key of a collector use readtrail keys rotate")
	}
	return err
}
