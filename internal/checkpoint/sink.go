// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkpoint says to places outside a journal which entries the journal
// has (contract 5): it grows the journal's tree, signs a checkpoint after a
// number of entries or a time and at the end, has witnesses and time stamp
// authorities attest it, and puts it into stores. No place can hold up the
// journal: each has a hard time limit, and one that fails or hangs is told of in
// the journal before the next checkpoint.
package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
)

// Attested is a checkpoint with what others said of it.
type Attested struct {
	// Checkpoint has the cosignatures that came, beside the journal's signature.
	Checkpoint *journal.SignedCheckpoint
	// Tokens are the time stamps that came, verified.
	Tokens []Token
}

// Token is the time stamp of an authority.
type Token struct {
	// Authority is the name that the configuration gives it.
	Authority string
	// Response is the TimeStampResp of RFC 3161 in DER, over the SHA-256 of the
	// checkpoint's text.
	Response []byte
}

// Sink is a store outside the journal that keeps checkpoints. Its methods may be
// called for several journals at the same time.
type Sink interface {
	// Name is the name in metrics, logs and entries.
	Name() string
	// Put keeps a checkpoint. When it returns nil, the checkpoint is durable there,
	// under CheckpointName, and its tokens under TokenName. It never replaces
	// anything; the same bytes again are a success.
	Put(ctx context.Context, a Attested) error
	// Latest returns the largest checkpoint of a journal that the sink holds, nil if
	// it holds none. An error means that it could not be asked.
	Latest(ctx context.Context, journalID string) (*journal.SignedCheckpoint, error)
}

// Prove proves that the checkpoint at hand continues the tree of an older size.
type Prove func(old uint64) ([][sha256.Size]byte, error)

// Statement is what an Attester says: one of the two is there.
type Statement struct {
	// Cosignatures are lines of a signed note.
	Cosignatures []byte
	// Token is a TimeStampResp.
	Token []byte
}

// Attester is somebody outside the journal who attests checkpoints. Its methods
// may be called for several journals at the same time.
type Attester interface {
	Name() string
	// Attest returns a statement that was verified.
	Attest(ctx context.Context, c *journal.SignedCheckpoint, prove Prove) (Statement, error)
}

// CheckpointName returns the path of a checkpoint in a store, with slashes.
func CheckpointName(journalID string, size uint64) string {
	return fmt.Sprintf("%s/%020d%s", durable.PathElement(journalID), size, checkpointSuffix)
}

// Covering returns which of the sizes of kept checkpoints is asked for to cover so
// many entries: the smallest that does, or the largest of all if none does. It is 0
// if there are none.
func Covering(sizes iter.Seq[uint64], entries uint64) (best uint64) {
	for n := range sizes {
		if best < entries && n > best || n >= entries && n < best {
			best = n
		}
	}
	return best
}

// TokenName returns the path of a time stamp in a store, with slashes.
func TokenName(journalID string, size uint64, authority string) string {
	return fmt.Sprintf("%s/%020d.%s%s", durable.PathElement(journalID), size, durable.PathElement(authority), tokenSuffix)
}

const (
	checkpointSuffix = ".checkpoint"
	tokenSuffix      = ".tsr"
)

// Reason says in one token why a place did not take a checkpoint; it stands in
// journal.gap and in metrics.
type Reason string

// The reasons.
const (
	// ReasonTimeout: it did not answer in time.
	ReasonTimeout Reason = "timeout"
	// ReasonUnreachable: no connection, or no such directory.
	ReasonUnreachable Reason = "unreachable"
	// ReasonRefused: it answered that it does not take it.
	ReasonRefused Reason = "refused"
	// ReasonInvalid: what it answered does not verify.
	ReasonInvalid Reason = "invalid"
	// ReasonConflict: it holds a checkpoint that contradicts the journal.
	ReasonConflict Reason = "conflict"
	// ReasonFailed: anything else.
	ReasonFailed Reason = "failed"
)

// Error is an error with its reason.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is says that a conflict is ErrConflict.
func (e *Error) Is(target error) bool { return target == ErrConflict && e.Reason == ReasonConflict }

// ErrConflict says that a place outside holds a checkpoint that the journal cannot
// have made as it is now: it was rolled back or rewritten, or there are two of it.
var ErrConflict = errors.New("checkpoint conflicts with the journal")

func failed(reason Reason, format string, args ...any) error {
	return &Error{reason, fmt.Errorf(format, args...)}
}

func reasonOf(err error) Reason {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Reason
	case errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	default:
		return ReasonFailed
	}
}
