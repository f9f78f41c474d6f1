// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/readtrail/readtrail/internal/durable"
)

// Journal is a journal on this machine.
type Journal struct {
	Place
	Dir string
	FS  durable.FS
}

// Archive keeps journals in a bucket. It remembers what it made sure of, and
// nothing longer than the process lives. It is safe for concurrent use.
type Archive struct {
	bucket *Bucket
	policy Policy

	mu sync.Mutex
	// sure are the objects that were found as demanded, by key.
	sure map[string]*Locked
	// agreed are the journals of which the archive held nothing that is not here.
	agreed map[Place]bool
}

// New makes an archive in a bucket.
func New(b *Bucket, p Policy) (*Archive, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return &Archive{bucket: b, policy: p, sure: map[string]*Locked{}, agreed: map[Place]bool{}}, nil
}

// Bucket returns where the archive is.
func (a *Archive) Bucket() *Bucket { return a.bucket }

// State is how a file of a journal stands in an archive.
type State string

// The states.
const (
	// Archived: the same bytes, locked as demanded.
	Archived State = "archived"
	// Missing: the archive does not hold it.
	Missing State = "missing"
	// Conflict: the archive holds other bytes.
	Conflict State = "conflict"
	// Unlocked: the same bytes, not locked as demanded.
	Unlocked State = "unlocked"
	// Damaged: the file here is not what a writer wrote.
	Damaged State = "damaged"
	// Unknown: it could not be found out.
	Unknown State = "unknown"
)

// File is a file of a journal that can be archived.
type File struct {
	Name string
	// First is the sequence of its first entry, 0 for one that holds none.
	First uint64
	// Size is in bytes.
	Size  int64
	State State
	// Locked is the object if it has the bytes of the file.
	Locked *Locked
	// Err says why it is not archived.
	Err error
}

// Status is how far the archive of a journal is.
type Status struct {
	Place
	// Files are the sealed segments, in order, and what was torn off them.
	Files []File
	// Stored counts the objects that this run stored.
	Stored int
	// Ahead is an ErrAhead if the archive holds segments that are not here.
	Ahead error
}

// Counts returns how many segments are archived and how many wait; oldest is the
// first sequence of the oldest of those, 0 if there is none.
func (s *Status) Counts() (archived, waiting int, oldest uint64) {
	for _, f := range s.Files {
		switch {
		case f.First == 0:
		case f.State == Archived:
			archived++
		default:
			if waiting++; oldest == 0 {
				oldest = f.First
			}
		}
	}
	return archived, waiting, oldest
}

// Contradicted says that the archive holds another history than the journal here.
func (s *Status) Contradicted() bool {
	return s.Ahead != nil || slices.ContainsFunc(s.Files, func(f File) bool { return f.State == Conflict })
}

// Err joins what kept files from being archived, nil if all are.
func (s *Status) Err() error {
	errs := []error{s.Ahead}
	for _, f := range s.Files {
		if f.Err != nil {
			errs = append(errs, f.Err)
		}
	}
	return errors.Join(errs...)
}

// Push stores every sealed segment of a journal that the archive does not hold,
// oldest first, and says how all of them stand. One that is damaged does not keep the
// others from being archived. Nothing is stored behind a conflict, nor if the archive
// is ahead: it would lock a second history of the journal. A bucket that does not
// answer ends the run: the error says so, and Status what is known.
func (a *Archive) Push(ctx context.Context, j Journal) (*Status, error) {
	return a.walk(ctx, j, true)
}

// Look says how the sealed segments of a journal stand and stores nothing.
func (a *Archive) Look(ctx context.Context, j Journal) (*Status, error) {
	return a.walk(ctx, j, false)
}

