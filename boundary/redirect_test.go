// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func TestARedirectToAnotherTargetIsRefused(t *testing.T) {
	f := newFakeJournal(t)
	other := newRemote(t, nil)
	target := newRemote(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/elsewhere", http.StatusTemporaryRedirect)
	})
	_, err := post(t, newTransport(f), aCall(), target.URL)
	e := failed(t, err)
	require.Equal(t, CodeRedirectRefused, e.Code)
	require.Zero(t, other.count())
	require.Equal(t, []string{"planned", "sent", "completed"}, f.states())
	sent := f.all()[1].Action
	require.Equal(t, []string{sent.ActionID, sent.AttemptID}, []string{e.ActionID, e.AttemptID}, "the error is about what went out")
	require.Equal(t, record.ActionCompleted, e.State)
	require.True(t, e.Recorded)
	require.True(t, e.MayHaveHadEffect())
	require.Contains(t, e.Error(), "it was sent and answered")
	require.Equal(t, int64(307), f.all()[2].Action.Outcome.HTTPStatus)
}

// TestARedirectThatWasDecidedOnIsAnActionOfItsOwn follows one to another host, without
// the credential, which was chosen for the first.
func TestARedirectThatWasDecidedOnIsAnActionOfItsOwn(t *testing.T) {
	f := newFakeJournal(t)
	other := newRemote(t, nil)
	target := newRemote(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/elsewhere", http.StatusTemporaryRedirect)
	})
	tr := newTransport(f)
	var asked []record.ActionTarget
	tr.Redirects = func(_ context.Context, from, to record.ActionTarget) bool {
		asked = append(asked, from, to)
		return true
	}
	_, err := post(t, tr, aCall(), target.URL)
	require.NoError(t, err)
	require.Len(t, asked, 2)
	require.Equal(t, []string{"planned", "sent", "completed", "planned", "sent", "completed"}, f.states())
	first, second := f.all()[0].Action, f.all()[3].Action
	require.NotEqual(t, first.ActionID, second.ActionID)
	require.Equal(t, first.EventID, second.Correlation.ParentEventID)
	require.Equal(t, "none", second.Target.CredentialRef)
	require.Empty(t, second.Target.PathTemplate, "the template is of another path")
	require.Equal(t, second.Target, f.all()[4].Action.Target)
	require.Empty(t, other.requests[0].Header.Get("Authorization"))
	require.Equal(t, "CANARY-body-1", other.bodies[0])
	require.NotContains(t, f.text(), "CANARY")
}

// TestARedirectThatIsNotFollowedAfterAllDoesNotHideWhatWasSent follows one that the
// journal then refuses.
func TestARedirectThatIsNotFollowedAfterAllDoesNotHideWhatWasSent(t *testing.T) {
	f := newFakeJournal(t)
	other := newRemote(t, nil)
	target := newRemote(t, func(w http.ResponseWriter, r *http.Request) {
		f.setRefusal("sent", http.StatusConflict, "approval_not_bound")
		http.Redirect(w, r, other.URL+"/elsewhere", http.StatusSeeOther)
	})
	tr := newTransport(f)
	tr.Redirects = func(context.Context, record.ActionTarget, record.ActionTarget) bool { return true }
	_, err := post(t, tr, aCall(), target.URL)
	e := failed(t, err)
	require.Equal(t, "approval_not_bound", e.Code)
	require.Equal(t, record.ActionFailedBeforeSend, e.State)
	require.True(t, e.MayHaveHadEffect(), "the request that was redirected went out")
	require.Zero(t, other.count())
}

func TestARedirectToTheSameTargetIsAnotherAttempt(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("region") == "" {
			http.Redirect(w, r, r.URL.Path+"?region=eu", http.StatusPermanentRedirect)
		}
	})
	_, err := post(t, newTransport(f), aCall(), target.URL)
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "completed", "sent", "completed"}, f.states())
	require.Equal(t, int64(2), f.all()[3].Action.Attempt)
	require.Len(t, f.all()[4].Action.AttemptIDs, 2)
}

// moving resolves to one place when an action is planned and to another when it is
// about to be sent.
type moving struct{ planned, sent Resolved }

func (m *moving) Resolve(context.Context, *http.Request, Call) (Resolved, error) {
	now := m.planned
	m.planned = m.sent
	return now, nil
}

func at(t *testing.T, server *httptest.Server, ref string) Resolved {
	t.Helper()
	u, err := url.Parse(server.URL + "/v1/releases/x")
	require.NoError(t, err)
	return Resolved{URL: u, CredentialRef: ref}
}

// TestWhatIsSentIsWhatWasResolvedLast shows the journal what changed since the plan, so
// that it can refuse.
func TestWhatIsSentIsWhatWasResolvedLast(t *testing.T) {
	f := newFakeJournal(t)
	f.setRefusal("sent", http.StatusConflict, "action_changed")
	a, b := newRemote(t, nil), newRemote(t, nil)
	var refused *record.Action
	refuse := f.refuse
	f.refuse = func(s stored) (int, string) {
		status, code := refuse(s)
		if status != 0 {
			refused = &s.Action
		}
		return status, code
	}
	tr := newTransport(f)
	tr.Resolver = &moving{at(t, a.Server, "ops-deploy"), at(t, b.Server, "ops-admin")}
	_, err := post(t, tr, aCall(), "http://prod")
	require.Equal(t, "action_changed", failed(t, err).Code)
	require.Zero(t, a.count()+b.count())
	require.Equal(t, "ops-deploy", f.all()[0].Action.Target.CredentialRef)
	require.Equal(t, "ops-admin", refused.Target.CredentialRef)
	require.NotEqual(t, f.all()[0].Action.Target.Port, refused.Target.Port)
}

func TestAnAliasIsRecordedAsWhatItWasResolvedTo(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	tr.Resolver = &moving{at(t, target.Server, "ops-deploy"), at(t, target.Server, "ops-deploy")}
	_, err := post(t, tr, aCall(), "http://prod")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", f.all()[0].Action.Target.Host)
	require.True(t, strings.HasPrefix(target.requests[0].Host, "127.0.0.1:"))
}
