// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// Directory keeps checkpoints in a directory that is not the journal's: a mount
// of another machine, a disk that another user owns. The directory must be
// there: one that is not mounted would be made anew on the wrong disk.
type Directory struct {
	name, path string
	fs         durable.FS
}

// NewDirectory returns the sink of a directory.
func NewDirectory(name, path string, fsys durable.FS) *Directory {
	return &Directory{name: name, path: path, fs: fsys}
}

// Name implements Sink.
func (d *Directory) Name() string { return d.name }

// Put implements Sink. The tokens come first, so that a checkpoint that is there
// has them.
func (d *Directory) Put(_ context.Context, a Attested) error {
	c := a.Checkpoint
	if err := d.present(); err != nil {
		return err
	}
	for _, t := range a.Tokens {
		if err := d.create(TokenName(c.Origin, c.Size, t.Authority), t.Response); err != nil {
			return err
		}
	}
	return d.create(CheckpointName(c.Origin, c.Size), c.Note)
}

// present says whether the directory is there.
func (d *Directory) present() error {
	if err := d.fs.SyncDir(d.path); err != nil {
		return failed(ReasonUnreachable, "directory of checkpoints: %w; make it or mount it", err)
	}
	return nil
}

// create makes a file whole and durable, and never another one of one that is
// there.
func (d *Directory) create(name string, data []byte) error {
	path := filepath.Join(d.path, filepath.FromSlash(name))
	switch there, err := durable.ReadWhole(d.fs, path, int64(len(data))); {
	case err == nil && bytes.Equal(there, data):
		return nil
	case err == nil || errors.Is(err, durable.ErrTooLarge):
		return failed(ReasonConflict, "%s is there with other bytes; examine who wrote it", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read checkpoint: %w", err)
	}
	if err := durable.WriteWhole(d.fs, path, data); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// Latest implements Sink.
func (d *Directory) Latest(_ context.Context, journalID string) (*journal.SignedCheckpoint, error) {
	if err := d.present(); err != nil {
		return nil, err
	}
	dir := filepath.Join(d.path, durable.PathElement(journalID))
	files, err := d.fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	for i := len(files) - 1; i >= 0; i-- { // they are sorted
		if !strings.HasSuffix(files[i].Name, checkpointSuffix) {
			continue
		}
		path := filepath.Join(dir, files[i].Name)
		note, err := durable.ReadWhole(d.fs, path, journal.MaxCheckpointBytes)
		if err != nil {
			return nil, fmt.Errorf("read checkpoint: %w", err)
		}
		c, err := journal.ParseCheckpoint(note)
		if err != nil || filepath.Base(CheckpointName(c.Origin, c.Size)) != files[i].Name {
			return nil, failed(ReasonInvalid, "%s is not the checkpoint that its name says; examine who wrote it", path)
		}
		return c, nil
	}
	return nil, nil
}
