// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/readtrail/readtrail/internal/checkpoint"
)

// CheckpointSink keeps checkpoints and their time stamps in a bucket with Object
// Lock, each locked from its upload on.
type CheckpointSink struct {
	name   string
	bucket *Bucket
	// place returns the key that checkpoints of a journal have before the names of
	// their files, and how they are locked.
	place func(journalID string) (string, retention, error)
	// checked says that the bucket was found to lock objects.
	checked atomic.Bool
}

var _ checkpoint.Sink = (*CheckpointSink)(nil)

// NewCheckpointSink makes a bucket a sink of its own: <prefix>/<journal_id>/, with
// one retention for all journals.
func NewCheckpointSink(name string, b *Bucket, mode Mode, keep time.Duration, legalHold bool) (*CheckpointSink, error) {
	const all = "checkpoints"
	p := Policy{Mode: mode, Keep: map[string]time.Duration{all: keep}, LegalHold: legalHold}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("sink of checkpoints: %w", err)
	}
	r, err := p.of(all)
	return &CheckpointSink{name: name, bucket: b, place: func(journalID string) (string, retention, error) {
		if !plainName.MatchString(journalID) {
			return "", r, errors.New("the id of the journal cannot be part of a key")
		}
		return path.Join(b.prefix, journalID), r, nil
	}}, err
}

// CheckpointSink returns the sink that puts the checkpoints of the journals of one
// place beside their segments. The place has no id of a journal yet: a journal that
// is opened for the first time has none.
func (a *Archive) CheckpointSink(name string, p Place) *CheckpointSink {
	return &CheckpointSink{name: name, bucket: a.bucket, place: func(journalID string) (string, retention, error) {
		p := p
		p.JournalID = journalID
		r, err := a.policy.of(p.RetentionClass)
		return a.bucket.key(p, checkpointsPart, ""), r, errors.Join(p.check(), err)
	}}
}

// Name implements checkpoint.Sink.
func (s *CheckpointSink) Name() string { return s.name }

// Put implements checkpoint.Sink. The tokens come first, so that a checkpoint that
// is there has them.
func (s *CheckpointSink) Put(ctx context.Context, attested checkpoint.Attested) error {
	c := attested.Checkpoint
	dir, r, err := s.place(c.Origin)
	if err != nil {
		return err
	}
	if !s.checked.Load() {
		if err := s.bucket.Check(ctx); err != nil {
			return reasoned(err)
		}
		s.checked.Store(true)
	}
	for _, t := range attested.Tokens {
		name := path.Base(checkpoint.TokenName(c.Origin, c.Size, t.Authority))
		if err := s.put(ctx, path.Join(dir, name), t.Response, r); err != nil {
			return err
		}
	}
	return s.put(ctx, path.Join(dir, path.Base(checkpoint.CheckpointName(c.Origin, c.Size))), c.Note, r)
}

func (s *CheckpointSink) put(ctx context.Context, key string, data []byte, r retention) error {
	_, err := s.bucket.ensure(ctx, uploadOf(key, data), r, nil)
	return reasoned(err)
}

// reasoned gives an error the reason by which a journal tells of it.
func reasoned(err error) error {
	var reason checkpoint.Reason
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		reason = checkpoint.ReasonTimeout
	case errors.Is(err, ErrConflict):
		reason = checkpoint.ReasonConflict
	case errors.Is(err, ErrNotLocked), errors.Is(err, ErrNoObjectLock), errors.Is(err, ErrClock), statusOf(err) > 0:
		reason = checkpoint.ReasonRefused
	default:
		reason = checkpoint.ReasonUnreachable
	}
	return &checkpoint.Error{Reason: reason, Err: &callError{strings.ReplaceAll(err.Error(), "\n", "; "), err}}
}
