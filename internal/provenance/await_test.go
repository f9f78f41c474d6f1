// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package provenance_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/provenance"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source is a journal that gets entries while somebody follows it.
type source struct {
	mu      sync.Mutex
	entries []*journal.Entry
	given   int
	wake    chan<- struct{}
	looks   chan int // one value for each look
	err     error
}

func (s *source) follow(execution string, wake chan<- struct{}) (provenance.Trail, error) {
	if execution != "run_1" {
		return nil, errors.New("another execution is followed")
	}
	s.wake = wake
	return s, nil
}

func (s *source) Entries(context.Context) iter.Seq2[*journal.Entry, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.entries[s.given:]
	s.given = len(s.entries)
	if s.err != nil {
		return func(yield func(*journal.Entry, error) bool) { yield(nil, s.err) }
	}
	s.looks <- len(fresh)
	return entriesOf(fresh...)
}

func (s *source) Close() { s.wake = nil }

// add makes entries durable.
func (s *source) add(entries ...*journal.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, entries...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// until is the patience to wait for something.
func until(late <-chan struct{}) provenance.Patience {
	return func() (<-chan struct{}, error) { return late, nil }
}

func newSource() *source { return &source{looks: make(chan int, 100)} }

func TestADecisionWaitsForItsReadsAndIsConfirmedByTheLastOfThem(t *testing.T) {
	s, entries := newSource(), run(t, "run_1")
	need := provenance.OfDecision(decide(record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$"}))
	done := make(chan error)
	go func() { done <- provenance.Await(context.Background(), s.follow, need, until(make(chan struct{}))) }()
	require.Equal(t, 0, <-s.looks)
	s.add(entries[0])
	require.Equal(t, 1, <-s.looks, "woken, and not satisfied")
	s.add(entries[1])
	require.Equal(t, 1, <-s.looks)
	require.NoError(t, <-done)
	require.Empty(t, need.Unmet())
	require.Empty(t, s.looks, "nobody looks without a reason")
	require.Nil(t, s.wake)
}

func TestWhenTheTimeIsOverADecisionLooksOnceMore(t *testing.T) {
	s := newSource()
	need := provenance.OfDecision(decide(record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$"}))
	late, done := make(chan struct{}), make(chan error)
	go func() { done <- provenance.Await(context.Background(), s.follow, need, until(late)) }()
	require.Equal(t, 0, <-s.looks)
	close(late)
	require.NoError(t, <-done)
	require.Equal(t, 0, <-s.looks)
	require.Equal(t, []record.Unmet{{Field: "field", Code: "missing_field_provenance"}}, need.Unmet())

	// A time that is over at the beginning has no one wait.
	s.entries = run(t, "run_1")
	require.NoError(t, provenance.Await(t.Context(), s.follow, need, until(late)))
	require.Empty(t, need.Unmet())
}

func TestADecisionWithoutCitationsWaitsForNothing(t *testing.T) {
	need := provenance.OfDecision(decide(record.FieldSource{Source: "model", MarkedForReviewer: record.MarkedNo}))
	require.NoError(t, provenance.Await(t.Context(), nil, need, nil))
}

func TestAWaitEndsWithItsCallerOrWithTrouble(t *testing.T) {
	s := newSource()
	need := provenance.OfDecision(decide(record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$"}))
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client went away")
	done := make(chan error)
	go func() { done <- provenance.Await(ctx, s.follow, need, until(make(chan struct{}))) }()
	<-s.looks
	cancel(gone)
	require.ErrorIs(t, <-done, gone)

	full := errors.New("too many wait")
	require.ErrorIs(t, provenance.Await(t.Context(), s.follow, need, func() (<-chan struct{}, error) { return nil, full }), full)

	s.err = errors.New("disk trouble")
	require.ErrorIs(t, provenance.Await(t.Context(), s.follow, need, until(make(chan struct{}))), s.err)
	other := decide(record.FieldSource{Source: "tool", ToolCallID: "call_1", Path: "$"})
	other.Correlation.ExecutionID = "run_2"
	require.ErrorContains(t, provenance.Await(t.Context(), s.follow, provenance.OfDecision(other), nil), "another execution")
}
