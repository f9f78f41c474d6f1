// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// errStale says that a cached tree is not that of the segments.
var errStale = errors.New("the cached tree is not that of the journal")

// tilesDir is the cache in the directory of a journal (contract 7).
func tilesDir(dir string) string { return filepath.Join(dir, "tiles") }

// Journal is where the entries of a tree are.
type Journal struct {
	FS  durable.FS
	Dir string
	ID  string
	// Trusted says whether a checkpoint was signed by a key of the journal.
	Trusted func(*journal.SignedCheckpoint) bool
	// UpTo is the last sequence that is read; 0 means all. What stands behind the last
	// durable entry of a journal that is being written, or the last intact one of a
	// journal that is being opened, is not part of it, and may be half a line.
	UpTo uint64
	// Scratch is where tiles are written. Without one it is the cache of the journal,
	// which only its writer may write.
	Scratch string
}

func (j *Journal) tiles() string {
	if j.Scratch != "" {
		return j.Scratch
	}
	return tilesDir(j.Dir)
}

func (j *Journal) upTo() uint64 {
	if j.UpTo == 0 {
		return record.MaxInteger
	}
	return j.UpTo
}

// OpenTree returns the tree of a journal up to its last entry: the cached one, if
// a checkpoint that is trusted confirms it, with the entries that came since, or
// one built from all segments. Segments are read as they are; every entry that is
// added is hashed again, and has to continue the chain.
func OpenTree(ctx context.Context, j Journal) (*tiles.Tree, *journal.SignedCheckpoint, error) {
	tree, last, err := tiles.Load(j.FS, tilesDir(j.Dir), j.ID, j.Trusted)
	if err == nil {
		if err = grow(ctx, j, tree, j.Scratch == ""); err == nil {
			return tree, last, nil
		}
	}
	if !errors.Is(err, errStale) && !errors.Is(err, tiles.ErrNoHead) {
		return nil, nil, err
	}
	tree, err = BuildTree(ctx, j)
	return tree, nil, err
}

// BuildTree returns the tree of a journal built from all segments.
func BuildTree(ctx context.Context, j Journal) (*tiles.Tree, error) {
	tree, err := beginTree(ctx, j)
	if err != nil {
		return nil, err
	}
	return tree, grow(ctx, j, tree, true)
}

// beginTree returns the tree with nothing but what was pruned.
func beginTree(ctx context.Context, j Journal) (*tiles.Tree, error) {
	segments, err := segment.List(j.FS, j.Dir)
	if err != nil {
		return nil, err
	}
	if len(segments) == 0 || segments[0].First == 1 {
		return tiles.New(j.FS, j.tiles()), nil
	}
	pruned, err := findPruned(ctx, j, segments[0].First)
	if err != nil {
		return nil, err
	}
	stumps := make([]tiles.Hash, len(pruned.TreeHashes))
	for i, text := range pruned.TreeHashes {
		if n, err := hex.Decode(stumps[i][:], []byte(text)); err != nil || n != len(stumps[i]) {
			return nil, errors.New("journal.pruned has a tree hash that is none")
		}
	}
	return tiles.NewPruned(j.FS, j.tiles(), pruned.FirstSequence-1, stumps)
}

