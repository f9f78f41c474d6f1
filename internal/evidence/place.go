// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"context"
	"io"
)

// Place is where objects are: a directory, or a bucket of an object storage.
// Names are slash-separated. It is safe for concurrent use.
type Place interface {
	Reading
	// Create makes an object durable under its name and reports whether it had
	// to be written. One that is there with the same size is left alone, and is
	// durable too when Create returns nil; one of another size is what a
	// broken disk left of it, and is replaced. Nobody ever sees a part of an
	// object under its name.
	Create(ctx context.Context, name string, object []byte) (created bool, err error)
}

// Reading is what can be done with a place by who only reads.
type Reading interface {
	// Open opens an object. One that does not exist is fs.ErrNotExist.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the next elements of the names that begin with the prefix and
	// a slash, without those of objects, sorted; all first elements for "".
	List(ctx context.Context, prefix string) ([]string, error)
}
