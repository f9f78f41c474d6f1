// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/boundary"
	"github.com/readtrail/readtrail/record"
)

// The five tests of requirement D10 stand here and in actionsworker_test.go, asserted on
// the entries as they stand in the files.

// TestAForgedParentIsVisibleAsUnverified sends a nested call with somebody else's trace
// to a tool server, which does not know who called.
func TestAForgedParentIsVisibleAsUnverified(t *testing.T) {
	s := newStage(t)
	for _, out := range s.channels() {
		tool := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			call := aCall()
			call.CallID, call.TraceID, call.ParentSpanID = "call_"+out.name, "", ""
			call.Upstream = boundary.Upstream{Traceparent: r.Header.Get("Traceparent")}
			assert.NoError(t, out.act(boundary.WithCall(r.Context(), call)))
		}))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tool.URL, nil)
		require.NoError(t, err)
		req.Header.Set("Traceparent", "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		tool.Close()
	}
	s.end()

	entries := s.actions()
	require.Equal(t, []string{"planned", "sent", "completed", "planned", "sent", "completed"}, stepsOf(entries))
	for _, e := range entries {
		require.Equal(t, "unverified_input", e.ObservedBy["upstream_context_source"])
		require.Equal(t, map[string]any{"trace_id": strings.Repeat("a", 32), "parent_span_id": strings.Repeat("b", 16)}, e.ObservedBy["received_context"])
		require.NotEqual(t, strings.Repeat("a", 32), e.Correlation["trace_id"])
		require.NotEqual(t, strings.Repeat("b", 16), e.Correlation["parent_span_id"])
	}
}

// TestATimeoutAfterBytesLeftAndItsRetryShareTheAction times out when the target has the
// request, and tries again.
func TestATimeoutAfterBytesLeftAndItsRetryShareTheAction(t *testing.T) {
	s := newStage(t)
	for _, out := range s.channels() {
		t.Run(out.name, func(t *testing.T) {
			before := len(s.actions())
			there, release := out.hold()
			defer release()
			call := aCall()
			call.CallID = "call_" + out.name
			ctx := boundary.WithCall(t.Context(), call)
			within, cancel := context.WithCancel(ctx)
			defer cancel()
			deadline := &untilReached{Context: within, done: make(chan struct{})}
			go func() {
				<-there
				close(deadline.done) // the time is over when the request has arrived
			}()
			err := out.act(deadline)
			var failed *boundary.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, record.ActionTimeout, failed.State, err)
			release()
			require.NoError(t, out.act(ctx))

			entries := s.actions()[before:]
			require.Equal(t, []string{"planned", "sent", "timeout", "sent", "completed"}, stepsOf(entries))
			first, timeout, second, completed := entries[1], entries[2], entries[3], entries[4]
			for _, e := range entries {
				require.Equal(t, entries[0].ActionID, e.ActionID)
				require.Equal(t, entries[0].Token, e.Token)
				require.Equal(t, entries[0].Action, e.Action)
				require.Equal(t, call.TraceID, e.Correlation["trace_id"])
			}
			require.Equal(t, []int{1, 1, 2, 2}, []int{first.Attempt, timeout.Attempt, second.Attempt, completed.Attempt})
			require.Equal(t, first.AttemptID, timeout.AttemptID)
			require.NotEqual(t, first.AttemptID, second.AttemptID)
			require.NotEqual(t, first.Correlation["span_id"], second.Correlation["span_id"])
			require.Equal(t, entries[0].Correlation["span_id"], second.Correlation["parent_span_id"])
			require.Positive(t, timeout.Outcome["bytes_sent"])
			require.Equal(t, "unknown", timeout.Outcome["remote_effect"])
			require.Equal(t, []string{first.AttemptID, second.AttemptID}, completed.AttemptIDs)
		})
	}
	require.Equal(t, 2, s.web.count())
	require.Equal(t, s.web.tokens[0], s.web.tokens[1], "the target can tell that it is the same")
	s.end()
}

// untilReached is a context whose deadline comes when a test says so.
type untilReached struct {
	context.Context
	done chan struct{}
}

func (u *untilReached) Done() <-chan struct{} { return u.done }

