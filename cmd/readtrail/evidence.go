// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
)

func newEvidenceCommand(con *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Get back and check the copies of content that a collector kept",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsSubcommand,
	}
	cmd.AddCommand(newEvidenceIdentityCommand(con), newEvidenceGetCommand(con), newEvidenceCheckCommand(con))
	return cmd
}

// readerOptions say where copies are and what opens them.
type readerOptions struct {
	stores, identities, keys, keyIDs []string
}

func (o *readerOptions) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.stores, "store", nil, "the directory of an evidence store, or a copy of it; may be repeated")
	flags.StringArrayVar(&o.identities, "identity", nil, "a file with age identities (secret keys); may be repeated")
	flags.StringArrayVar(&o.keys, "key", nil, "a file with the key of keyed digests")
	flags.StringArrayVar(&o.keyIDs, "key-id", nil, "the key id that records name with the key")
}

// reader opens everything that the options name. What is not there is an error:
// a mistyped directory must not look like copies that are missing.
func (o *readerOptions) reader(ctx context.Context, cmd *cobra.Command) (*evidence.Reader, error) {
	if len(o.stores) == 0 {
		return nil, usagef(cmd, "--store DIR is missing")
	}
	if len(o.keys) != len(o.keyIDs) {
		return nil, usagef(cmd, "each --key FILE needs its --key-id ID")
	}
	r := &evidence.Reader{Keys: map[string]*content.Key{}}
	for _, dir := range o.stores {
		place := evidence.Directory{FS: durable.OS{}, Root: filepath.Clean(dir)}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s: no directory of an evidence store", dir)
		}
		begun, err := evidence.IsBegun(ctx, place)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if !begun {
			return nil, fmt.Errorf("%s: holds no set with recipients.txt, so it is no evidence store or one that was emptied", dir)
		}
		r.Places = append(r.Places, place)
	}
	for _, name := range o.identities {
		file, err := os.Open(name)
		if err != nil {
			return nil, fileError(name, err)
		}
		identities, err := evidence.ReadIdentities(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.Identities = append(r.Identities, identities...)
	}
	for i, name := range o.keys {
		key, err := content.ReadKeyFile(o.keyIDs[i], name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.Keys[o.keyIDs[i]] = key
	}
	return r, nil
}
