// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The names of files in a store of checkpoints: <journal id>/<size>.checkpoint, and
// beside it <size>.<authority>.tsr for each time stamp.
const (
	checkpointSuffix = ".checkpoint"
	timestampSuffix  = ".tsr"
)

// Checkpoints are the checkpoints that a verifier was given, kept apart from the
// journals. Their signatures are verified when they are read; whether a journal
// gives their roots is for Verify to say.
type Checkpoints struct {
	registry *Registry
	policy   *Policy
	byOrigin map[string][]outside
	// found counts the files, and misread says of which nothing is known that could be
	// verified, and which places could not be searched.
	found   int
	misread []error
	// stamps are the names of the time stamps in the directory listed, by size.
	listed string
	stamps map[string][]string
}

// outside is what is kept of a checkpoint: little, since there may be many.
type outside struct {
	size uint64
	root [sha256.Size]byte
	// at is when somebody else than the writer first attested it; zero if nobody did.
	at time.Time
	// cosigned says that as many witnesses attested it as the policy demands.
	cosigned bool
	// keyID is the trusted key that signed it, "" if none did; then untrusted says why.
	keyID     string
	untrusted string
	path      string
}

// ReadCheckpoints reads checkpoints from directories, searched to the bottom for
// *.checkpoint, and from files. Time stamps are looked for beside them. Without a
// registry no checkpoint is trusted. What could not be read is among the Problems and
// keeps nothing else from being read: whoever owns one place must not silence the
// others.
func ReadCheckpoints(paths []string, registry *Registry, policy *Policy) *Checkpoints {
	c := NewCheckpoints(registry, policy)
	for _, path := range paths {
		found := c.found
		if searched := c.read(path); searched && c.found == found {
			c.misread = append(c.misread, holdsNone(path))
		}
	}
	c.sort()
	return c
}

func (c *Checkpoints) cannotRead(err error) {
	c.misread = append(c.misread, fmt.Errorf("checkpoints: %w", err))
}

func holdsNone(place string) error {
	return fmt.Errorf("checkpoints: %s holds none; name the place where they are kept", place)
}

func (c *Checkpoints) sort() {
	for _, of := range c.byOrigin {
		slices.SortStableFunc(of, func(a, b outside) int {
			return cmp.Or(cmp.Compare(a.size, b.size), bytes.Compare(a.root[:], b.root[:]), a.at.Compare(b.at))
		})
	}
}

// Problems say which files hold no checkpoint, which places hold none, and which
// were left out. Each is one line.
func (c *Checkpoints) Problems() []error {
	if c == nil {
		return nil
	}
	return c.misread
}

// Origins are the ids of the journals of which there are checkpoints.
func (c *Checkpoints) Origins() []string {
	if c == nil {
		return nil
	}
	origins := make([]string, 0, len(c.byOrigin))
	for origin := range c.byOrigin {
		origins = append(origins, origin)
	}
	slices.Sort(origins)
	return origins
}

func (c *Checkpoints) of(journalID string) []outside {
	if c == nil {
		return nil
	}
	return c.byOrigin[journalID]
}

// read reports whether it could look into a place.
func (c *Checkpoints) read(path string) (searched bool) {
	// A link to a store is a store.
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		c.cannotRead(err)
		return false
	}
	if info, err := os.Stat(resolved); err == nil && !info.IsDir() {
		c.readFile(path)
		return true
	}
	// Every problem is kept; none ends the walk.
	_ = filepath.WalkDir(resolved, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			c.cannotRead(err)
			return fs.SkipDir
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(name); err != nil || info.IsDir() {
				c.misread = append(c.misread, fmt.Errorf("checkpoints: %s is a link that is not followed; name its target instead", name))
				return nil
			}
		}
		if !d.IsDir() && strings.HasSuffix(name, checkpointSuffix) {
			c.readFile(name)
		}
		return nil
	})
	return true
}

func (c *Checkpoints) readFile(path string) {
	c.found++
	text, err := readBounded(path, MaxCheckpointBytes)
	if err != nil {
		c.cannotRead(err)
		return
	}
	s, err := ParseCheckpoint(text)
	if err != nil {
		c.misread = append(c.misread, fmt.Errorf("checkpoint %s: %w", path, err))
		return
	}
	c.keep(s, path, c.readTimestamps(path))
}

