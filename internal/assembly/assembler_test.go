// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// await receives, or fails after far longer than anything here takes.
func await(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("nothing was composed")
	}
}

func TestAnAssemblerIsTold(t *testing.T) {
	m := newMemory(t)
	var troubles []error
	composed := make(chan struct{}, 1)
	o := m.options(&troubles)
	o.Composed = func() { composed <- struct{}{} }
	a := New(o)
	a.Start()
	for _, d := range story(t) {
		m.put(d)
		a.Saw(scope, []*record.Draft{d})
	}
	await(t, composed)
	a.Close()
	require.Empty(t, troubles)
	require.Equal(t, []string{"agent.action.completed", "audit_event.received"}, m.types())
}

func TestAnAssemblerFindsWhatCameBeforeItsStart(t *testing.T) {
	m := newMemory(t)
	m.put(story(t)...)
	composed := make(chan struct{}, 1)
	o := m.options(new([]error))
	o.Composed = func() { composed <- struct{}{} }
	a := New(o)
	a.Start()
	await(t, composed)
	a.Close()
	a.Close()
}

func TestAnAssemblerThatDidNotStartCanBeClosed(t *testing.T) {
	New(newMemory(t).options(new([]error))).Close()
}

func TestTroubleIsTriedAgain(t *testing.T) {
	m := newMemory(t)
	m.put(story(t)...)
	var troubles []error
	a := New(m.options(&troubles))
	m.broken = errDown
	a.lookBack(t.Context())
	require.Equal(t, []error{errDown}, troubles)
	m.broken = nil
	a.lookBack(t.Context())
	m.broken = errDown
	for _, p := range a.due(true) {
		a.look(t.Context(), p)
	}
	require.Equal(t, []error{errDown, errDown}, troubles)
	require.Len(t, a.waits, 1, "it waits on")
	m.broken = nil
	for _, p := range a.due(true) {
		a.look(t.Context(), p)
	}
	require.Empty(t, a.waits)
	require.Len(t, m.types(), 2)
}

// Somebody gave the id of a composed event to something else.
func TestWhatTheJournalRefusesIsNotTriedForEver(t *testing.T) {
	m := newMemory(t)
	m.put(story(t)...)
	m.ids["audit_event "+record.ComposedEventID(execution, action)] = [32]byte{1}
	var troubles []error
	a := New(m.options(&troubles))
	a.lookBack(t.Context())
	for _, p := range a.due(true) {
		a.look(t.Context(), p)
	}
	require.Equal(t, []error{ErrRefused}, troubles)
	require.Empty(t, a.waits)
}

// The journal holds what memory does not.
func TestMoreThanCanBeHeldIsFoundAgain(t *testing.T) {
	m := newMemory(t)
	const all = 11
	for n := range all {
		m.put(state(t, record.ActionPlanned, 0, func(a *record.Action) { rename(a, n) }), state(t, record.ActionFailedBeforeSend, 1, func(a *record.Action) {
			rename(a, n)
			none := int64(0)
			a.Outcome = &record.Outcome{Error: "connection_refused", BytesSent: &none, RemoteEffect: record.EffectNone}
		}))
	}
	m.advance(deadline)
	var troubles []error
	a := New(m.options(&troubles))
	for rounds := 0; len(m.types()) < all; rounds++ {
		require.Less(t, rounds, all)
		a.lookBack(t.Context())
		require.LessOrEqual(t, len(a.waits), 4)
		for _, p := range a.due(true) {
			a.look(t.Context(), p)
		}
	}
	require.Empty(t, troubles)
	for _, eventType := range m.types() {
		require.Equal(t, record.EventAuditIncomplete, eventType)
	}
}

func rename(a *record.Action, n int) {
	a.ActionID = fmt.Sprintf("act_%d", n)
	a.IdempotencyToken = record.IdempotencyToken(a.ActionID)
	a.Correlation.ExecutionID = fmt.Sprintf("run_%d", n)
}

// What is said before there is an outcome is not held.
func TestOnlyActionsWithAnOutcomeAreHeld(t *testing.T) {
	a := New(newMemory(t).options(new([]error)))
	for _, d := range story(t, "execution", "completed") {
		a.Saw(scope, []*record.Draft{d})
	}
	require.Empty(t, a.waits)
	a.Saw(scope, []*record.Draft{state(t, record.ActionCompleted, 1, nil)})
	require.Equal(t, map[pending]bool{this: true}, a.waits)
}
