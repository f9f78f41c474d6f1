// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package crashfs

import "path/filepath"

// Kind is a kind of operation.
type Kind string

// The kinds of operations.
const (
	OpMkdir    Kind = "mkdir"
	OpCreate   Kind = "create"
	OpOpen     Kind = "open"
	OpRename   Kind = "rename"
	OpUnlink   Kind = "unlink"
	OpList     Kind = "list"
	OpRead     Kind = "read"
	OpWrite    Kind = "write"
	OpTruncate Kind = "truncate"
	OpSync     Kind = "sync"
	OpSyncDir  Kind = "syncdir"
	OpCheck    Kind = "check"
)

// Op is an operation about to happen.
type Op struct {
	// N counts operations of all kinds, from 1.
	N    int
	Kind Kind
	// Name is the base name of the file or directory.
	Name string
}

// Loss says what a failed sync does to what was not yet durable.
type Loss int

// The losses that real file systems show.
const (
	// LoseNothing leaves it waiting for the next sync.
	LoseNothing Loss = iota
	// LoseUnseen drops it from what a later sync writes, while readers still
	// see it: the pages are marked clean (ext4, XFS).
	LoseUnseen
	// LoseSeen drops it from the cache too (btrfs).
	LoseSeen
)

// Fault is what goes wrong with an operation; the zero Fault is nothing.
type Fault struct {
	// Err is what the operation returns.
	Err error
	// Short makes a write that fails leave half of its bytes.
	Short bool
	// After makes any other operation take effect before it fails.
	After bool
	// Loss is for syncs only.
	Loss Loss
}

// SetFaults asks decide about every operation from now on; nil ends it. It is
// called with the file system locked and must not call it.
func (f *FS) SetFaults(decide func(Op) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = decide
}

// FailAt fails the operation number n, counted by Op.N.
func (f *FS) FailAt(n int, fault Fault) {
	f.SetFaults(func(op Op) Fault {
		if op.N == n {
			return fault
		}
		return Fault{}
	})
}

// begin counts an operation and says what goes wrong with it. The caller holds
// the lock.
func (f *FS) begin(kind Kind, path string) Fault {
	if f.dead {
		return Fault{Err: ErrPowerLost}
	}
	f.ops++
	if f.crashAt > 0 && f.ops >= f.crashAt {
		f.dead = true
		return Fault{Err: ErrPowerLost, Short: f.rng.IntN(2) == 0, After: f.rng.IntN(2) == 0}
	}
	if f.faults == nil {
		return Fault{}
	}
	return f.faults(Op{N: f.ops, Kind: kind, Name: filepath.Base(path)})
}
