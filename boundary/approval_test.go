// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// reviewer decides as a test says.
type reviewer struct {
	f        *fakeJournal
	terms    Terms
	decision Decision
	err      error
	requests []ApprovalRequest
	// recorded is what the journal had when the reviewer was asked.
	recorded [][]string
}

func (r *reviewer) Terms(context.Context, Pending) (Terms, error) { return r.terms, nil }

func (r *reviewer) Decide(_ context.Context, request ApprovalRequest) (Decision, error) {
	r.requests = append(r.requests, request)
	r.recorded = append(r.recorded, r.f.states())
	return r.decision, r.err
}

func newReviewer(f *fakeJournal) *reviewer {
	return &reviewer{
		f: f, terms: Terms{ValidFor: time.Hour, EffectSummary: "Publishes a release", RequiredRole: "release_manager"},
		decision: Decision{Approved: true, Reviewer: record.Reviewer{Identity: "erika", Role: "release_manager"}},
	}
}

func TestAnApprovalIsAskedForTheResolvedActionAndCoversItsAttempts(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	r := newReviewer(f)
	tr.Executor.Approver = r
	ctx := WithCall(t.Context(), aCall())
	for range 2 {
		_, err := postIn(ctx, tr, target.URL)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"planned", "approval requested", "approval decided", "sent", "completed", "sent", "completed"}, f.states())
	require.Equal(t, [][]string{{"planned", "approval requested"}}, r.recorded, "the reviewer is asked about what is durable")

	planned, requested, decided, sent := f.all()[0].Action, f.all()[1].Approval, f.all()[2].Approval, f.all()[3].Action
	require.Equal(t, record.BindsOf(&planned), requested.Binds)
	require.Equal(t, record.BindsOf(&sent), requested.Binds)
	require.Equal(t, requested.Binds, decided.Binds)
	require.Equal(t, "Publishes a release", requested.EffectSummary)
	require.Equal(t, "release_manager", requested.RequiredRole)
	require.False(t, requested.ExpiresAt.IsZero())
	require.Equal(t, record.Approved, decided.Decision)
	require.Equal(t, "erika", decided.Reviewer.Identity)
	require.Equal(t, planned.Correlation.TraceID, decided.Correlation.TraceID)
	for _, id := range []string{planned.ApprovalID, sent.ApprovalID, decided.ApprovalID, r.requests[0].ApprovalID} {
		require.Equal(t, requested.ApprovalID, id)
	}
	require.Equal(t, planned.Target, r.requests[0].Pending.Target)
	require.Equal(t, planned.ActionID, r.requests[0].Pending.ActionID)
}

func TestAnActionThatNobodyApprovedIsNotSent(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*reviewer)
		code   string
	}{
		"rejected":    {func(r *reviewer) { r.decision.Approved = false }, CodeApprovalRejected},
		"no decision": {func(r *reviewer) { r.err = errors.New("CANARY-review-1") }, CodeApprovalUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeJournal(t)
			target := newRemote(t, nil)
			tr := newTransport(f)
			r := newReviewer(f)
			test.change(r)
			tr.Executor.Approver = r
			_, err := post(t, tr, aCall(), target.URL)
			e := failed(t, err)
			require.Equal(t, test.code, e.Code)
			require.Equal(t, record.ActionFailedBeforeSend, e.State)
			require.Zero(t, target.count())
			require.NotContains(t, f.states(), "sent")
			last := f.all()[len(f.all())-1].Action
			require.Equal(t, test.code, last.Outcome.Error)
			require.NotContains(t, f.text(), "CANARY")
		})
	}
}

func TestARefusedOrExpiredApprovalIsAskedForAnew(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	r := newReviewer(f)
	tr.Executor.Approver = r
	ctx := WithCall(t.Context(), aCall())
	f.setRefusal("sent", http.StatusConflict, "approval_not_bound")
	_, err := postIn(ctx, tr, target.URL)
	require.Equal(t, "approval_not_bound", failed(t, err).Code)
	f.setRefusal("none", 0, "")

	r.terms.ValidFor = time.Nanosecond
	_, err = postIn(ctx, tr, target.URL)
	require.NoError(t, err) // the fake has no clock
	_, err = postIn(ctx, tr, target.URL)
	require.NoError(t, err)
	require.Len(t, r.requests, 3)
	require.NotEqual(t, r.requests[0].ApprovalID, r.requests[1].ApprovalID)
	require.NotEqual(t, r.requests[1].ApprovalID, r.requests[2].ApprovalID)
	require.Equal(t, r.requests[0].Pending.ActionID, r.requests[2].Pending.ActionID)
	require.Equal(t, r.requests[2].ApprovalID, f.all()[len(f.all())-1].Action.ApprovalID)
}

func TestADecisionThatTheApprovalToolRecordedIsNotRecordedTwice(t *testing.T) {
	f := newFakeJournal(t)
	tr := newTransport(f)
	r := newReviewer(f)
	r.decision.Recorded = true
	tr.Executor.Approver = r
	_, err := post(t, tr, aCall(), newRemote(t, nil).URL)
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "approval requested", "sent", "completed"}, f.states())
}

func TestAnApprovalAskedForElsewhereIsNamedAndNotAskedForAgain(t *testing.T) {
	f := newFakeJournal(t)
	tr := newTransport(f)
	r := newReviewer(f)
	tr.Executor.Approver = r
	call := aCall()
	call.ApprovalID = "apr_elsewhere"
	_, err := post(t, tr, call, newRemote(t, nil).URL)
	require.NoError(t, err)
	require.Empty(t, r.requests)
	require.Equal(t, "apr_elsewhere", f.all()[1].Action.ApprovalID)
}