// keep takes a checkpoint and the time stamps of it.
func (c *Checkpoints) keep(s *SignedCheckpoint, path string, tokens [][]byte) {
	o := outside{size: s.Size, root: s.Root, path: path}
	o.keyID, o.untrusted = c.signer(s)
	if o.keyID != "" {
		o.at, o.cosigned = c.policy.attested(s, tokens)
	}
	c.byOrigin[s.Origin] = append(c.byOrigin[s.Origin], o)
}

// signer returns the trusted key that signed a checkpoint.
func (c *Checkpoints) signer(s *SignedCheckpoint) (keyID, untrusted string) {
	if c.registry == nil {
		return "", "no key registry was given"
	}
	key, err := s.Signer(c.registry)
	if err != nil {
		return "", "no key of the registry signed it"
	}
	if j, _ := c.policy.Journal(s.Origin); j.Keys != nil && !slices.Contains(j.Keys, key.ID) {
		return "", "the policy does not trust key " + key.ID + " for this journal"
	}
	return key.ID, ""
}

// attested says when a checkpoint was first attested by somebody whom the policy
// trusts: by the last witness that the quorum needs, or by a time stamp.
func (p *Policy) attested(s *SignedCheckpoint, tokens [][]byte) (at time.Time, cosigned bool) {
	if p == nil {
		return time.Time{}, false
	}
	if p.Quorum > 0 {
		cosignatures := s.Cosignatures(p.Witnesses)
		slices.SortFunc(cosignatures, func(a, b Attestation) int { return a.At.Compare(b.At) })
		if cosigned = len(cosignatures) >= p.Quorum; cosigned {
			at = cosignatures[p.Quorum-1].At
		}
	}
	for _, token := range tokens {
		if stamp, err := s.Timestamp(token, p.TimestampRoots); err == nil && (at.IsZero() || stamp.At.Before(at)) {
			at = stamp.At
		}
	}
	return at, cosigned
}

// maxTimestamps bounds the time stamps of one checkpoint that are read.
const maxTimestamps = 100

// readTimestamps reads the time stamps beside a checkpoint. One that cannot be read
// attests nothing and takes nothing from the checkpoint.
func (c *Checkpoints) readTimestamps(path string) (tokens [][]byte) {
	directory, name := filepath.Split(path)
	stem, ok := strings.CutSuffix(name, checkpointSuffix)
	if !ok {
		return nil
	}
	if err := c.listTimestamps(filepath.Clean(directory)); err != nil {
		c.cannotRead(err)
		return nil
	}
	names := c.stamps[stem]
	if len(names) > maxTimestamps {
		c.cannotRead(fmt.Errorf("there are more than %d time stamps of %s, and none was read", maxTimestamps, path))
		return nil
	}
	for _, name := range names {
		token, err := readBounded(filepath.Join(directory, name), MaxTimestampBytes)
		if err != nil {
			c.cannotRead(err)
			continue
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// listTimestamps lists the time stamps in a directory, which is most often that of
// the checkpoint before.
func (c *Checkpoints) listTimestamps(directory string) error {
	if c.stamps != nil && c.listed == directory {
		return nil
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	c.listed, c.stamps = directory, map[string][]string{}
	for _, e := range entries {
		if stem, _, ok := strings.Cut(e.Name(), "."); ok && strings.HasSuffix(e.Name(), timestampSuffix) {
			c.stamps[stem] = append(c.stamps[stem], e.Name())
		}
	}
	return nil
}

// ReadOwnCheckpoint reads a checkpoint that the caller kept since verifying the
// journal up to it. A key of the registry must have signed it.
func ReadOwnCheckpoint(path string, registry *Registry) (*SignedCheckpoint, error) {
	text, err := readBounded(path, MaxCheckpointBytes)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	s, err := ParseCheckpoint(text)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", path, err)
	}
	if registry == nil {
		return nil, fmt.Errorf("checkpoint %s: without a key registry nobody says who signed it", path)
	}
	if _, err := s.Signer(registry); err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", path, err)
	}
	return s, nil
}

var errNotRegular = errors.New("is not a regular file")

// readBounded reads a regular file, and one byte more than the limit of a larger
// one, so that it is refused.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", path, errNotRegular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}
