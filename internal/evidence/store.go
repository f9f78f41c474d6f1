// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"filippo.io/age"
	"golang.org/x/sync/errgroup"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable"
)

// concurrency is how many objects of one request are written at the same time.
const concurrency = 8

// Store is the writing side. It has no identity: it cannot read what it stored.
type Store struct {
	place Place
	sets  []Set
	now   func() time.Time

	mu sync.Mutex
	// agreed are the sets whose recipients.txt is durable and lists their keys.
	agreed map[string]bool
}

// Tally is what a Put did.
type Tally struct {
	// Stored counts the objects that were written, Repeats those that were there.
	Stored, Repeats int64
	// Bytes is the size of what was written, encrypted.
	Bytes int64
}

// NewStore returns the store in a place. The keys of a set that is there
// already must be those that it was begun with.
func NewStore(ctx context.Context, place Place, sets []Set) (*Store, error) {
	if err := CheckSets(sets); err != nil {
		return nil, err
	}
	s := &Store{place: place, sets: sets, now: time.Now, agreed: map[string]bool{}}
	organizations, err := place.List(ctx, "")
	if err != nil {
		return nil, err
	}
	for i := range sets {
		for _, organization := range organizations {
			if sets[i].Organization != "" && durable.PathElement(sets[i].Organization) != organization {
				continue
			}
			dir := path.Join(organization, durable.PathElement(sets[i].Class), durable.PathElement(sets[i].Name))
			if err := s.compare(ctx, dir, &sets[i]); err != nil {
				return nil, fmt.Errorf("recipients::%d: %w", i, err)
			}
		}
	}
	return s, nil
}

// Put returns when every copy is durable. After an error the caller puts all of
// them again: those that are there are left alone.
func (s *Store) Put(ctx context.Context, organization, class string, copies []carrier.Copy) (Tally, error) {
	if len(copies) == 0 {
		return Tally{}, nil
	}
	if organization == "" || class == "" {
		return Tally{}, errors.New("copies without an organization or a retention class have no place in an evidence store")
	}
	set, err := inForce(s.sets, organization, class, s.now())
	if err != nil {
		return Tally{}, err
	}
	dir := pathOf(organization, class, set.Name)
	if err := s.agree(ctx, dir, set); err != nil {
		return Tally{}, err
	}
	var stored, repeats, size atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, c := range distinct(copies) {
		group.Go(func() error {
			created, n, err := s.put(ctx, dir, set, c)
			switch {
			case err != nil:
			case created:
				stored.Add(1)
				size.Add(int64(n))
			default:
				repeats.Add(1)
			}
			return err
		})
	}
	if err = group.Wait(); err != nil {
		s.forget(dir)
	}
	return Tally{Stored: stored.Load(), Repeats: repeats.Load(), Bytes: size.Load()}, err
}

// distinct leaves out copies whose digest an earlier one has.
func distinct(copies []carrier.Copy) []carrier.Copy {
	seen := make(map[string]bool, len(copies))
	return slices.DeleteFunc(slices.Clone(copies), func(c carrier.Copy) bool {
		again := seen[c.Digest]
		seen[c.Digest] = true
		return again
	})
}

// put returns the size of the object that it created.
func (s *Store) put(ctx context.Context, dir string, set *Set, c carrier.Copy) (created bool, size int, err error) {
	digest, err := ParseDigest(c.Digest)
	if err != nil {
		return false, 0, fmt.Errorf("store copy: %w", err)
	}
	if digest.KeyID == "" && sha256.Sum256(c.Content) != digest.Sum {
		return false, 0, fmt.Errorf("store copy: the content of %s has another digest", c.Digest)
	}
	object, err := encrypt(c.Content, set.Recipients)
	if err != nil {
		return false, 0, fmt.Errorf("encrypt copy %s: %w", c.Digest, err)
	}
	created, err = s.place.Create(ctx, digest.nameIn(dir), object)
	if err != nil {
		return false, 0, fmt.Errorf("store copy %s: %w", c.Digest, err)
	}
	return created, len(object), nil
}

func encrypt(content []byte, to Recipients) ([]byte, error) {
	var object bytes.Buffer
	w, err := age.Encrypt(&object, to.keys...)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return object.Bytes(), err
}

// agree makes recipients.txt of a set durable before its first object.
func (s *Store) agree(ctx context.Context, dir string, set *Set) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.agreed[dir] {
		return nil
	}
	if err := s.compare(ctx, dir, set); err != nil {
		return err
	}
	// One that is there may have a name that is not durable.
	if _, err := s.place.Create(ctx, path.Join(dir, recipientsFile), set.Recipients.text()); err != nil {
		return fmt.Errorf("store the recipients of set %q: %w", set.Name, err)
	}
	s.agreed[dir] = true
	return nil
}

// forget makes the next Put look at recipients.txt again: what is in the way of
// an object may have taken it away too.
func (s *Store) forget(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.agreed, dir)
}

// compare refuses a set that was begun with other keys: its objects could then
// not be erased by destroying what this configuration names.
func (s *Store) compare(ctx context.Context, dir string, set *Set) error {
	texts, err := recipientsOf(ctx, s.place, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it has not begun
	case err != nil:
		return fmt.Errorf("read the recipients of set %q: %w", set.Name, err)
	case !slices.Equal(texts, set.Recipients.texts):
		return fmt.Errorf("the set %q of the retention class %q was begun with other public keys, which stand in %s/%s: "+
			"give new keys a set of their own, with a name and a from of its own", set.Name, set.Class, dir, recipientsFile)
	}
	return nil
}

// recipientsOf reads recipients.txt of a set.
func recipientsOf(ctx context.Context, place Reading, dir string) ([]string, error) {
	file, err := place.Open(ctx, path.Join(dir, recipientsFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readLines(file, func(string) error { return nil })
}
