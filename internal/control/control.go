// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package control lets an operator set and lift legal holds and prune while a
// collector writes the journals: HTTP with JSON over a Unix socket in the
// directory of the journals. Whoever is the collector's own user, or root, may
// use it; nobody else can connect (mode 0600). The same operations run on a
// ledger that the command line opened itself, with the same refusals.
package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// The paths of the operations, each a POST.
const (
	pathStanding   = "/v1/standing"
	pathHoldSet    = "/v1/holds/set"
	pathHoldLifted = "/v1/holds/lift"
	pathPrune      = "/v1/prune"
)

// StandingRequest asks which holds are set and where the journal begins. The answer
// is a ledger.Standing.
type StandingRequest struct {
	JournalID string `json:"journal_id"`
}

// HoldRequest asks to set or lift a legal hold. The answer is a journal.Receipt.
type HoldRequest struct {
	JournalID string `json:"journal_id"`
	record.Hold
}

// PruneRequest asks to prune. Without a FirstSequence only what was announced
// before is removed.
type PruneRequest struct {
	JournalID string `json:"journal_id"`
	// FirstSequence is that of the first entry that stays.
	FirstSequence uint64 `json:"first_sequence,omitzero"`
	// KeepDays is for how many days entries of the journal's class are kept.
	KeepDays    int64  `json:"keep_days"`
	RequestedBy string `json:"requested_by,omitzero"`
	// Checkpoint is a signed note that covers what goes (contract 5).
	Checkpoint string `json:"checkpoint,omitzero"`
	// RequireArchived demands a locked copy of every segment that goes.
	RequireArchived bool `json:"require_archived,omitzero"`
}

// PruneResponse says what was done, also beside an error.
type PruneResponse struct {
	// FirstSequence is that of the first entry that is left.
	FirstSequence uint64 `json:"first_sequence"`
	// Announced are the segments that this request had a journal.pruned name.
	Announced []record.PrunedSegment `json:"announced,omitempty"`
	// Removed is how many segments are gone, with those announced before.
	Removed int `json:"removed"`
}

// Archived returns where a locked copy of a segment is, having asked for it.
type Archived func(ctx context.Context, journalID string, s record.PrunedSegment) (string, error)

// Code is what kind of error it is.
type Code string

// The codes of errors.
const (
	// CodeRequest: the request cannot be read, or asks for what can never be.
	CodeRequest Code = "bad_request"
	// CodeJournal: this collector does not write that journal.
	CodeJournal Code = "unknown_journal"
	// CodeHeld: a legal hold is set.
	CodeHeld Code = "held"
	// CodeRefused: the state of the journal does not allow it.
	CodeRefused Code = "refused"
	// CodeUnavailable: the journal cannot be written now, or asked again later.
	CodeUnavailable Code = "unavailable"
)

// Error is why an operation was not done, or not to its end.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Done is what a pruning did before.
	Done *PruneResponse `json:"done,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Standing returns which holds are set and where the journal begins.
func Standing(ctx context.Context, l *ledger.Ledger, _ StandingRequest) (ledger.Standing, error) {
	s, err := l.Standing(ctx)
	return s, asError(err)
}

// SetHold sets a legal hold.
func SetHold(ctx context.Context, l *ledger.Ledger, r HoldRequest) (journal.Receipt, error) {
	return holdChanged(r, func() (journal.Receipt, error) { return l.SetHold(ctx, r.Hold) })
}

// LiftHold lifts a legal hold.
func LiftHold(ctx context.Context, l *ledger.Ledger, r HoldRequest) (journal.Receipt, error) {
	return holdChanged(r, func() (journal.Receipt, error) { return l.LiftHold(ctx, r.Hold) })
}

func holdChanged(r HoldRequest, change func() (journal.Receipt, error)) (journal.Receipt, error) {
	if err := ledger.CheckHold(r.Hold); err != nil {
		return journal.Receipt{}, &Error{Code: CodeRequest, Message: err.Error()}
	}
	receipt, err := change()
	return receipt, asError(err)
}

// Prune prunes. Archived may be nil if there is no archive to ask.
func Prune(ctx context.Context, l *ledger.Ledger, r PruneRequest, archived Archived) (PruneResponse, error) {
	p := ledger.Pruning{FirstSequence: r.FirstSequence, KeepDays: r.KeepDays, RequestedBy: r.RequestedBy}
	if r.Checkpoint != "" {
		var err error
		if p.Checkpoint, err = journal.ParseCheckpoint([]byte(r.Checkpoint)); err != nil {
			return PruneResponse{}, &Error{Code: CodeRequest, Message: err.Error()}
		}
	}
	if r.RequireArchived {
		if archived == nil {
			return PruneResponse{}, &Error{Code: CodeRefused, Message: "no archive is configured that could be asked for copies"}
		}
		p.Archived = func(ctx context.Context, s record.PrunedSegment) (string, error) {
			return archived(ctx, l.JournalID(), s)
		}
	}
	done, err := l.Prune(ctx, p)
	response := PruneResponse{FirstSequence: done.FirstSequence, Announced: done.Announced, Removed: done.Removed}
	if err = asError(err); err != nil {
		err.(*Error).Done = &response
	}
	return response, err
}

// asError gives an error of a ledger its code.
func asError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ledger.ErrHeld):
		return &Error{Code: CodeHeld, Message: err.Error()}
	case errors.Is(err, ledger.ErrUnavailable), errors.Is(err, ledger.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeUnavailable, Message: err.Error()}
	}
	return &Error{Code: CodeRefused, Message: err.Error()}
}

// errUnknownJournal says which journal it is not.
func errUnknownJournal() error {
	return &Error{Code: CodeJournal, Message: "this collector does not write that journal; stop the process that has its lock, or use its control socket"}
}

func requestError(err error) *Error {
	return &Error{Code: CodeRequest, Message: fmt.Sprintf("request cannot be read: %v", err)}
}
