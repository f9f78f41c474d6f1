// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/evidence"
)

func newEvidenceGetCommand(con *console) *cobra.Command {
	g := &retrieval{con: con}
	cmd := &cobra.Command{
		Use:   "get DIGEST --store DIR --identity FILE",
		Short: "Get back the content that has a digest",
		Long: "Find the copy with a digest, in all sets of an evidence store, open it with an identity, recompute\n" +
			"its digest and print its bytes. Nothing is printed of a copy that is not what its digest says.\n\n" +
			"DIGEST is as a record holds it. A keyed one (hmac-sha256:...) needs the key that it was made with.",
		Example: "  readtrail evidence get sha256:... --store evidence --identity evidence-key.txt --out result.json",
		Args:    arguments("DIGEST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			digest, err := content.ParseDigest(args[0])
			if err != nil {
				return usagef(cmd, "%q is %w", args[0], err)
			}
			if len(g.options.identities) == 0 {
				return usagef(cmd, "--identity FILE is missing")
			}
			if cmd.Flags().Changed("out") && g.out == "" {
				return usagef(cmd, "--out is empty")
			}
			if len(g.options.keys) == 1 && len(g.options.keyIDs) == 0 {
				g.options.keyIDs = []string{digest.KeyID}
			}
			if g.reader, err = g.options.reader(cmd.Context(), cmd); err != nil {
				return err
			}
			return g.run(cmd.Context(), digest)
		},
	}
	g.options.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&g.out, "out", "", "a file to write to, which must not exist (default standard output)")
	flags.StringVar(&g.organization, "organization", "", "look only at copies of this organization_ref")
	flags.StringVar(&g.class, "class", "", "look only at copies of this retention_class")
	return cmd
}

// retrieval gets one content back.
type retrieval struct {
	con                 *console
	options             readerOptions
	organization, class string
	out                 string
	reader              *evidence.Reader
}

func (g *retrieval) run(ctx context.Context, digest content.ParsedDigest) error {
	if g.out == "" {
		if _, terminal := terminalWidth(g.con.outFile); terminal {
			return errors.New("standard output is a terminal, which content could steer: name a file with --out or send it to another program")
		}
		return g.get(ctx, digest, g.con.out)
	}
	file, err := os.OpenFile(g.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return neverOverwritten(g.out, "choose another --out")
	}
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	err = g.get(ctx, digest, file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = syncDirectory(filepath.Dir(g.out))
	}
	if err != nil {
		return alsoRemove(err, g.out)
	}
	return nil
}

func (g *retrieval) get(ctx context.Context, digest content.ParsedDigest, w io.Writer) error {
	name, err := g.reader.Get(ctx, g.organization, g.class, digest, w)
	if err != nil {
		return err
	}
	g.con.note("%s: opened, and its content has the digest", name)
	return nil
}
