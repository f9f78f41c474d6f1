// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/journal"
)

// Checkpoints reads the checkpoints below the prefix, of an archive or of a sink of
// its own, in the order of their keys: the oldest version of each, with the time
// stamps beside it. It ends with the first error.
func (b *Bucket) Checkpoints(ctx context.Context) iter.Seq2[journal.KeptCheckpoint, error] {
	return func(yield func(journal.KeptCheckpoint, error) bool) {
		prefix := b.prefix
		if prefix != "" {
			prefix += "/"
		}
		found, err := b.versions(ctx, prefix)
		if err != nil {
			yield(journal.KeptCheckpoint{}, err)
			return
		}
		keys := slices.Sorted(maps.Keys(found))
		for i, key := range keys {
			if !b.isCheckpoint(key) {
				continue
			}
			kept, err := b.checkpoint(ctx, found, keys, i)
			if !yield(kept, err) || err != nil {
				return
			}
		}
	}
}

// Covering finds a checkpoint of a journal below the prefix, as checkpoint.Covering
// chooses it. Only that one is read: its oldest version. It is nil if there is none.
func (b *Bucket) Covering(ctx context.Context, journalID string, entries uint64) (*journal.SignedCheckpoint, error) {
	prefix := b.prefix
	if prefix != "" {
		prefix += "/"
	}
	found, err := b.versions(ctx, prefix)
	if err != nil {
		return nil, err
	}
	bySize := map[uint64]*version{}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		dir, name := path.Split(key)
		dir = strings.TrimSuffix(path.Clean(dir), "/"+checkpointsPart)
		if !b.isCheckpoint(key) || path.Base(dir) != journalID {
			continue
		}
		if sizes := sizesOf([]string{name}, "", maxSize+1); len(sizes) == 1 {
			bySize[sizes[0]] = found[key]
		}
	}
	size := checkpoint.Covering(maps.Keys(bySize), entries)
	if size == 0 {
		return nil, nil
	}
	note, err := b.readSmall(ctx, bySize[size])
	if err != nil {
		return nil, err
	}
	c, err := journal.ParseCheckpoint(note)
	if err != nil || c.Origin != journalID || c.Size != size {
		return nil, fmt.Errorf("%s is not the checkpoint that its name says; examine who wrote it", b.address(bySize[size]))
	}
	return c, nil
}

const checkpointSuffix = ".checkpoint"

// isCheckpoint reports whether a key is one of an archive, or of a sink:
// <prefix>/<journal_id>/<size>.checkpoint.
func (b *Bucket) isCheckpoint(key string) bool {
	if !strings.HasSuffix(key, checkpointSuffix) {
		return false
	}
	if l, ours := b.locate(key); ours {
		return l.part == checkpointsPart
	}
	dir, name := path.Split(key)
	id, below := strings.CutPrefix(path.Clean(dir), b.prefix)
	return below && plainName.MatchString(strings.TrimPrefix(id, "/")) && checkpointObject.MatchString(name)
}

// checkpoint reads the checkpoint at an index of the sorted keys. Its time stamps
// have the same stem, so they stand around it.
func (b *Bucket) checkpoint(ctx context.Context, found map[string]*version, keys []string, i int) (journal.KeptCheckpoint, error) {
	v := found[keys[i]]
	kept := journal.KeptCheckpoint{Path: b.address(v)}
	var err error
	if kept.Note, err = b.readSmall(ctx, v); err != nil {
		return kept, err
	}
	stem := strings.TrimSuffix(keys[i], checkpointSuffix) + "."
	first, _ := slices.BinarySearch(keys, stem)
	for _, key := range keys[first:] {
		if !strings.HasPrefix(key, stem) {
			break
		}
		if key == keys[i] || !checkpointObject.MatchString(path.Base(key)) {
			continue
		}
		token, err := b.readSmall(ctx, found[key])
		if err != nil {
			return kept, err
		}
		kept.Timestamps = append(kept.Timestamps, token)
	}
	return kept, nil
}
