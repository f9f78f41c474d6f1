// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// lose is what a process leaves that ends when it has sent: two records and a note.
func lose(t *testing.T, f *fakeJournal, dir string) {
	t.Helper()
	tr := newTransport(f)
	tr.Executor.Attempts = Directory(dir)
	tr.Base = roundTripper(func(*http.Request) (*http.Response, error) {
		notes, err := filepath.Glob(filepath.Join(dir, "*"+noteSuffix))
		require.NoError(t, err)
		require.Len(t, notes, 1)
		note, err := os.ReadFile(notes[0])
		require.NoError(t, err)
		return nil, &lostError{note, notes[0]}
	})
	_, err := post(t, tr, aCall(), "http://127.0.0.1:1")
	var lost *lostError
	require.ErrorAs(t, err, &lost)
	// As it was when the process ended.
	require.NoError(t, os.WriteFile(lost.path, lost.note, 0o600))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, after := range f.records[2:] {
		delete(f.seen, after.Action.EventID)
	}
	f.records = f.records[:2]
}

type lostError struct {
	note []byte
	path string
}

func (*lostError) Error() string { return "lost" }

func TestAnExecutorThatComesBackSaysThatItDoesNotKnow(t *testing.T) {
	f, dir := newFakeJournal(t), t.TempDir()
	lose(t, f, dir)
	require.Equal(t, []string{"planned", "sent"}, f.states())

	again := newTransport(f)
	again.Executor.Attempts = Directory(dir)
	plans, err := again.Executor.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "unknown"}, f.states())
	planned, unknown := f.all()[0].Action, f.all()[2].Action
	require.Equal(t, f.all()[1].Action.AttemptID, unknown.AttemptID)
	require.Equal(t, CodeExecutorLost, unknown.Outcome.Error)
	require.Equal(t, record.EffectUnknown, unknown.Outcome.RemoteEffect)
	require.Len(t, plans, 1)
	require.Equal(t, Plan{
		ActionID: planned.ActionID, EventID: planned.EventID, ExecutionID: "run_8d43", TraceID: planned.Correlation.TraceID,
		SpanID: planned.Correlation.SpanID, AttemptIDs: []string{unknown.AttemptID},
	}, plans[0])

	// It goes on with the same action, under the same idempotency token.
	call := aCall()
	call.Plan = &plans[0]
	target := newRemote(t, nil)
	_, err = post(t, again, call, target.URL)
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "unknown", "sent", "completed"}, f.states())
	sent := f.all()[3].Action
	require.Equal(t, int64(2), sent.Attempt)
	require.Equal(t, planned.ActionID, sent.ActionID)
	require.Equal(t, record.IdempotencyToken(planned.ActionID), target.requests[0].Header.Get("Idempotency-Key"))

	plans, err = again.Executor.Recover(t.Context())
	require.NoError(t, err)
	require.Empty(t, plans, "nothing is left to say")
}

func TestAnAttemptWithoutPermissionFailedBeforeSend(t *testing.T) {
	f, dir := newFakeJournal(t), t.TempDir()
	lose(t, f, dir)
	f.setRefusal("unknown", http.StatusConflict, codeAttemptNotSent)
	e := newTransport(f).Executor
	e.Attempts = Directory(dir)
	_, err := e.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "failed_before_send"}, f.states())
	require.Equal(t, record.EffectNone, f.all()[2].Action.Outcome.RemoteEffect)
}

func TestANoteThatOutlivedItsOutcomeIsDropped(t *testing.T) {
	for _, code := range []string{codeAttemptOver, codeConflict} {
		f, dir := newFakeJournal(t), t.TempDir()
		lose(t, f, dir)
		f.setRefusal("unknown", http.StatusConflict, code)
		e := newTransport(f).Executor
		e.Attempts = Directory(dir)
		_, err := e.Recover(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"planned", "sent"}, f.states())
		notes, err := e.Attempts.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, notes)
	}
}

func TestWhatCannotBeSettledStaysNoted(t *testing.T) {
	f, dir := newFakeJournal(t), t.TempDir()
	lose(t, f, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "att_x"+noteSuffix), []byte("CANARY-note-1"), 0o600))
	f.setRefusal("unknown", http.StatusForbidden, "scope_forbidden")
	e := newTransport(f).Executor
	e.Attempts = Directory(dir)
	_, err := e.Recover(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "CANARY")
	notes, err := e.Attempts.List(t.Context())
	require.NoError(t, err)
	require.Len(t, notes, 2)
}

