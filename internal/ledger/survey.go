// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"strings"
	"time"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

var (
	// ErrNotAnchored says that a journal begins after sequence 1 and no
	// journal.pruned says what stood before.
	ErrNotAnchored = errors.New("journal does not begin at sequence 1 nor where a journal.pruned says: " +
		"what stood before is not known, and nothing more can be pruned")
	errCheckpointOrigin = errors.New("checkpoint is of another journal")
	errCheckpointSigner = errors.New("checkpoint is signed by no key of the entries that it covers")
	errCheckpointRoot   = errors.New("checkpoint has another root than the journal; run: readtrail verify with this checkpoint")
	errCheckpointAhead  = errors.New("checkpoint is ahead of the journal; run: readtrail verify with this checkpoint")
)

// Surveyed is a segment that was read from its first byte to its last.
type Surveyed struct {
	retention.Segment
	// File is the segment as journal.pruned names it.
	File record.PrunedSegment
	// Anchor is the record hash of the last entry, and TreeHashes are the complete
	// subtrees of all entries up to it.
	Anchor     string
	TreeHashes []string
}

// survey reads a journal from its beginning, one segment after the other: what
// may be removed, and what has to be kept of it. It checks every hash and the
// chain, so that nothing is removed that does not verify as far as that shows;
// it does not check signatures.
type survey struct {
	fs        durable.FS
	dir       string
	journalID string
	class     string
	// segments are those that were not read, previous the record hash of the last
	// entry that was and next the sequence of the one behind it.
	segments []segment.Info
	previous string
	next     uint64
	tree     *compact.Range
	// roots are the tree's roots by size, of the sizes that were asked for.
	checkpoint *journal.SignedCheckpoint
	root       []byte
	keys       map[string]ed25519.PublicKey
}

var trees = compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}

// newSurvey begins at the first of the segments that pruning left. The checkpoint
// may be nil.
func newSurvey(fs durable.FS, dir string, s Standing, checkpoint *journal.SignedCheckpoint) (*survey, error) {
	segments, err := segment.List(fs, dir)
	if err != nil {
		return nil, err
	}
	begins := max(s.Begins.FirstSequence, 1)
	for len(segments) > 0 && segments[0].First < begins {
		segments = segments[1:] // announced as removed
	}
	if len(segments) == 0 || segments[0].First != begins {
		return nil, ErrNotAnchored
	}
	hashes := make([][]byte, len(s.Begins.TreeHashes))
	for i, text := range s.Begins.TreeHashes {
		if hashes[i], err = hex.DecodeString(text); err != nil || len(hashes[i]) != sha256.Size {
			return nil, ErrNotAnchored
		}
	}
	tree, err := trees.NewRange(0, begins-1, hashes)
	if err != nil {
		return nil, ErrNotAnchored
	}
	v := &survey{
		fs: fs, dir: dir, segments: segments, previous: s.Begins.Anchor, next: begins, tree: tree,
		checkpoint: checkpoint, keys: map[string]ed25519.PublicKey{},
	}
	return v, v.reached()
}

// more reports whether a sealed segment is left.
func (v *survey) more() bool { return len(v.segments) > 1 }

// read reads the next segment.
func (v *survey) read(ctx context.Context) (Surveyed, error) {
	info := v.segments[0]
	s := Surveyed{Segment: retention.Segment{First: info.First}, File: record.PrunedSegment{Segment: segment.Name(info.First), Size: info.Size}}
	file, size := sha256.New(), int64(0)
	for line, err := range segment.LinesOf(v.fs, v.dir, info) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return s, err
		}
		e, err := v.entry(line)
		if err != nil {
			return s, err
		}
		s.Youngest = later(s.Youngest, e.Header.RecordedAt.Std())
		s.OtherClass = s.OtherClass || e.Header.Scope.RetentionClass != v.class && e.Header.Scope.RetentionClass != ""
		s.Held = s.Held || e.Header.Scope.LegalHold
		size += writeLine(file, line.Bytes)
	}
	s.Last = v.next - 1
	switch {
	case size != info.Size:
		return s, v.damage(segment.Position{Segment: info.First, Offset: size}, segment.ErrNoLine)
	case s.Last < s.First, len(v.segments) > 1 && v.segments[1].First != v.next:
		return s, v.damage(segment.Position{Segment: info.First, Offset: size}, errors.New("the next segment does not continue it"))
	}
	s.File.Digest = "sha256:" + hex.EncodeToString(file.Sum(nil))
	s.Anchor, s.TreeHashes = v.previous, spellHashes(v.tree.Hashes())
	v.segments = v.segments[1:]
	return s, nil
}

