// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/journal"
)

// registryFlag names the registry that a command changes or shows.
func registryFlag(cmd *cobra.Command, path *string) {
	cmd.Flags().StringVar(path, "keys", "", "the registry, keys.json")
}

// checkNotLink refuses to put a file in the place of a link, whose target would
// stay as it was.
func checkNotLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: is a link, in whose place a file of its own would come: name the file that it leads to", path)
	}
	return nil
}

// readRegistryToChange reads a registry whose place a new one is to take.
func readRegistryToChange(path string) (*journal.Registry, error) {
	if err := checkNotLink(path); err != nil {
		return nil, err
	}
	return journal.ReadRegistry(path)
}

// putRegistry puts a registry in the place of its file. After an error, replaced
// says whether it is in place and only may be lost if the machine stops now.
func putRegistry(path string, registry *journal.Registry) (replaced bool, err error) {
	text, err := registry.Marshal()
	if err != nil {
		return false, err
	}
	if _, err := journal.ParseRegistry(text); err != nil {
		return false, fmt.Errorf("%s: could not be read again: %w", path, err)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return replaceFile(path, text, mode)
}

// changeRegistry changes a registry that exists, in one step, while no other
// command does.
func changeRegistry(path string, change func(*journal.Registry) error) error {
	unlock, err := lockDir(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("key registry: %w", err)
	}
	defer unlock()
	registry, err := readRegistryToChange(path)
	if err != nil {
		return err
	}
	if err := change(registry); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = putRegistry(path, registry)
	return err
}

// addKey adds a key to the registry at a path, which is made if it is missing. The
// directory is locked by the caller. After an error, trusted says whether readers of
// the registry may have seen the key.
func addKey(path string, key journal.Key) (trusted bool, err error) {
	registry, err := readRegistryToChange(path)
	if errors.Is(err, fs.ErrNotExist) {
		registry, err = &journal.Registry{}, nil
	}
	if err != nil {
		return false, err
	}
	if err := registry.Add(key); err != nil {
		return false, err
	}
	return putRegistry(path, registry)
}
