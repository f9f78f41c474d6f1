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
	var dir, validFrom string
	cmd := &cobra.Command{
		Use:   "new --out DIR",
		Short: "Make an Ed25519 signing key and add it to the registry of trusted keys",
		Long: "Make an Ed25519 signing key.\n\n" +
			"DIR/" + keyFile + " is the private key (PKCS#8 PEM, mode 0600). It is never overwritten.\n" +
			"DIR/" + registryFile + " is the registry of trusted keys, without any secret. If it exists, the\n" +
			"new key is added to it.",
		Example: "  readtrail keys new --out keys",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usagef(cmd, "--out DIR is missing")
			}
			from := time.Now()
			if cmd.Flags().Changed("valid-from") {
				var err error
				if from, err = parseValidFrom(validFrom); err != nil {
					return usagef(cmd, "--valid-from %q %w", validFrom, err)
				}
			}
			return newKey(con, dir, from)
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "directory to write to; made if it does not exist")
	cmd.Flags().StringVar(&validFrom, "valid-from", "", "when the key becomes valid, RFC 3339 in whole seconds (default now)")
	return cmd
}

// parseValidFrom reads a time of whole seconds, which is what keys are given.
func parseValidFrom(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || strings.ContainsAny(s, ".,") {
		return time.Time{}, errors.New("is not a time of whole seconds like 2026-10-09T08:12:03Z")
	}
	if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}, errors.New("is not in the years 1970 to 9999")
	}
	return t, nil
}

// readRegistryOf reads the registry that a new key is added to.
func readRegistryOf(path string) (*journal.Registry, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s: is a link, in whose place a registry of its own would come: name the directory of its target with --out", path)
	}
	registry, err := journal.ReadRegistry(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &journal.Registry{}, nil
	}
	return registry, err
}

func newKey(con *console, dir string, from time.Time) error {
	keyPath, registryPath := filepath.Join(dir, keyFile), filepath.Join(dir, registryFile)
	registry, err := readRegistryOf(registryPath)
	if err != nil {
		return err
	}
	pem, key, err := journal.NewKey(from)
	if err != nil {
		return err
	}
	if err := registry.Add(key); err != nil {
		return err
	}
	text, err := registry.Marshal()
	if err != nil {
		return err
	}
	if _, err := journal.ParseRegistry(text); err != nil {
		return fmt.Errorf("%s: could not be read again with one more key: %w", registryPath, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	if err := createKeyFile(keyPath, pem); err != nil {
		return err
	}
	switch replaced, err := replaceFile(registryPath, text, 0o644); {
	case err != nil && replaced:
		// Whoever read the registry trusts the key already, so both halves stay.
		return fmt.Errorf("key %s and the registry with it are written but may be lost if the machine stops now: sync the disk of %s: %w", key.ID, dir, err)
	case err != nil:
		// A key that no registry holds must not come into use.
		return alsoRemove(err, keyPath)
	}
	fmt.Fprintf(con.out, "key_id: %s\nsigning_key: %s\nregistry: %s\n\n", key.ID, escape(keyPath), escape(registryPath))
	fmt.Fprintf(con.out, "%s is secret: keep it beside the collector (signing_key: {file: ...}), readable by it alone.\n", keyFile)
	fmt.Fprintf(con.out, "%s is not: give it to the auditor by a way of its own, apart from the journal.\n", registryFile)
	return nil
}

// createKeyFile writes a private key to a file that did not exist.
func createKeyFile(path string, pem []byte) error {
	err := writeNew(path, pem, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return neverOverwritten(path, "move it beside the collector or choose another --out")
	}
	return err
}
