// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

const forged = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestAForgedParentStaysAClaim is requirement D5: what anybody could have written never
// becomes the parent of what happened.
func TestAForgedParentStaysAClaim(t *testing.T) {
	f := newFakeJournal(t)
	_, err := post(t, newTransport(f), Call{ExecutionID: "run_1", Upstream: Upstream{Traceparent: forged}}, newRemote(t, nil).URL)
	require.NoError(t, err)
	for _, s := range f.all() {
		require.Equal(t, record.UnverifiedInput, s.Action.ObservedBy.UpstreamContextSource)
		require.Equal(t, &record.ReceivedContext{TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", ParentSpanID: "00f067aa0ba902b7"}, s.Action.ObservedBy.ReceivedContext)
		require.NotEqual(t, "4bf92f3577b34da6a3ce929d0e0e4736", s.Action.Correlation.TraceID)
		require.NotEqual(t, "00f067aa0ba902b7", s.Action.Correlation.ParentSpanID)
	}
}

func TestAnAuthenticatedCallersContextIsGoneOnWith(t *testing.T) {
	f := newFakeJournal(t)
	_, err := post(t, newTransport(f), Call{ExecutionID: "run_1", Upstream: Upstream{Traceparent: forged, AuthenticatedBy: "CN=mcp-client"}}, newRemote(t, nil).URL)
	require.NoError(t, err)
	planned := f.all()[0].Action
	require.Equal(t, "authenticated:executor", planned.ObservedBy.UpstreamContextSource, "who authenticated is for the receiver to say")
	require.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", planned.Correlation.TraceID)
	require.Equal(t, "00f067aa0ba902b7", planned.Correlation.ParentSpanID)
}

func TestTextThatIsNoContextLeavesNothingButThatItWasUnverified(t *testing.T) {
	f := newFakeJournal(t)
	_, err := post(t, newTransport(f), Call{ExecutionID: "run_1", Upstream: Upstream{Traceparent: "CANARY-trace-1"}}, newRemote(t, nil).URL)
	require.NoError(t, err)
	require.Equal(t, record.UnverifiedInput, f.all()[0].Action.ObservedBy.UpstreamContextSource)
	require.Nil(t, f.all()[0].Action.ObservedBy.ReceivedContext)
	require.NotContains(t, f.text(), "CANARY")
}

func TestACallThatCannotBeUsedActsNotAtAll(t *testing.T) {
	for name, call := range map[string]Call{
		"no execution":          {},
		"zero trace":            {ExecutionID: "r", TraceID: strings.Repeat("0", 32)},
		"short parent":          {ExecutionID: "r", TraceID: strings.Repeat("1", 32), ParentSpanID: "12"},
		"parent without trace":  {ExecutionID: "r", ParentSpanID: strings.Repeat("1", 16)},
		"span as action":        {ExecutionID: "r", TraceID: strings.Repeat("1", 32), ParentSpanID: strings.Repeat("1", 16), ActionID: strings.Repeat("1", 16)},
		"blank in action":       {ExecutionID: "r", ActionID: "a b"},
		"blank in approval":     {ExecutionID: "r", ApprovalID: "a b"},
		"broken authenticated":  {ExecutionID: "r", Upstream: Upstream{Traceparent: "x", AuthenticatedBy: "y"}},
		"a job without a run":   {Job: &Job{}},
		"a plan without a run":  {Plan: &Plan{ActionID: "a"}},
		"a plan of another run": {Job: &Job{ExecutionID: "r", TraceID: strings.Repeat("1", 32), SpanID: strings.Repeat("1", 16), Plan: &Plan{ExecutionID: "s"}}},
	} {
		f := newFakeJournal(t)
		target := newRemote(t, nil)
		_, err := post(t, newTransport(f), call, target.URL)
		require.Equal(t, CodeNoCall, failed(t, err).Code, name)
		require.Zero(t, target.count()+f.posts, name)
	}
	f := newFakeJournal(t)
	_, err := postIn(t.Context(), newTransport(f), newRemote(t, nil).URL)
	require.Equal(t, CodeNoCall, failed(t, err).Code)
}

func TestActionIDsAreGivenDerivedOrMinted(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	tr := newTransport(f)
	idOf := func(c Call, paths ...string) []string {
		ctx := WithCall(t.Context(), c)
		for _, path := range paths {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.URL+path, nil)
			require.NoError(t, err)
			resp, err := tr.RoundTrip(req)
			require.NoError(t, err)
			resp.Body.Close()
		}
		return ActionIDs(ctx)
	}
	given := aCall()
	given.ActionID = "act_5f17"
	require.Equal(t, []string{"act_5f17"}, idOf(given, "/a", "/a"))

	derived := idOf(aCall(), "/a", "/b", "/a")
	require.Len(t, derived, 2, "the same request again is an attempt, another one an action")
	require.NotEqual(t, derived[0], derived[1])
	again := WithCall(t.Context(), aCall())
	c, err := callOf(again)
	require.NoError(t, err)
	require.Equal(t, derived[0], c.nextID(), "after a restart it is the same")

	minted := aCall()
	minted.CallID = ""
	require.NotEqual(t, idOf(minted, "/a"), idOf(minted, "/a"))
	require.Nil(t, ActionIDs(t.Context()))
}

func TestACallWithAnActionIDIsOneAction(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	call := aCall()
	call.ActionID = "act_5f17"
	ctx := WithCall(t.Context(), call)
	tr := newTransport(f)
	_, err := postIn(ctx, tr, target.URL)
	require.NoError(t, err)
	_, err = postIn(ctx, tr, target.URL+"/other")
	require.Equal(t, CodeActionTaken, failed(t, err).Code)
	require.Equal(t, 1, target.count())
}

func TestATraceparentIsReadAsW3CSays(t *testing.T) {
	for header, want := range map[string]bool{
		forged:             true,
		" " + forged + " ": true,
		"cc" + forged[2:] + "-what-later-versions-add": true,
		"00" + forged[2:] + "-more":                    false,
		"ff" + forged[2:]:                              false,
		strings.ToUpper(forged):                        false,
		"00-" + strings.Repeat("0", 32) + forged[35:]:  false,
		forged[:36] + strings.Repeat("0", 16) + "-01":  false,
		forged[:54]: false,
		"":          false,
		"cc" + forged[2:] + strings.Repeat("-x", 300): false,
	} {
		_, _, ok := ParseTraceparent(header)
		require.Equal(t, want, ok, header)
	}
}