// reach reads on until the checkpoint is reached, if there is one.
func (v *survey) reach(ctx context.Context) error {
	for v.checkpoint != nil && v.root == nil {
		if len(v.segments) == 0 {
			return errCheckpointAhead
		}
		info := v.segments[0]
		for line, err := range segment.LinesOf(v.fs, v.dir, info) {
			if errors.Is(err, segment.ErrNoLine) && len(v.segments) == 1 {
				return errCheckpointAhead // the last one is written meanwhile
			}
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				_, err = v.entry(line)
			}
			if err != nil {
				return err
			}
			if v.root != nil {
				return nil
			}
		}
		v.segments = v.segments[1:]
	}
	return nil
}

// entry checks a line and takes it into the tree.
func (v *survey) entry(line segment.Line) (*journal.Entry, error) {
	e, err := journal.ParseLine(line.Bytes)
	if err != nil {
		return nil, v.damage(line.Position, err)
	}
	digest := e.PayloadDigest()
	if v.journalID == "" {
		v.journalID = e.Header.JournalID
	}
	switch {
	case journal.SpellHash(digest) != e.Integrity.RecordHash:
		err = errRecordHash
	case e.Header.Sequence != v.next:
		err = &segment.SequenceError{Found: e.Header.Sequence}
	case e.Integrity.PreviousEventHash != v.previous:
		err = errPrevious
	case e.Header.JournalID != v.journalID && e.Header.JournalID != "":
		err = errOther
	}
	if err != nil {
		return nil, v.damage(line.Position, err)
	}
	v.previous, v.next = e.Integrity.RecordHash, v.next+1
	leaf := journal.LeafHash(digest)
	if err := v.tree.Append(leaf[:], nil); err != nil {
		return nil, err
	}
	if signature := e.Integrity.Signature; v.keys[signature.KeyID] == nil {
		key, err := base64.StdEncoding.DecodeString(signature.PublicKey)
		if err != nil || journal.KeyID(key) != signature.KeyID {
			return nil, v.damage(line.Position, errors.New("signature has a key_id that is not that of its public_key"))
		}
		v.keys[strings.Clone(signature.KeyID)] = key
	}
	return e, v.reached()
}

// reached keeps the root where the checkpoint stands.
func (v *survey) reached() error {
	if v.checkpoint == nil || v.checkpoint.Size != v.next-1 {
		return nil
	}
	root, err := v.tree.GetRootHash(nil)
	v.root = root
	return err
}

// covered returns the size of the checkpoint once it was found to be that of this
// journal; 0 if there is none. Trusted are keys beside those of the entries that
// were read.
func (v *survey) covered(trusted ...ed25519.PublicKey) (uint64, error) {
	if v.checkpoint == nil {
		return 0, nil
	}
	if v.checkpoint.Origin != v.journalID {
		return 0, errCheckpointOrigin
	}
	if v.checkpoint.Size < v.next-1 && v.root == nil {
		return 0, nil // all of it was pruned
	}
	if string(v.root) != string(v.checkpoint.Root[:]) {
		return 0, errCheckpointRoot
	}
	for _, key := range v.keys {
		trusted = append(trusted, key)
	}
	for _, key := range trusted {
		if v.checkpoint.SignedBy(key) {
			return v.checkpoint.Size, nil
		}
	}
	return 0, errCheckpointSigner
}

func (v *survey) damage(at segment.Position, reason error) error {
	return &segment.DamageError{Segment: segment.Name(at.Segment), Offset: at.Offset, Sequence: v.next, Reason: reason}
}

func writeLine(h hash.Hash, line []byte) int64 {
	h.Write(line)
	h.Write([]byte{'\n'})
	return int64(len(line)) + 1
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func spellHashes(hashes [][]byte) []string {
	out := make([]string, len(hashes))
	for i, h := range hashes {
		out[i] = hex.EncodeToString(h)
	}
	return out
}
