// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package tiles

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// headName is the file with the tree's head, beside the directory of its tiles.
const headName = "head"

const tileBytes = width * tlog.HashSize

// maxCachedTiles bounds the tiles that are kept in memory after reading, 2 MiB.
const maxCachedTiles = 256

// Unwritten returns how many tiles wait for Spill.
func (t *Tree) Unwritten() int { return len(t.full) }

// Spill writes the tiles that are full. They are not synced: what a crash leaves
// of them is believed no more than any other tile.
func (t *Tree) Spill() error {
	for tile, data := range t.full {
		path := filepath.Join(t.dir, filepath.FromSlash(torchwood.TilePath(tile)))
		if err := durable.ReplaceWhole(t.fs, path, data); err != nil {
			return fmt.Errorf("write tile: %w", err)
		}
		delete(t.full, tile)
	}
	return nil
}

// Save writes the tiles and the head of the tree, together with the checkpoint
// that confirms it: it must be of the tree's size.
func (t *Tree) Save(checkpoint *journal.SignedCheckpoint) error {
	if err := t.Spill(); err != nil {
		return err
	}
	if err := durable.ReplaceWhole(t.fs, filepath.Join(t.dir, headName), t.formatHead(checkpoint)); err != nil {
		return fmt.Errorf("write head of tree: %w", err)
	}
	return nil
}

// read returns a full tile.
func (t *Tree) read(tile tlog.Tile) ([]byte, error) {
	if data, ok := t.full[tile]; ok {
		return data, nil
	}
	if data, ok := t.cache[tile]; ok {
		return data, nil
	}
	data, err := durable.ReadWhole(t.fs, filepath.Join(t.dir, filepath.FromSlash(torchwood.TilePath(tile))), tileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrUnknown
	case errors.Is(err, durable.ErrTooLarge):
		return nil, ErrDamaged
	case err != nil:
		return nil, fmt.Errorf("read tile: %w", err)
	case len(data) != tileBytes || bytes.Equal(data, make([]byte, tileBytes)):
		return nil, ErrDamaged
	}
	if t.cache == nil || len(t.cache) == maxCachedTiles {
		t.cache = make(map[tlog.Tile][]byte)
	}
	t.cache[tile] = data
	return data, nil
}
