// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
)

// tileBytes is the size of a full tile: 256 hashes.
const tileBytes = 256 * 32

// PushTiles stores the full tiles of a journal (C2SP tlog-tiles) that the archive
// does not hold, and returns how many it stored. With them proofs can be made for
// entries that are pruned. A tile proves itself against a checkpoint, so that one
// that the archive holds already is not asked for again.
func (a *Archive) PushTiles(ctx context.Context, j Journal) (stored int, err error) {
	return a.pushPart(ctx, j, tilesPart, filepath.Join(j.Dir, tilesPart), func(name string, size int64) bool {
		return size == tileBytes && tileObject.MatchString(name)
	})
}

// PushCheckpoints stores the checkpoints of a journal and their time stamps from a
// directory with files named by their size.
func (a *Archive) PushCheckpoints(ctx context.Context, j Journal, dir string) (stored int, err error) {
	return a.pushPart(ctx, j, checkpointsPart, dir, func(name string, size int64) bool {
		return size > 0 && size <= maxSmall && checkpointObject.MatchString(name)
	})
}

// maxSmall bounds what is read into memory: a checkpoint or a time stamp.
const maxSmall = 64 << 10

func (a *Archive) pushPart(ctx context.Context, j Journal, part, dir string, takes func(string, int64) bool) (stored int, err error) {
	r, err := a.policy.of(j.RetentionClass)
	if err != nil {
		return 0, err
	}
	names, err := filesBelow(j.FS, dir, "", takes)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	if err := a.bucket.Check(ctx); err != nil {
		return 0, err
	}
	known, err := a.bucket.versions(ctx, a.bucket.key(j.Place, part, "")+"/")
	if err != nil {
		return 0, err
	}
	var conflicts []error
	for _, f := range names {
		key := a.bucket.key(j.Place, part, f.Name)
		v := known[key]
		if v != nil && v.size == f.Size && part == tilesPart {
			continue
		}
		u, err := smallUpload(j.FS, key, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Size)
		if err != nil {
			return stored, err
		}
		switch _, err := a.bucket.ensure(ctx, u, r, v); {
		case errors.Is(err, ErrConflict), errors.Is(err, ErrNotLocked):
			conflicts = append(conflicts, err)
		case err != nil:
			return stored, err
		case v == nil:
			stored++
		}
	}
	return stored, errors.Join(conflicts...)
}

// maxDepth bounds the walk: a tile's path has at most nine elements.
const maxDepth = 9

// filesBelow lists files below a directory, with slashes in their names.
func filesBelow(fs durable.FS, dir, below string, takes func(string, int64) bool) ([]durable.Info, error) {
	files, err := fs.List(filepath.Join(dir, filepath.FromSlash(below)))
	if err != nil {
		return nil, err
	}
	var out []durable.Info
	for _, f := range files {
		if f.Name = path.Join(below, f.Name); takes(f.Name, f.Size) {
			out = append(out, f)
		}
	}
	if strings.Count(below, "/") >= maxDepth {
		return out, nil
	}
	dirs, err := fs.ListDirs(filepath.Join(dir, filepath.FromSlash(below)))
	for _, d := range dirs {
		more, belowErr := filesBelow(fs, dir, path.Join(below, d), takes)
		out, err = append(out, more...), errors.Join(err, belowErr)
	}
	return out, err
}

// smallUpload is the upload of a file that is read at once.
func smallUpload(fs durable.FS, key, path string, size int64) (upload, error) {
	f, err := fs.Open(path)
	if err != nil {
		return upload{}, err
	}
	defer f.Close()
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return upload{}, fmt.Errorf("read %s: %w", path, err)
	}
	return uploadOf(key, data), nil
}
