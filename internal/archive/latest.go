// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/journal"
)

const (
	// maxSize is the largest sequence that an entry can have (contract 2).
	maxSize = 1<<53 - 1
	// maxOrphans is how many time stamps without a checkpoint are passed over: a
	// crash between the two leaves one.
	maxOrphans = 16
)

// Latest implements checkpoint.Sink. Names are ordered by size and a listing only
// goes forward, so the largest is searched for by halves.
func (s *CheckpointSink) Latest(ctx context.Context, journalID string) (*journal.SignedCheckpoint, error) {
	dir, _, err := s.place(journalID)
	if err != nil {
		return nil, err
	}
	below := uint64(maxSize + 1)
	for range maxOrphans {
		if below, err = s.largest(ctx, dir+"/", below); err != nil || below == 0 {
			return nil, reasoned(err)
		}
		v, err := s.bucket.oldest(ctx, path.Join(dir, path.Base(checkpoint.CheckpointName(journalID, below))))
		if err != nil {
			return nil, reasoned(err)
		}
		if v != nil {
			return s.read(ctx, v, journalID, below)
		}
	}
	return nil, invalid("%s/ has time stamps of which no checkpoint is there; put the checkpoints there from another sink", s.bucket.url(dir))
}

func (s *CheckpointSink) read(ctx context.Context, v *version, journalID string, size uint64) (*journal.SignedCheckpoint, error) {
	note, err := s.bucket.readSmall(ctx, v)
	if err != nil {
		return nil, reasoned(err)
	}
	c, err := journal.ParseCheckpoint(note)
	if err != nil || c.Origin != journalID || c.Size != size {
		return nil, invalid("%s is not the checkpoint that its name says; examine who wrote it", s.bucket.address(v))
	}
	return c, nil
}

func invalid(format string, args ...any) error {
	return &checkpoint.Error{Reason: checkpoint.ReasonInvalid, Err: fmt.Errorf(format, args...)}
}

// largest returns the largest size below a limit in the names of the files with a
// prefix, 0 if there is none.
func (s *CheckpointSink) largest(ctx context.Context, prefix string, below uint64) (uint64, error) {
	low, high := uint64(0), below-1
	for middle := uint64(0); ; middle = low + (high-low+1)/2 {
		// No name is only digits, so the marker is behind all smaller sizes and
		// before its own.
		keys, more, err := s.bucket.keysBehind(ctx, prefix, fmt.Sprintf("%s%020d", prefix, middle))
		if err != nil {
			return 0, err
		}
		sizes := sizesOf(keys, prefix, below)
		switch {
		case len(sizes) > 0:
			low = max(low, sizes[len(sizes)-1])
		case middle > 0:
			high = middle - 1
		}
		if !more && len(sizes) > 0 || low >= high || middle == 0 && !more {
			return low, nil
		}
	}
}

// sizesOf returns the sizes below a limit in names, in order.
func sizesOf(keys []string, prefix string, below uint64) []uint64 {
	var sizes []uint64
	for _, key := range keys {
		name := strings.TrimPrefix(key, prefix)
		if !checkpointObject.MatchString(name) {
			continue
		}
		if size, err := strconv.ParseUint(name[:20], 10, 64); err == nil && size < below {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// readSmall reads a checkpoint or a time stamp.
func (b *Bucket) readSmall(ctx context.Context, v *version) ([]byte, error) {
	if v.size > maxSmall {
		return nil, errors.New(b.address(v) + " is larger than a checkpoint can be")
	}
	r := b.read(ctx, v)
	defer r.Close()
	return io.ReadAll(r)
}