// findPruned returns the removal that says what was before the first segment that
// is there. A removal may have been interrupted: then it also tells of segments
// that are still there.
func findPruned(ctx context.Context, j Journal, first uint64) (*record.Pruned, error) {
	var found *record.Pruned
	for line, err := range segment.Lines(j.FS, j.Dir, segment.Position{}) {
		switch {
		case errors.Is(err, segment.ErrNoLine) && found != nil && j.UpTo > 0:
			return found, nil // what stands there is no part of it
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !bytes.Contains(line.Bytes, []byte(record.EventJournalPruned)):
			continue
		}
		e, err := journal.ParseLine(line.Bytes)
		if found != nil && j.UpTo > 0 && (err != nil || e.Header.Sequence > j.UpTo) {
			return found, nil
		}
		if err != nil {
			return nil, damaged(line, err)
		}
		if e.Kind != record.KindJournal || e.Header.EventType != record.EventJournalPruned {
			continue
		}
		var body struct {
			Detail record.Pruned `json:"detail"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return nil, damaged(line, errors.New("journal.pruned cannot be read"))
		}
		if p := body.Detail; p.FirstSequence >= first && (found == nil || p.FirstSequence < found.FirstSequence) {
			found = &p
		}
	}
	if found == nil {
		return nil, fmt.Errorf("journal begins at sequence %d and no journal.pruned says what was before; restore the missing segments", first)
	}
	return found, nil
}

// grow adds the entries behind a tree to it.
func grow(ctx context.Context, j Journal, tree *tiles.Tree, spill bool) error {
	segments, err := segment.List(j.FS, j.Dir)
	if err != nil {
		return err
	}
	from := segment.Position{}
	for _, s := range segments {
		if s.First <= max(tree.Size(), 1) {
			from.Segment = s.First
		}
	}
	begun := tree.Size()
	seen := begun == 0
	for line, err := range segment.Lines(j.FS, j.Dir, from) {
		if seen && tree.Size() >= j.upTo() {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var e *journal.Entry
		var hash tiles.Hash
		if err == nil {
			e, hash, err = entryOf(line)
		}
		switch {
		case err != nil && !seen && tree.Size() > j.upTo():
			return errStale // it counts entries of a tail that was torn since
		case err != nil:
			return err
		}
		switch size := tree.Size(); {
		case e.Header.Sequence < size:
			continue
		case e.Header.Sequence == size:
			if tree.Base() < size && !isLeaf(tree, hash) {
				return errStale
			}
			seen = true
			continue
		case !seen && e.Header.Sequence > size+1:
			return errStale // what was pruned goes further than the tree
		case e.Header.Sequence != size+1:
			return damaged(line, fmt.Errorf("sequence is %d instead of %d", e.Header.Sequence, size+1))
		case size > tree.Base():
			if previous, ok := parseHash(e.Integrity.PreviousEventHash); !ok || !isLeaf(tree, previous) {
				if size == begun {
					return errStale
				}
				return damaged(line, errors.New("previous_event_hash is not that of the entry before"))
			}
		}
		seen = true
		if err := tree.Append(hash); err != nil {
			return err
		}
		if spill && tree.Unwritten() > maxUnwritten {
			if err := tree.Spill(); err != nil {
				return err
			}
		}
	}
	if !seen {
		return errStale // the journal is shorter than its tree
	}
	return nil
}

// entryOf returns the entry of a line and its record hash.
func entryOf(line segment.Line) (*journal.Entry, tiles.Hash, error) {
	e, err := journal.ParseLine(line.Bytes)
	if err != nil {
		return nil, tiles.Hash{}, damaged(line, err)
	}
	hash, ok := parseHash(e.Integrity.RecordHash)
	if !ok || hash != e.PayloadDigest() {
		return nil, tiles.Hash{}, damaged(line, errors.New("record_hash is not that of the entry"))
	}
	return e, hash, nil
}

// maxUnwritten bounds the tiles in memory, 512 KiB.
const maxUnwritten = 64

// isLeaf says whether a record hash is that of the last entry in the tree.
func isLeaf(tree *tiles.Tree, hash tiles.Hash) bool {
	leaf, err := tree.Leaf(tree.Size() - 1)
	return err == nil && leaf == journal.LeafHash(hash)
}

func parseHash(text string) (hash tiles.Hash, ok bool) {
	digits, found := strings.CutPrefix(text, "sha256:")
	n, err := hex.Decode(hash[:min(len(hash), len(digits)/2)], []byte(digits[:min(len(digits), 2*len(hash))]))
	return hash, found && err == nil && n == len(hash) && len(digits) == 2*len(hash)
}

func damaged(line segment.Line, err error) error {
	return fmt.Errorf("%s at offset %d: %w; run readtrail verify", segment.Name(line.Segment), line.Offset, err)
}