func (u *untilReached) Err() error {
	select {
	case <-u.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestParallelSiblingsKeepTheirOwnParentsAndOutcomes runs two branches of each channel at
// the same time.
func TestParallelSiblingsKeepTheirOwnParentsAndOutcomes(t *testing.T) {
	s := newStage(t)
	var wg sync.WaitGroup
	parents := map[string]string{}
	var all sync.WaitGroup
	all.Add(4)
	for i, out := range append(s.channels(), s.channels()...) {
		name := out.name + "_" + string(rune('a'+i))
		parents[name] = strings.Repeat(string(rune('1'+i)), 16)
		wg.Go(func() {
			call := aCall()
			call.CallID, call.ParentSpanID = name, parents[name]
			all.Done()
			all.Wait()
			assert.NoError(t, out.act(boundary.WithCall(t.Context(), call)))
		})
	}
	wg.Wait()
	s.end()

	actions := map[string]string{}
	spans := map[string]bool{}
	for _, e := range s.actions() {
		if e.State == "planned" {
			actions[e.Correlation["call_id"]] = e.ActionID
		}
	}
	require.Len(t, actions, 4)
	for name, id := range actions {
		own := only(s.actions(), id)
		require.Equal(t, []string{"planned", "sent", "completed"}, stepsOf(own), name)
		require.Equal(t, parents[name], own[0].Correlation["parent_span_id"])
		require.Equal(t, own[0].Correlation["span_id"], own[1].Correlation["parent_span_id"])
		for _, e := range own {
			require.Equal(t, name, e.Correlation["call_id"])
		}
		require.Equal(t, strings.HasPrefix(name, "http"), own[2].Outcome["http_status"] != nil)
		require.Equal(t, strings.HasPrefix(name, "ssh"), own[2].Outcome["exit_status"] != nil)
		for _, span := range []string{own[0].Correlation["span_id"], own[1].Correlation["span_id"]} {
			require.False(t, spans[span], "spans are nobody else's")
			spans[span] = true
		}
	}
}

// desk is where approvals are decided: as a test says, after what it does meanwhile.
type desk struct {
	validFor time.Duration
	// meanwhile happens between the request and the decision, after follows the decision
	// if the desk records it itself.
	meanwhile func(boundary.ApprovalRequest)
	rejects   bool
}

func (d *desk) Terms(context.Context, boundary.Pending) (boundary.Terms, error) {
	return boundary.Terms{ValidFor: d.validFor, EffectSummary: "Publishes a release", RequiredRole: "release_manager"}, nil
}

func (d *desk) Decide(_ context.Context, r boundary.ApprovalRequest) (boundary.Decision, error) {
	if d.meanwhile != nil {
		d.meanwhile(r)
	}
	return boundary.Decision{Approved: !d.rejects, Reviewer: record.Reviewer{Identity: "erika", Role: "release_manager"}}, nil
}

// TestNothingIsSentThatIsNotWhatWasApproved changes or revokes, between the plan and the
// sending, each thing that an approval binds. Nothing reaches sent, and the target sees
// nothing.
func TestNothingIsSentThatIsNotWhatWasApproved(t *testing.T) {
	for name, test := range map[string]struct {
		// meanwhile happens while the reviewer decides.
		meanwhile func(*stage, boundary.ApprovalRequest)
		validFor  time.Duration
		code      string
	}{
		"changed target": {
			func(s *stage, _ boundary.ApprovalRequest) {
				s.places.move(newWebTarget(s.t).URL, freeAddress(s.t), "")
			},
			time.Hour, "action_changed",
		},
		"changed credential": {
			func(s *stage, _ boundary.ApprovalRequest) { s.places.move("", "", "ops-admin") },
			time.Hour, "action_changed",
		},
		"expired": {
			func(_ *stage, r boundary.ApprovalRequest) { <-time.After(time.Until(r.ExpiresAt.Std())) },
			300 * time.Millisecond, "approval_not_bound",
		},
		"approval revoked": {
			func(s *stage, r boundary.ApprovalRequest) { s.revokeApproval(r) },
			time.Hour, "approval_revoked",
		},
		"action revoked": {
			func(s *stage, r boundary.ApprovalRequest) { s.revokeAction(r) },
			time.Hour, "action_revoked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			desk := &desk{validFor: test.validFor, meanwhile: func(r boundary.ApprovalRequest) { test.meanwhile(s, r) }}
			s.executor.Approver = desk
			for _, out := range s.channels() {
				s.places.move(s.web.URL, s.ssh.Address, "ops-deploy")
				call := aCall()
				call.CallID = "call_" + out.name
				err := out.act(boundary.WithCall(t.Context(), call))
				s.requireNothingSent(err, test.code)
			}
			s.end()
			for _, e := range s.actions() {
				require.NotEqual(t, "sent", e.State)
			}
		})
	}
}

// requireNothingSent demands a refusal that the journal and both targets bear out.
func (s *stage) requireNothingSent(err error, code string) {
	s.t.Helper()
	var failed *boundary.Error
	require.ErrorAs(s.t, err, &failed)
	require.Equal(s.t, code, failed.Code)
	require.Equal(s.t, record.ActionFailedBeforeSend, failed.State)
	require.True(s.t, failed.Recorded)
	entries := s.actions()
	last := entries[len(entries)-1]
	require.Equal(s.t, "failed_before_send", last.State)
	require.Equal(s.t, code, last.Outcome["error"])
	require.Equal(s.t, "none", last.Outcome["remote_effect"])
	require.Zero(s.t, s.web.count(), "the target saw a request")
	require.Empty(s.t, s.ssh.Commands(), "the target saw a command")
}

// revokeApproval does what an approval tool does.
func (s *stage) revokeApproval(r boundary.ApprovalRequest) {
	s.t.Helper()
	s.append(boundary.ApprovalRecord(&record.Approval{
		Header:     record.Header{EventType: "approval.revoked", OccurredAt: record.NewTime(time.Now()), Correlation: record.Correlation{ExecutionID: r.Pending.ExecutionID}},
		ApprovalID: r.ApprovalID, RequestID: r.RequestID, Kind: record.ApprovalRevoked, Binds: bindsOf(r),
	}))
}

// bindsOf is what the request was for.
func bindsOf(r boundary.ApprovalRequest) record.Binds {
	return record.BindsOf(&record.Action{
		ActionID: r.Pending.ActionID, Actor: r.Pending.Actor, Target: r.Pending.Target, Requested: record.Requested{ArgumentsDigest: r.Pending.ArgumentsDigest},
	})
}

// revokeAction does what an operator does who stops one branch.
func (s *stage) revokeAction(r boundary.ApprovalRequest) {
	s.t.Helper()
	s.append(boundary.ActionRecord(&record.Action{
		Header:   record.Header{EventType: "action.revoked", OccurredAt: record.NewTime(time.Now()), Correlation: record.Correlation{ExecutionID: r.Pending.ExecutionID}},
		ActionID: r.Pending.ActionID, EdgeType: record.EdgeExternalAction, State: record.ActionRevoked, Actor: boundary.NewActor("operator", "ops@acme"),
		Target: r.Pending.Target, IdempotencyToken: record.IdempotencyToken(r.Pending.ActionID),
	}))
}

func (s *stage) append(r boundary.Record) {
	s.t.Helper()
	_, err := s.client().Append(s.t.Context(), r)
	require.NoError(s.t, err)
}

// TestAnApprovalForOtherArgumentsOrAnotherActionIsNone has an action rely on an approval
// that was given for another: with other arguments, or used before.
func TestAnApprovalForOtherArgumentsOrAnotherActionIsNone(t *testing.T) {
	s := newStage(t)
	var given boundary.ApprovalRequest
	s.executor.Approver = &desk{validFor: time.Hour, meanwhile: func(r boundary.ApprovalRequest) { given = r }}
	for _, out := range s.channels() {
		call := aCall()
		call.CallID = "call_" + out.name
		require.NoError(t, out.act(boundary.WithCall(t.Context(), call)), "it is good for what it was given for")
		web, ssh := s.web.count(), len(s.ssh.Commands())

		reused := call
		reused.CallID, reused.ApprovalID = "again_"+out.name, given.ApprovalID
		other := reused
		other.CallID, other.ArgumentsDigest = "other_"+out.name, "sha256:"+strings.Repeat("2", 64)
		for _, c := range []boundary.Call{reused, other} {
			err := out.act(boundary.WithCall(t.Context(), c))
			var failed *boundary.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "approval_not_bound", failed.Code)
			own := only(s.actions(), failed.ActionID)
			require.Equal(t, []string{"planned", "failed_before_send"}, stepsOf(own))
		}
		require.Equal(t, web, s.web.count())
		require.Len(t, s.ssh.Commands(), ssh)
	}
	s.end()
}

