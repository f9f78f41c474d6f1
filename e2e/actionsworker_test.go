// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/boundary"
	"github.com/readtrail/readtrail/record"
)

// workerOrder is what a worker process is told in WORKER_ORDER. It takes the job from a
// file, as from a queue.
type workerOrder struct {
	Queue, Notes, API, Target, Identity string
}

// TestWorkerProcess is no test but the worker of those below: a process of its own, which
// can be killed.
func TestWorkerProcess(t *testing.T) {
	text := os.Getenv("WORKER_ORDER")
	if text == "" {
		t.Skip("this is the process that other tests start")
	}
	var order workerOrder
	require.NoError(t, json.Unmarshal([]byte(text), &order))
	if err := work(t.Context(), order); err != nil {
		fmt.Println("worker failed:", err)
		os.Exit(3)
	}
	os.Exit(0)
}

// work is a worker as an application would write it.
func work(ctx context.Context, order workerOrder) error {
	executor := &boundary.Executor{
		Journal: journalClient(order.API), Actor: boundary.NewActor("worker", order.Identity), Attempts: boundary.Directory(order.Notes), RecordTimeout: 30 * time.Second,
	}
	plans, err := executor.Recover(ctx)
	if err != nil {
		return err
	}
	payload, err := os.ReadFile(order.Queue)
	if err != nil {
		return err
	}
	job, err := boundary.ParseJob(payload)
	if err != nil {
		return err
	}
	for i := range plans {
		if plans[i].ActionID == job.Plan.ActionID {
			job.Plan.AttemptIDs = plans[i].AttemptIDs // another life of ours began
		}
	}
	call := aCall()
	call.ParentSpanID, call.Job = "", job
	transport := &boundary.Transport{Executor: executor, Credentials: keyring{}, Resolver: webPlaces{&places{web: order.Target, webRef: "ops-deploy"}}}
	return postThrough(boundary.WithCall(ctx, call), transport)
}

// start starts a worker process.
func (o workerOrder) start(t *testing.T) (cmd *exec.Cmd, output *bytes.Buffer) {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	cmd, output = exec.Command(os.Args[0], "-test.run=^TestWorkerProcess$"), &bytes.Buffer{}
	cmd.Env = append(os.Environ(), "WORKER_ORDER="+string(text))
	cmd.Stdout, cmd.Stderr = output, output
	require.NoError(t, cmd.Start())
	return cmd, output
}

// enqueue plans the action and puts the job into the queue, as the tool does that
// returns at once.
func (s *stage) enqueue() workerOrder {
	s.t.Helper()
	ctx := boundary.WithCall(s.t.Context(), aCall())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://prod/v1/releases/CANARY-path-1?q=CANARY-query-1", strings.NewReader("CANARY-body-1"))
	require.NoError(s.t, err)
	plan, err := s.transport().Plan(req)
	require.NoError(s.t, err)
	payload, err := json.Marshal(boundary.Job{ExecutionID: plan.ExecutionID, TraceID: plan.TraceID, SpanID: plan.SpanID, Plan: plan})
	require.NoError(s.t, err)
	o := workerOrder{Queue: filepath.Join(s.base, "queue.json"), Notes: s.notes(), API: s.api, Target: s.web.URL, Identity: "release-worker-1"}
	require.NoError(s.t, os.WriteFile(o.Queue, payload, 0o600))
	return o
}

// notes is where an executor notes its attempts.
func (s *stage) notes() string {
	s.t.Helper()
	dir := filepath.Join(s.base, "notes")
	require.NoError(s.t, os.MkdirAll(dir, 0o700))
	return dir
}

