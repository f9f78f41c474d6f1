// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/content"
)

func newDigestCommand(con *console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "digest FILE",
		Short: "Compute the digest that a journal would hold of a content",
		Long: "Compute the digest of a content as entries hold it, to compare it with\n" +
			"arguments_digest, result_digest, query_digest or content_digest of a read. FILE is the\n" +
			"content as the tool gave it; - is standard input.",
		Example: "  readtrail digest result.json",
		Args:    arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			digest, err := digestFile(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return printDigest(con, digest, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func digestFile(name string, stdin io.Reader) (content.Digest, error) {
	in := stdin
	if name == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(name)
		if err != nil {
			return content.Digest{}, fileError(name, err)
		}
		defer file.Close()
		in = file
	}
	digest, err := content.OfReader(in)
	if err != nil {
		return content.Digest{}, fileError(name, err)
	}
	if digest.Value == "" {
		return content.Digest{}, fmt.Errorf("%s: holds a placeholder that a library writes in place of content, which has no digest: take the content from the source", name)
	}
	return digest, nil
}

func printDigest(con *console, d content.Digest, asJSON bool) error {
	if asJSON {
		return writeJSON(con.out, struct {
			Digest           string       `json:"digest"`
			Canonicalization content.Form `json:"canonicalization"`
			Size             int64        `json:"size"`
		}{d.Value, d.Form, d.Size})
	}
	fmt.Fprintf(con.out, "digest: %s\ncanonicalization: %s\nsize: %d\n", d.Value, d.Form, d.Size)
	return nil
}

// fileError says which file could not be used and why, once: the paths that
// errors of the operating system repeat are left out.
func fileError(name string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("%s: cannot be read: %w", name, err)
}
