// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

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