// TestThePlannedActionWithOtherArgumentsIsRefused has a second executor come with the
// same action id and other arguments than were planned and approved.
func TestThePlannedActionWithOtherArgumentsIsRefused(t *testing.T) {
	s := newStage(t)
	s.executor.Approver = &desk{validFor: time.Hour}
	call := aCall()
	call.ActionID = "act_5f17"
	req, err := http.NewRequestWithContext(boundary.WithCall(t.Context(), call), http.MethodPost, "http://prod/v1/releases/x", strings.NewReader("a"))
	require.NoError(t, err)
	plan, err := s.transport().Plan(req)
	require.NoError(t, err)

	changed := call
	changed.ActionID, changed.Plan, changed.ArgumentsDigest = "", plan, "sha256:"+strings.Repeat("2", 64)
	req, err = http.NewRequestWithContext(boundary.WithCall(t.Context(), changed), http.MethodPost, "http://prod/v1/releases/x", strings.NewReader("a"))
	require.NoError(t, err)
	_, err = s.transport().RoundTrip(req)
	s.requireNothingSent(err, "action_changed")
	s.end()
}

// TestARejectedActionIsNotSent is the plain no.
func TestARejectedActionIsNotSent(t *testing.T) {
	s := newStage(t)
	s.executor.Approver = &desk{validFor: time.Hour, rejects: true}
	s.requireNothingSent(s.post(boundary.WithCall(t.Context(), aCall())), boundary.CodeApprovalRejected)
	s.end()
}
