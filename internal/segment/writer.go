// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/readtrail/readtrail/internal/durable"
)

// Limits say when a segment is full. Both are positive.
type Limits struct {
	// MaxBytes is the size from which on a segment is rotated. A segment may be
	// larger by what its last group needs if that group is its only one.
	MaxBytes int64
	// MaxAge is the age of its first line from which on a segment is rotated.
	MaxAge time.Duration
}

// Group is what one fsync makes durable.
type Group struct {
	// First is the sequence of the first line.
	First uint64
	// At is the time of the first line, by which segments age.
	At time.Time
	// Lines end with an LF. They have at least one and at most MaxGroupBytes
	// bytes together.
	Lines [][]byte
	// Hold keeps the group in the current segment, full or not.
	Hold bool
}

// Writer appends groups to the last segment of a journal. After an error it
// stays broken: what is on the disk is unknown until Open looked. It is for one
// goroutine at a time.
type Writer struct {
	fs     durable.FS
	dir    string
	limits Limits
	// found are the first sequences of the segments that Open found.
	found []uint64
	// file is the last segment, nil as long as a journal has none.
	file  durable.File
	first uint64
	size  int64
	began time.Time
	buf   []byte
	err   error
}

// Began tells an opened writer the time of the first line of its last segment.
func (w *Writer) Began(at time.Time) { w.began = at }

// Found returns the first sequences of the segments that were there when the
// journal was opened.
func (w *Writer) Found() []uint64 { return w.found }

// Append writes a group behind everything written before, waits until it is
// durable, and returns where it begins. A new segment's name is durable before
// anything is written to it, and when Append returns, the segment still has its
// name and the size that was written. If Append fails, nothing of the group may
// be acknowledged.
func (w *Writer) Append(g Group) (Position, error) {
	if w.err != nil {
		return Position{}, w.err
	}
	at, err := w.append(g)
	if err != nil {
		w.err = fmt.Errorf("append to %s: %w", Name(w.first), err)
		return Position{}, w.err
	}
	return at, nil
}

func (w *Writer) append(g Group) (Position, error) {
	size := 0
	for _, line := range g.Lines {
		size += len(line)
	}
	w.buf = slices.Grow(w.buf[:0], size)
	for _, line := range g.Lines {
		w.buf = append(w.buf, line...)
	}
	if len(w.buf) == 0 || len(w.buf) > MaxGroupBytes {
		return Position{}, fmt.Errorf("group has %d bytes, not 1 to %d", len(w.buf), MaxGroupBytes)
	}
	if w.full(g) {
		if err := w.rotate(g.First); err != nil {
			return Position{}, err
		}
	}
	if w.size == 0 {
		w.began = g.At
	}
	at := Position{Segment: w.first, Offset: w.size}
	// A crash from here on may leave any part of the group, in any sectors.
	if _, err := w.file.WriteAt(w.buf, w.size); err != nil {
		return Position{}, err
	}
	if err := w.file.Sync(); err != nil {
		return Position{}, err
	}
	w.size += int64(len(w.buf))
	// The sync says nothing of a file that was deleted, or that somebody else
	// writes too.
	if err := w.file.Check(w.size); err != nil {
		return Position{}, err
	}
	return at, nil
}

// full reports whether the group belongs in a new segment.
func (w *Writer) full(g Group) bool {
	switch {
	case w.file == nil:
		return true
	case w.size == 0 || g.Hold:
		return false
	}
	return w.size+int64(len(w.buf)) > w.limits.MaxBytes || g.At.Sub(w.began) >= w.limits.MaxAge
}

// rotate creates the segment that begins with a sequence. Everything in the one
// before is durable. A crash after the creation leaves an empty last segment,
// which Open takes as it is.
func (w *Writer) rotate(first uint64) error {
	if w.file != nil {
		if err := w.present(); err != nil {
			return err
		}
	}
	created, err := w.fs.Create(pathOf(w.dir, first))
	if err != nil {
		return err
	}
	if w.file != nil {
		err = w.file.Close()
	}
	w.file, w.first, w.size = created, first, 0
	return errors.Join(err, w.fs.SyncDir(w.dir))
}

// present makes sure that the directory still is the one with the last segment:
// a new one must not be created in another that took its place.
func (w *Writer) present() error {
	there, err := w.fs.Open(pathOf(w.dir, w.first))
	if err != nil {
		return err
	}
	size, err := there.Size()
	if err == nil && size != w.size {
		err = fmt.Errorf("rotate: %s has %d bytes, not %d: %w", Name(w.first), size, w.size, durable.ErrSize)
	}
	return errors.Join(err, there.Close())
}

// Close closes the last segment. Everything that was appended is durable
// already.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	if w.err == nil {
		w.err = errors.New("segment writer is closed")
	}
	return err
}
