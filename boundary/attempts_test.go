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
	f, dir := newFakeJournal(t), notesDir(t)
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
		ToolID: "publish_release", ArgumentsDigest: aCall().ArgumentsDigest, PathTemplate: "/v1/releases/{name}",
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
	f, dir := newFakeJournal(t), notesDir(t)
	lose(t, f, dir)
	f.setRefusal("unknown", http.StatusConflict, codeAttemptNotSent)
	e := newTransport(f).Executor
	e.Attempts = Directory(dir)
	plans, err := e.Recover(t.Context())
	require.NoError(t, err)
	require.Len(t, plans, 1)
	require.True(t, plans[0].Unsent)
	require.Equal(t, []string{"planned", "sent", "failed_before_send"}, f.states())
	require.Equal(t, record.EffectNone, f.all()[2].Action.Outcome.RemoteEffect)
}

func TestANoteThatOutlivedItsOutcomeIsDropped(t *testing.T) {
	for code, open := range map[string]int{codeAttemptOver: 0, codeConflict: 1} {
		f, dir := newFakeJournal(t), notesDir(t)
		lose(t, f, dir)
		f.setRefusal("unknown", http.StatusConflict, code)
		e := newTransport(f).Executor
		e.Attempts = Directory(dir)
		plans, err := e.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, plans, open, "what is over is not gone on with; a conflict is with another unknown")
		require.Equal(t, []string{"planned", "sent"}, f.states())
		notes, err := e.Attempts.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, notes)
	}
}

func TestWhatCannotBeSettledStaysNoted(t *testing.T) {
	f, dir := newFakeJournal(t), notesDir(t)
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
	f, dir := newFakeJournal(t), notesDir(t)
	f.setRefusal("completed", http.StatusServiceUnavailable, "")
	tr := newTransport(f)
	tr.Executor.Attempts = Directory(dir)
	tr.Executor.Journal.(*Client).MaxTries = 1
	_, err := post(t, tr, aCall(), newRemote(t, nil).URL)
	require.Equal(t, CodeOutcomeUnrecorded, failed(t, err).Code)
	f.setRefusal("none", 0, "")
	plans, err := tr.Executor.Recover(t.Context())
	require.NoError(t, err)
	require.Empty(t, plans, "it was answered: nobody goes on with it")
	require.Equal(t, []string{"planned", "sent", "completed"}, f.states())
	require.Equal(t, int64(200), f.all()[2].Action.Outcome.HTTPStatus)
}

// full is a place for notes that takes none.
type full struct{ Directory }

func (full) Put(context.Context, string, []byte) error { return errors.New("no space left") }

func TestAnAttemptThatCannotBeNotedIsNotSent(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	tr := newTransport(f)
	tr.Executor.Attempts = full{Directory(notesDir(t))}
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

// TestAJobWhoseAttemptFailedBeforeSendIsGoneOnWith carries a job out twice, each time as
// a queue would deliver it.
func TestAJobWhoseAttemptFailedBeforeSendIsGoneOnWith(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	f.countAttempts()
	ctx := WithCall(t.Context(), aCall())
	request := func(ctx context.Context) *http.Request {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.URL+"/v1/releases/x", nil)
		require.NoError(t, err)
		return req
	}
	plan, err := newTransport(f).Plan(request(ctx))
	require.NoError(t, err)
	require.Equal(t, plan, PlanOf(ctx))
	first, err := json.Marshal(Job{ExecutionID: plan.ExecutionID, TraceID: plan.TraceID, SpanID: plan.SpanID, Plan: plan})
	require.NoError(t, err)

	locked := errors.New("locked")
	deliver := func(payload []byte, credentials error) (again []byte, failure error) {
		job, err := ParseJob(payload)
		require.NoError(t, err)
		worker := newTransport(f) // another process
		worker.Credentials.(*secrets).err = credentials
		ctx := WithCall(t.Context(), Call{Job: job, CredentialRef: "ops-deploy"})
		resp, failure := worker.RoundTrip(request(ctx))
		if failure == nil {
			resp.Body.Close()
		}
		job.Plan = PlanOf(ctx)
		again, err = json.Marshal(job)
		require.NoError(t, err)
		return again, failure
	}
	second, failure := deliver(first, locked)
	require.Equal(t, CodeCredentialUnavailable, failed(t, failure).Code)
	_, failure = deliver(first, nil)
	e := failed(t, failure)
	require.Equal(t, codeAttemptTaken, e.Code, "the payload knows nothing of the attempt")
	require.False(t, e.Recorded)
	third, failure := deliver(second, locked)
	require.Equal(t, CodeCredentialUnavailable, failed(t, failure).Code)
	require.False(t, failed(t, failure).MayHaveHadEffect(), "nothing left in any attempt")
	fourth, failure := deliver(third, nil)
	require.NoError(t, failure)
	require.Equal(t, []string{"planned", "sent", "failed_before_send", "sent", "failed_before_send", "sent", "completed"}, f.states())
	require.Len(t, f.all()[6].Action.AttemptIDs, 3)
	planned, sent := f.all()[0].Action, f.all()[5].Action
	require.Equal(t, planned.Target, sent.Target, "what the payload leaves out the plan says")
	require.Equal(t, planned.Requested, sent.Requested)
	require.Equal(t, 1, target.count())
	job, err := ParseJob(fourth)
	require.NoError(t, err)
	require.True(t, job.Plan.left())
}

// TestAnAttemptWhoseNumberIsAnothersIsNone asks twice for what another executor has.
func TestAnAttemptWhoseNumberIsAnothersIsNone(t *testing.T) {
	for _, code := range []string{codeAttemptTaken, codeAttemptOpen} {
		f, target := newFakeJournal(t), newRemote(t, nil)
		var numbers []int64
		f.refuse = func(s stored) (int, string) {
			if s.Action.AttemptID == "" {
				return 0, ""
			}
			numbers = append(numbers, s.Action.Attempt)
			return http.StatusConflict, code
		}
		tr := newTransport(f)
		tr.Executor.Attempts = Directory(notesDir(t))
		ctx := WithCall(t.Context(), aCall())
		for range 2 {
			e := failed(t, through(ctx, &http.Client{Transport: tr}, target.URL))
			require.Equal(t, code, e.Code)
			require.False(t, e.Recorded)
		}
		require.Equal(t, []int64{1, 1, 1, 1}, numbers, "sent and its outcome, twice")
		require.Empty(t, PlanOf(ctx).AttemptIDs)
		require.Zero(t, target.count())
		notes, err := tr.Executor.Attempts.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, notes)
	}
}

func TestWhatIsNoJobIsRefused(t *testing.T) {
	for _, text := range []string{``, `null`, `{}`, `{"execution_id":"r","trace_id":"x","span_id":"y"}`, `{"CANARY":1}`} {
		_, err := ParseJob([]byte(text))
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "CANARY")
	}
}