// Known says what is known of the sealed segments of a journal without asking the
// server: Archived is what was made sure of, all else is Unknown.
func (a *Archive) Known(j Journal) (*Status, error) {
	status := &Status{Place: j.Place}
	files, err := sealedFiles(j.FS, j.Dir)
	if err != nil {
		return status, err
	}
	status.rest(files, nil)
	for i := range status.Files {
		f := &status.Files[i]
		if l := a.remembered(a.bucket.key(j.Place, segmentsPart, f.Name)); l != nil && l.Size == f.Size {
			f.State, f.Locked = Archived, l
		}
	}
	return status, nil
}

func (a *Archive) walk(ctx context.Context, j Journal, store bool) (*Status, error) {
	status := &Status{Place: j.Place}
	r, err := a.policy.of(j.RetentionClass)
	if err = errors.Join(err, j.check()); err != nil {
		return status, err
	}
	files, err := sealedFiles(j.FS, j.Dir)
	if err != nil {
		return status, err
	}
	var known map[string]*version
	if !a.hasAgreed(j.Place) {
		if known, err = a.ask(ctx, j, status); err != nil {
			status.rest(files, err)
			return status, err
		}
	}
	for i, f := range files {
		key := a.bucket.key(j.Place, segmentsPart, f.name)
		file := File{Name: f.name, First: f.first, Size: f.size, State: Unknown}
		if l := a.remembered(key); l != nil && l.Size == f.size {
			file.State, file.Locked = Archived, l
			status.Files = append(status.Files, file)
			continue
		}
		if known == nil {
			if known, err = a.ask(ctx, j, status); err != nil {
				status.rest(files[i:], err)
				return status, err
			}
		}
		wasThere := known[key] != nil
		file.Locked, file.Err = a.file(ctx, j, f, r, known[key], store && status.Ahead == nil)
		file.State = stateOf(file.Err)
		store = store && file.State != Conflict
		if file.State == Archived {
			a.remember(file.Locked)
			if !wasThere {
				status.Stored++
			}
		}
		status.Files = append(status.Files, file)
		if file.State == Unknown {
			status.rest(files[i+1:], nil)
			return status, file.Err
		}
	}
	return status, nil
}

// rest adds the files that a run did not come to.
func (s *Status) rest(files []sealed, err error) {
	for i, f := range files {
		file := File{Name: f.name, First: f.first, Size: f.size, State: Unknown}
		if i == 0 {
			file.Err = err
		}
		s.Files = append(s.Files, file)
	}
}

// listSegments makes sure that the bucket can lock before it lists anything.
func (a *Archive) listSegments(ctx context.Context, p Place) (map[string]*version, error) {
	if err := a.bucket.Check(ctx); err != nil {
		return nil, err
	}
	return a.bucket.versions(ctx, a.bucket.key(p, segmentsPart, "")+"/")
}

// file makes sure of one file.
func (a *Archive) file(ctx context.Context, j Journal, f sealed, r retention, known *version, store bool) (*Locked, error) {
	c, err := examine(j.FS, j.Dir, f)
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", j.Place, err)
	}
	u := upload{
		key: a.bucket.key(j.Place, segmentsPart, f.name), size: f.size, digest: c.digest, recorded: c.recorded,
		open: func() (io.ReadSeekCloser, error) { return openSection(j.FS, filepath.Join(j.Dir, f.name), f.size) },
	}
	if store {
		return a.bucket.ensure(ctx, u, r, known)
	}
	if known == nil {
		return nil, fmt.Errorf("%s: %w", a.bucket.url(u.key), ErrAbsent)
	}
	return a.bucket.inspect(ctx, u, r, known)
}

func stateOf(err error) State {
	switch {
	case err == nil:
		return Archived
	case errors.Is(err, ErrConflict):
		return Conflict
	case errors.Is(err, ErrNotLocked):
		return Unlocked
	case errors.Is(err, ErrAbsent):
		return Missing
	case errors.Is(err, errDamaged):
		return Damaged
	}
	return Unknown
}

func (a *Archive) remembered(key string) *Locked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sure[key]
}

func (a *Archive) remember(l *Locked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sure[l.Key] = l
}