// TestQueuedWorkOfARestartedWorkerIsLinkedAndNotFaked puts work into a queue, kills the
// worker when its request has arrived, and starts another. The journal tells that nobody
// knows of the first attempt, and that the second is another process's.
func TestQueuedWorkOfARestartedWorkerIsLinkedAndNotFaked(t *testing.T) {
	s := newStage(t)
	order := s.enqueue()
	there, release := s.web.hold()
	defer release()
	first, output := order.start(t)
	<-there
	require.NoError(t, first.Process.Kill())
	require.Error(t, first.Wait(), "killed")
	require.Equal(t, []string{"planned", "sent"}, stepsOf(s.actions()), "the journal cannot know more")
	code, shown, stderr := s.cli("show", s.journal, "--action", s.actions()[0].ActionID)
	require.Zero(t, code, stderr)
	require.Contains(t, shown, "may have gone out")
	release()

	second, output2 := order.start(t)
	require.NoError(t, second.Wait(), output2.String())
	s.end()

	entries := s.actions()
	require.Equal(t, []string{"planned", "sent", "unknown", "sent", "completed"}, stepsOf(entries))
	planned, sent, unknown, again, completed := entries[0], entries[1], entries[2], entries[3], entries[4]
	for _, e := range entries {
		require.Equal(t, planned.ActionID, e.ActionID)
		require.Equal(t, planned.Token, e.Token)
		require.Equal(t, "run_8d43", e.Correlation["execution_id"])
		require.Equal(t, planned.Correlation["trace_id"], e.Correlation["trace_id"])
	}
	require.Equal(t, "external_action", planned.EdgeType)
	origin := map[string]string{"trace_id": planned.Correlation["trace_id"], "span_id": planned.Correlation["span_id"]}
	for _, e := range entries[1:] {
		require.Equal(t, "delegated_job", e.EdgeType)
		require.Equal(t, origin, e.LinkedSpan, "linked to the plan")
		require.NotEqual(t, origin["span_id"], e.Correlation["parent_span_id"], "and not below it")
		require.Equal(t, "release-worker-1", e.Actor["identity"])
		require.Equal(t, "unverified_input", e.ObservedBy["upstream_context_source"])
	}
	require.Equal(t, "executor_lost", unknown.Outcome["error"])
	require.Equal(t, "unknown", unknown.Outcome["remote_effect"])
	require.NotContains(t, unknown.Outcome, "bytes_sent", "nobody counted to the end")
	require.Equal(t, sent.AttemptID, unknown.AttemptID)
	require.Less(t, sent.Actor["started_at"], again.Actor["started_at"], "another process")
	require.NotEqual(t, sent.Correlation["span_id"], again.Correlation["span_id"])
	require.NotEqual(t, sent.Correlation["parent_span_id"], again.Correlation["parent_span_id"])
	require.Equal(t, []string{sent.AttemptID, again.AttemptID}, completed.AttemptIDs)
	require.Equal(t, 2, s.web.count())
	require.Equal(t, s.web.tokens[0], s.web.tokens[1], "the target can tell that it is the same")
	for _, text := range []string{output.String(), output2.String()} {
		require.NotContains(t, text, "CANARY")
	}
}

// TestAnExecutorThatWasKilledBeforeItsPermissionSaysThatNothingLeft stands for the
// moment between the note and sent: the collector is gone when the worker asks.
func TestAnExecutorThatWasKilledBeforeItsPermissionSaysThatNothingLeft(t *testing.T) {
	s := newStage(t)
	order := s.enqueue()
	s.collector.Kill()
	s.executor.Attempts = boundary.Directory(order.Notes)
	payload, err := os.ReadFile(order.Queue)
	require.NoError(t, err)
	job, err := boundary.ParseJob(payload)
	require.NoError(t, err)
	call := aCall()
	call.ParentSpanID, call.Job = "", job
	err = s.post(boundary.WithCall(t.Context(), call))
	var failed *boundary.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, boundary.CodeRecordUnavailable, failed.Code)
	require.Equal(t, record.ActionFailedBeforeSend, failed.State)
	require.False(t, failed.Recorded)
	require.Zero(t, s.web.count(), "no record, no request")
	require.Equal(t, []string{"planned"}, stepsOf(s.actions()))

	s.collector = s.start()
	_, err = s.executor.Recover(t.Context())
	require.NoError(t, err)
	s.end()
	entries := s.actions()
	require.Equal(t, []string{"planned", "failed_before_send"}, stepsOf(entries))
	require.Equal(t, "record_unavailable", entries[1].Outcome["error"])
	require.Equal(t, "none", entries[1].Outcome["remote_effect"])
}

// TestACollectorThatDiesBetweenPlanAndOutcomeLosesNothing kills the collector while the
// target has the request. The outcome is known and has nowhere to go, so the executor
// does not report success; when the collector is back it is written.
func TestACollectorThatDiesBetweenPlanAndOutcomeLosesNothing(t *testing.T) {
	s := newStage(t)
	s.executor.Attempts = boundary.Directory(s.notes())
	for i, out := range s.channels() {
		before := len(s.actions())
		there, release := out.hold()
		defer release()
		done := make(chan error, 1)
		call := aCall()
		call.CallID = "call_" + out.name
		go func() { done <- out.act(boundary.WithCall(t.Context(), call)) }()
		<-there
		s.collector.Kill()
		release()
		err := <-done
		var failed *boundary.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, boundary.CodeOutcomeUnrecorded, failed.Code)
		require.Equal(t, record.ActionCompleted, failed.State)
		require.False(t, failed.Recorded)
		require.Equal(t, []string{"planned", "sent"}, stepsOf(s.actions()[before:]), "it may have gone out")
		require.Equal(t, 1, out.arrived())

		s.collector = s.start()
		_, err = s.executor.Recover(t.Context())
		require.NoError(t, err)
		own := s.actions()[before:]
		require.Equal(t, []string{"planned", "sent", "completed"}, stepsOf(own), i)
		require.Equal(t, "confirmed", own[2].Outcome["remote_effect"])
	}
	s.end()
}
