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
	var named digestKey
	cmd := &cobra.Command{
		Use:   "digest FILE",
		Short: "Compute the digest that a journal would hold of a content",
		Long: "Compute the digest of a content as entries hold it, to compare it with\n" +
			"arguments_digest, result_digest, query_digest or content_digest of a read. FILE is the\n" +
			"content as the tool gave it; - is standard input.\n\n" +
			"What entries hold no digest of has none here either, and the exit code is 2: nothing at all, a\n" +
			"placeholder that a library writes in place of content, and a credential.\n\n" +
			"A digest that begins with hmac-sha256: is keyed. It is recomputed with the key whose id stands\n" +
			"in it; the size beside it is rounded up to a multiple of 64.",
		Example: "  readtrail digest result.json\n" +
			"  readtrail digest result.json --key digest.key --key-id bank-2026",
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := named.read(cmd)
			if err != nil {
				return err
			}
			digest, err := digestFile(key, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return printDigest(con, digest, asJSON)
		},
	}
	named.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func digestFile(key *content.Key, name string, stdin io.Reader) (content.Digest, error) {
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
	var start head
	digest, err := key.OfReader(io.TeeReader(in, &start))
	if err != nil {
		return content.Digest{}, fileError(name, err)
	}
	if digest.Value == "" {
		return content.Digest{}, fmt.Errorf("%s: %s", name, whyNoDigest(string(start)))
	}
	return digest, nil
}

// whyNoDigest says why no entry holds a digest of a content.
func whyNoDigest(s string) string {
	switch {
	case s == "":
		return "holds nothing, and no entry holds a digest of that"
	case content.LooksLikeCredential(s):
		return "withheld: looks like a credential, and no entry holds a digest of one"
	default:
		return "holds a placeholder that a library writes in place of content, which has no digest: take the content from the source"
	}
}

// head keeps the beginning of what is written to it. Only what is shorter can be
// without a digest.
type head []byte

const maxHead = 64 << 10

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), maxHead-len(*h))]...)
	return len(p), nil
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
