// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"filippo.io/age"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
)

// What can be wrong with a copy. Other errors say that a place could not be read.
var (
	// ErrMissing: no object has the digest.
	ErrMissing = errors.New("no copy of it is in the store")
	// ErrSealed: the object may be whole, and nobody can tell.
	ErrSealed = errors.New("not decryptable with the identities given")
	// ErrNoKey: the object was opened, and its keyed digest not recomputed.
	ErrNoKey = errors.New("its keyed digest cannot be recomputed without the key")
	// ErrDamaged: the object is not what was stored.
	ErrDamaged = errors.New("the object was changed after it was stored: age cannot authenticate it")
	// ErrMismatch: the object holds another content than its name says.
	ErrMismatch = errors.New("the content of the object has another digest")
)

// Reader is the reading side. It holds one block of an object at a time.
type Reader struct {
	// Places are searched for an object, all of them.
	Places []Reading
	// Identities open objects; without any, nothing can be read.
	Identities []age.Identity
	// Keys recompute keyed digests, by key id.
	Keys map[string]*content.Key
}

// object is where a copy may be read.
type object struct {
	place Reading
	name  string
}

// Check reports whether a copy is in the store and is what its digest says: nil
// means that at least one object was opened and recomputed, and that none that
// could be opened is anything else. An organization or class of "" stands for
// all.
func (r *Reader) Check(ctx context.Context, organization, class string, d content.ParsedDigest) error {
	objects, err := r.find(ctx, organization, class, d)
	if err != nil {
		return err
	}
	var checked bool
	var unchecked error
	for _, o := range objects {
		switch err := r.read(ctx, o, d, io.Discard); {
		case err == nil:
			checked = true
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrMismatch):
			return err
		case unchecked == nil:
			unchecked = err
		}
	}
	if checked {
		return nil
	}
	return unchecked
}

// Get writes the content with a digest to w, from the first object that is
// whole. Nothing is written of an object that is not. It returns the name of the
// object.
func (r *Reader) Get(ctx context.Context, organization, class string, d content.ParsedDigest, w io.Writer) (string, error) {
	objects, err := r.find(ctx, organization, class, d)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, o := range objects {
		err := r.read(ctx, o, d, io.Discard)
		if err == nil {
			return o.name, r.read(ctx, o, d, w)
		}
		errs = append(errs, err)
	}
	return "", worst(errs)
}

// worst returns the error that tells most: damage, then a key that is missing,
// then an identity that is.
func worst(errs []error) error {
	for _, kind := range []error{ErrDamaged, ErrMismatch, ErrNoKey} {
		for _, err := range errs {
			if errors.Is(err, kind) {
				return err
			}
		}
	}
	return errs[0]
}

// find returns the objects with a digest, in every place and set; none is
// ErrMissing.
func (r *Reader) find(ctx context.Context, organization, class string, d content.ParsedDigest) ([]object, error) {
	var objects []object
	for _, place := range r.Places {
		dirs, err := setsIn(ctx, place, organization, class)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			name := nameIn(dir, d)
			file, err := place.Open(ctx, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			file.Close()
			objects = append(objects, object{place, name})
		}
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("%s: %w", d, ErrMissing)
	}
	return objects, nil
}

// setsIn returns the directories of all sets of a class.
func setsIn(ctx context.Context, place Reading, organization, class string) ([]string, error) {
	dirs := []string{""}
	for _, element := range []string{organization, class, ""} {
		var next []string
		for _, dir := range dirs {
			if element != "" {
				next = append(next, path.Join(dir, durable.PathElement(element)))
				continue
			}
			names, err := place.List(ctx, dir)
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				next = append(next, path.Join(dir, name))
			}
		}
		dirs = next
	}
	return dirs, nil
}

// IsBegun reports whether a place holds a set at all: an empty mount point or a
// mistyped directory does not.
func IsBegun(ctx context.Context, place Reading) (bool, error) {
	dirs, err := setsIn(ctx, place, "", "")
	if err != nil {
		return false, err
	}
	for _, dir := range dirs {
		if _, err := recipientsOf(ctx, place, dir); err == nil {
			return true, nil
		}
	}
	return false, nil
}

// Objects returns the names of the objects with a digest and where each is; none is
// ErrMissing. Nothing is opened: an object is encrypted.
func (r *Reader) Objects(ctx context.Context, organization, class string, d content.ParsedDigest) (map[string]Reading, error) {
	found, err := r.find(ctx, organization, class, d)
	if err != nil {
		return nil, err
	}
	objects := make(map[string]Reading, len(found))
	for _, o := range found {
		objects[o.name] = o.place
	}
	return objects, nil
}
