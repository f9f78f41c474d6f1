// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package readrecordprocessor

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// TestRequestsBeyondTheBoundWaitTheirTurn has one request that fills the bound
// wait for the journal; the next one waits until its sender gives up, and gets
// its turn when the first is done.
func TestRequestsBeyondTheBoundWaitTheirTurn(t *testing.T) {
	reached, done := make(chan struct{}), make(chan struct{})
	calls := 0
	next, err := consumer.NewTraces(func(context.Context, ptrace.Traces) error {
		if calls++; calls == 1 {
			close(reached)
			<-done
		}
		return nil
	})
	require.NoError(t, err)
	p, err := NewFactory().CreateTraces(t.Context(), settings(nil), defaults(), next)
	require.NoError(t, err)

	large, small := ptrace.NewTraces(), ptrace.NewTraces()
	toolSpan(newScope(large), 1).Attributes().PutStr("anything", strings.Repeat("x", maxInFlightBytes))
	toolSpan(newScope(small), 2)

	first := make(chan error, 1)
	go func() { first <- p.ConsumeTraces(t.Context(), large) }()
	<-reached
	impatient, giveUp := context.WithCancel(t.Context())
	giveUp()
	require.ErrorIs(t, p.ConsumeTraces(impatient, small), context.Canceled)
	close(done)
	require.NoError(t, <-first)
	require.NoError(t, p.ConsumeTraces(t.Context(), small))
	require.Equal(t, 2, calls)
}

// TestWorkEndsWhenNobodyWaitsForTheAnswer demands that nothing is passed on.
func TestWorkEndsWhenNobodyWaitsForTheAnswer(t *testing.T) {
	p, out := newTraces(t, settings(nil), defaults())
	td := ptrace.NewTraces()
	toolSpan(newScope(td), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.ConsumeTraces(ctx, td), context.Canceled)
	require.Nil(t, out.ctx, "nothing was passed on")
}