// TestAKnownOutcomeThatWasNotWrittenIsWrittenLater loses the journal, not the process.
func TestAKnownOutcomeThatWasNotWrittenIsWrittenLater(t *testing.T) {
	f, dir := newFakeJournal(t), t.TempDir()
	f.setRefusal("completed", http.StatusServiceUnavailable, "")
	tr := newTransport(f)
	tr.Executor.Attempts = Directory(dir)
	tr.Executor.Journal.(*Client).MaxTries = 1
	_, err := post(t, tr, aCall(), newRemote(t, nil).URL)
	require.Equal(t, CodeOutcomeUnrecorded, failed(t, err).Code)
	f.setRefusal("none", 0, "")
	_, err = tr.Executor.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "completed"}, f.states())
	require.Equal(t, int64(200), f.all()[2].Action.Outcome.HTTPStatus)
}

// full is a place for notes that takes none.
type full struct{ Directory }

func (full) Put(context.Context, string, []byte) error { return errors.New("no space left") }

func TestAnAttemptThatCannotBeNotedIsNotSent(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	tr := newTransport(f)
	tr.Executor.Attempts = full{Directory(t.TempDir())}
	_, err := post(t, tr, aCall(), target.URL)
	require.Equal(t, CodeAttemptUnkept, failed(t, err).Code)
	require.Zero(t, target.count())
	require.Equal(t, []string{"planned", "failed_before_send"}, f.states())
}

// TestDelegatedWorkIsLinkedAndDoesNotPretendToBeTheSameRequest plans an action in one
// process and carries it out in another.
func TestDelegatedWorkIsLinkedAndDoesNotPretendToBeTheSameRequest(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	tool := newTransport(f)
	req, err := http.NewRequestWithContext(WithCall(t.Context(), aCall()), http.MethodGet, target.URL+"/v1/releases/x", nil)
	require.NoError(t, err)
	plan, err := tool.Plan(req)
	require.NoError(t, err)
	payload, err := json.Marshal(Job{ExecutionID: plan.ExecutionID, TraceID: plan.TraceID, SpanID: plan.SpanID, Plan: plan})
	require.NoError(t, err)
	require.Zero(t, target.count())

	job, err := ParseJob(payload)
	require.NoError(t, err)
	worker := newTransport(f)
	worker.Executor.Actor = NewActor("worker", "release-worker-2")
	call := aCall()
	call.ParentSpanID, call.Job = "", job
	req, err = http.NewRequestWithContext(WithCall(t.Context(), call), http.MethodGet, target.URL+"/v1/releases/x", nil)
	require.NoError(t, err)
	resp, err := worker.RoundTrip(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, []string{"planned", "sent", "completed"}, f.states())
	planned, sent := f.all()[0].Action, f.all()[1].Action
	require.Equal(t, planned.ActionID, sent.ActionID)
	require.Equal(t, record.EdgeExternalAction, planned.EdgeType)
	require.Equal(t, record.EdgeDelegatedJob, sent.EdgeType)
	require.Equal(t, &record.Link{TraceID: plan.TraceID, SpanID: plan.SpanID}, sent.LinkedSpan)
	require.Equal(t, "release-worker-2", sent.Actor.Identity)
	require.True(t, sent.Actor.StartedAt.Std().After(planned.Actor.StartedAt.Std()))
	require.NotEqual(t, planned.Correlation.SpanID, sent.Correlation.ParentSpanID, "linked, and not below it")
	require.Equal(t, planned.EventID, sent.Correlation.ParentEventID)
	require.Equal(t, planned.Correlation.TraceID, sent.Correlation.TraceID)
	require.Equal(t, record.UnverifiedInput, sent.ObservedBy.UpstreamContextSource, "nobody said that the queue proves who wrote the job")

	call.Upstream.AuthenticatedBy = "CN=queue"
	c, err := callOf(WithCall(t.Context(), call))
	require.NoError(t, err)
	require.Equal(t, record.ObservedBy{}, c.observed())
}

func TestWhatIsNoJobIsRefused(t *testing.T) {
	for _, text := range []string{``, `null`, `{}`, `{"execution_id":"r","trace_id":"x","span_id":"y"}`, `{"CANARY":1}`} {
		_, err := ParseJob([]byte(text))
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "CANARY")
	}
}
