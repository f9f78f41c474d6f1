// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package durable is the only place that creates and syncs the files of a
// journal and of an evidence store. FS is what the layers above see of a disk;
// OS is the real one, and package crashfs has one that loses power and runs full.
//
// Every method states what has reached the disk when it returns. What a method
// does not promise has to be assumed lost in a crash.
package durable

import (
	"errors"
	"io"
)

var (
	// ErrLocked says that another process, or another opener in this one, holds
	// the lock of a directory.
	ErrLocked = errors.New("directory is locked: another collector or process writes this journal; " +
		"stop it or give this one another directory")
	// ErrGone says that a path no longer leads to the file or directory that was
	// opened there: it was deleted, or is another one now.
	ErrGone = errors.New("was deleted or replaced while in use")
	// ErrSize says that a file was changed by somebody else.
	ErrSize = errors.New("size is not what was written")
)

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
	// Open opens an existing regular file for reading.
	Open(path string) (Reader, error)
	// Rename gives a file another name, in the place of a file that has it. Who
	// looks finds the one or the other, whole. The new name is not durable before
	// SyncDir of its directory returned, and a crash before that may leave both,
	// either or neither.
	Rename(from, to string) error
	// Unlink takes a file's name away. That is not durable before SyncDir of its
	// directory returned.
	Unlink(path string) error
	// List returns the names and sizes of the regular files in dir, sorted by
	// name. A directory that does not exist has none.
	List(dir string) ([]Info, error)
	// ListDirs returns the names of the directories in dir and of links to such,
	// sorted. A directory that does not exist has none.
	ListDirs(dir string) ([]string, error)
	// SyncDir makes the names in dir durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of dir, without waiting, or returns
	// ErrLocked. The lock ends with Close or with the process.
	Lock(dir string) (Lock, error)
}

// Lock is the lock of a directory.
type Lock interface {
	io.Closer
	// Check returns nil while the directory at the path is the one that is locked,
	// and ErrGone or what else is in the way if not.
	Check() error
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
	// Check returns ErrGone if the file has no name any more, so that what was
	// synced ends with the process, and ErrSize if it has not size bytes.
	Check(size int64) error
}
