// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/boundary"
	"github.com/readtrail/readtrail/internal/sshtest"
	"github.com/readtrail/readtrail/record"
)

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
				elsewhere, other := newWebTarget(s.t), sshtest.Start(s.t, "deploy", func(sshtest.Command) (string, int) { return "", 0 })
				s.t.Cleanup(func() { assert.Zero(s.t, elsewhere.count()+len(other.Commands()), "the other target saw it") })
				s.places.move(elsewhere.URL, other.Address, "")
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
