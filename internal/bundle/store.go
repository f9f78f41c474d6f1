// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// Store are the checkpoints that were kept apart from the journals, as a maker
// finds them in a directory: which there are, and not what they say.
type Store struct {
	byOrigin map[string][]stored
}

// stored is a checkpoint in a file, with its time stamps beside it.
type stored struct {
	size uint64
	path string
	// attested says that somebody else than the journal said something of it.
	attested bool
	tokens   []string
}

// ReadStore finds checkpoints below a directory. It has to be called before the
// journals are opened, so that no checkpoint is newer than what is read of them.
func ReadStore(dir string) (*Store, error) {
	s := &Store{byOrigin: map[string][]stored{}}
	tokens := map[string][]string{}
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
		case strings.HasSuffix(path, checkpointSuffix):
			paths = append(paths, path)
		case strings.HasSuffix(path, tokenSuffix):
			digits, _, _ := strings.Cut(d.Name(), ".")
			stem := filepath.Join(filepath.Dir(path), digits)
			tokens[stem] = append(tokens[stem], path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	for _, path := range paths {
		c, err := readCheckpoint(path)
		if err != nil {
			return nil, err
		}
		of := tokens[strings.TrimSuffix(path, checkpointSuffix)]
		s.byOrigin[c.Origin] = append(s.byOrigin[c.Origin], stored{
			size: c.Size, path: path, attested: c.Signatures() > 1 || len(of) > 0, tokens: of,
		})
	}
	for _, of := range s.byOrigin {
		slices.SortStableFunc(of, func(a, b stored) int { return cmp.Compare(a.size, b.size) })
	}
	return s, nil
}

func readCheckpoint(path string) (*journal.SignedCheckpoint, error) {
	text, err := durable.ReadWhole(durable.OS{}, path, journal.MaxCheckpointBytes)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	c, err := journal.ParseCheckpoint(text)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", path, err)
	}
	return c, nil
}

// newest returns the checkpoint of a journal with the most entries.
func (s *Store) newest(journalID string) (stored, bool) {
	of := s.byOrigin[journalID]
	if len(of) == 0 {
		return stored{}, false
	}
	return of[len(of)-1], true
}

// first returns the smallest checkpoint that covers an entry and that somebody
// else attested: it says best when the entry existed.
func (s *Store) first(journalID string, sequence uint64) (stored, bool) {
	of := s.byOrigin[journalID]
	at, _ := slices.BinarySearchFunc(of, sequence, func(c stored, sequence uint64) int { return cmp.Compare(c.size, sequence) })
	for _, c := range of[at:] {
		if c.attested {
			return c, true
		}
	}
	return stored{}, false
}

// token is a time stamp that is read.
type token struct {
	suffix   string
	response []byte
}

// readTokens reads the time stamps of a checkpoint; the suffix names the
// authority.
func (c *stored) readTokens() ([]token, error) {
	var tokens []token
	for _, path := range c.tokens {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil, fmt.Errorf("time stamp %s is not a file", path)
		}
		response, err := durable.ReadWhole(durable.OS{}, path, journal.MaxTimestampBytes)
		if err != nil {
			return nil, fmt.Errorf("time stamp: %w", err)
		}
		_, suffix, _ := strings.Cut(filepath.Base(path), ".")
		tokens = append(tokens, token{"." + suffix, response})
	}
	slices.SortFunc(tokens, func(a, b token) int { return strings.Compare(a.suffix, b.suffix) })
	return tokens, nil
}
