// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/contexts"
	"github.com/readtrail/readtrail/record"
)

// maxSourceBytes bounds the content of one context, in bytes.
const maxSourceBytes = 256 << 20

func newContextDigestCommand(con *console) *cobra.Command {
	f := &contextFilter{}
	var source string
	var named digestKey
	cmd := &cobra.Command{
		Use:   "digest TARGET --context ID --source FILE",
		Short: "Compute the digest of a context again, from the content of the source",
		Long: "Compute the digest of a context again and compare it with what the journal says. FILE is the\n" +
			"content as the source has it; - is standard input. Of a context of entries it is a JSON object\n" +
			"with the value of each entry under the entry's id; of a context of messages one with the members\n" +
			"input_messages, system_instructions and tool_definitions, those that the record covers.\n\n" +
			"Exit codes: 0 it is the same; 1 it is another; 2 it could not be computed; 64 the command line is\n" +
			"wrong. The journal itself is not verified: run readtrail verify.",
		Example: "  readtrail context digest journal --context ctx_1 --source values.json",
		Args:    arguments("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := named.read(cmd)
			if err != nil {
				return err
			}
			text, err := readSource(source, cmd.InOrStdin())
			if err != nil {
				return err
			}
			found, err := readContexts(con, args[0], f)
			if len(found) == 0 {
				return errors.Join(err, fmt.Errorf("%s: no context record has the id that --context names", args[0]))
			}
			return compareContexts(con, found, key, text, err)
		},
	}
	f.register(cmd, "context", "source")
	named.register(cmd)
	cmd.Flags().StringVar(&source, "source", "", "file with the content from the source, - for standard input")
	return cmd
}

func readSource(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fileError(name, err)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSourceBytes+1))
	switch {
	case err != nil:
		return nil, fileError(name, err)
	case len(text) > maxSourceBytes:
		return nil, fmt.Errorf("%s: has more than 256 MiB: no context has", name)
	}
	return text, nil
}

// compareContexts prints for each record whether its digest is that of a content.
func compareContexts(con *console, found []*keptContext, key *content.Key, text []byte, unread error) error {
	same := 0
	var unchecked, different bool
	for _, c := range found {
		place := fmt.Sprintf("%s %d", c.journalID, c.sequence)
		d, err := digestAgain(c, key, text)
		switch {
		case err != nil:
			unchecked = true
			fmt.Fprintf(con.out, "%s: not computed: %s\n", escape(place), escape(err.Error()))
		case d.Value != c.ContextDigest:
			different = true
			fmt.Fprintf(con.out, "%s: different: the content has %s, the record %s\n", escape(place), d.Value, escape(c.ContextDigest))
		default:
			same++
			fmt.Fprintf(con.out, "%s: same: %s%s\n", escape(place), d.Value, ofWhat(c))
		}
	}
	switch {
	case different:
		return verdict(exitOther)
	case unread != nil:
		return unread
	case unchecked || same == 0:
		return verdict(exitUnchecked)
	}
	return nil
}

// ofWhat warns of a digest that covers less than the model was given.
func ofWhat(c *keptContext) string {
	if c.Capture != nil && c.Capture.Input == record.CapturedTruncated {
		return " (of what was captured, which is less than was sent)"
	}
	return ""
}

// digestAgain digests the content of a context as its record says.
func digestAgain(c *keptContext, key *content.Key, text []byte) (content.Digest, error) {
	key, err := keyOf(c.ContextDigest, key)
	switch {
	case err != nil:
		return content.Digest{}, err
	case c.ContextCanonicalization == string(content.FormOTLPJSON):
		return content.Digest{}, errors.New("it covers values that JSON cannot hold, which no file can spell")
	case c.ContextForm == record.FormMessages:
		in, err := contexts.ParseInput(text)
		if err != nil {
			return content.Digest{}, fmt.Errorf("the content %w", err)
		}
		return in.Digest(key)
	}
	values, err := contexts.ParseValues(text)
	if err != nil {
		return content.Digest{}, fmt.Errorf("the content %w", err)
	}
	entries := make([]contexts.Entry, len(c.Recorded))
	for i, recorded := range c.Recorded {
		value, given := values[c.Entries[i].EntryID]
		if !given {
			return content.Digest{}, fmt.Errorf("the content has no value of entry %s", c.Entries[i].EntryID)
		}
		entries[i] = contexts.Entry{Recorded: recorded, Value: value}
	}
	return contexts.EntriesDigest(key, entries)
}

// keyOf returns the key with which a digest was made.
func keyOf(digest string, given *content.Key) (*content.Key, error) {
	keyed, isKeyed := strings.CutPrefix(digest, "hmac-sha256:")
	id, _, _ := strings.Cut(keyed, ":")
	switch {
	case digest == "":
		return nil, errors.New("the record has no digest, because the input was not captured")
	case !isKeyed:
		return content.Plain, nil
	case id != given.ID():
		return nil, fmt.Errorf("the digest was made with the key %s: give that with --key and --key-id", id)
	}
	return given, nil
}
