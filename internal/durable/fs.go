// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package durable is the only place that creates and syncs the files of a
// journal. FS is what the layers above see of a disk; OS is the real one, and
// package crashfs has one that loses power and runs full.
//
// Every method states what has reached the disk when it returns. What a method
// does not promise has to be assumed lost in a crash.
package durable

import (
	"errors"
	"io"
)

// ErrLocked says that another process, or another opener in this one, holds
// the lock of a directory.
var ErrLocked = errors.New("directory is locked by another writer")

// FS is a file system that can tell what is durable. Paths are those of package
// filepath. It is safe for concurrent use.
type FS interface {
	// MkdirAll creates dir and the missing directories above it. When it
	// returns, every directory that it created is durable: the parent of each
	// was synced after the creation.
	MkdirAll(dir string) error
	// Create creates a file that must not exist (fs.ErrExist). The file's name is
	// not durable before SyncDir of its directory returned.
	Create(path string) (File, error)
	// OpenFile opens an existing file for reading and writing.
	OpenFile(path string) (File, error)
	// Open opens an existing file for reading.
	Open(path string) (Reader, error)
	// List returns the names and sizes of the regular files in dir, sorted by
	// name. A directory that does not exist has none.
	List(dir string) ([]Info, error)
	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of dir, without waiting, or returns
	// ErrLocked. The lock ends with Close or with the process.
	Lock(dir string) (io.Closer, error)
}

// Info is a regular file in a directory.
type Info struct {
	Name string
	// Size is in bytes.
	Size int64
}

// Reader reads a file at offsets. It is safe for concurrent use.
type Reader interface {
	io.ReaderAt
	io.Closer
	// Size returns the bytes in the file now.
	Size() (int64, error)
}

// File is a file that is written. Nothing that was written or truncated is
// durable before Sync returned nil; after Sync returned an error, nobody knows
// what of it is, and a later Sync of the same pages proves nothing: what they
// held has to be written again (docs/durability.md, fsync).
type File interface {
	Reader
	io.WriterAt
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// Sync makes data and size of the file durable.
	Sync() error
}
