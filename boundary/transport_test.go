// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

const secret = "Bearer CANARY-secret-1"

// secrets resolves every reference, and remembers what had been recorded by then.
type secrets struct {
	f     *fakeJournal
	asked [][]string
	err   error
}

func (s *secrets) Secret(context.Context, string, record.ActionTarget) (string, error) {
	s.asked = append(s.asked, s.f.states())
	return secret, s.err
}

// remote is a target that remembers what it was asked.
type remote struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func newRemote(t *testing.T, handle http.HandlerFunc) *remote {
	r := &remote{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.requests, r.bodies = append(r.requests, req), append(r.bodies, string(body))
		r.mu.Unlock()
		if handle != nil {
			handle(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *remote) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

func aCall() Call {
	return Call{
		ExecutionID: "run_8d43", TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", ParentSpanID: "b7ad6b7169203331", ToolID: "publish_release", CallID: "call_1",
		ArgumentsDigest: "sha256:" + strings.Repeat("1", 64), CredentialRef: "ops-deploy", PathTemplate: "/v1/releases/{name}",
	}
}

func newTransport(f *fakeJournal) *Transport {
	return &Transport{Executor: &Executor{Journal: f.client(), Actor: NewActor("agent_process", "deployer")}, Credentials: &secrets{f: f}}
}

func post(t *testing.T, tr *Transport, call Call, target string) (*http.Response, error) {
	t.Helper()
	return postIn(WithCall(t.Context(), call), tr, target)
}

func postIn(ctx context.Context, tr *Transport, target string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target+"/v1/releases/CANARY-path-1?q=CANARY-query-1", strings.NewReader("CANARY-body-1"))
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err == nil {
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return resp, err
}

func failed(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.NotContains(t, e.Error(), "CANARY")
	return e
}

func TestAnActionIsPlannedThenPermittedThenSentThenRecorded(t *testing.T) {
	f := newFakeJournal(t)
	var atArrival []string
	target := newRemote(t, func(http.ResponseWriter, *http.Request) { atArrival = f.states() })
	tr := newTransport(f)
	resp, err := post(t, tr, aCall(), target.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, []string{"planned", "sent"}, atArrival)
	require.Equal(t, [][]string{{"planned", "sent"}}, tr.Credentials.(*secrets).asked, "the credential came last")
	require.Equal(t, []string{"planned", "sent", "completed"}, f.states())

	planned, sent, completed := f.all()[0].Action, f.all()[1].Action, f.all()[2].Action
	u, err := url.Parse(target.URL)
	require.NoError(t, err)
	require.Equal(t, u.Hostname(), planned.Target.Host)
	require.Equal(t, u.Port(), itoa(planned.Target.Port))
	require.Equal(t, record.ActionTarget{
		Channel: "http", Host: planned.Target.Host, Port: planned.Target.Port, Protocol: "http", Method: "POST", PathTemplate: "/v1/releases/{name}", CredentialRef: "ops-deploy",
		HeaderNames: []string{"Authorization", "Idempotency-Key", "Traceparent"}, BodyDigest: (&Executor{}).digest([]byte("CANARY-body-1")), Redaction: "values_left_out",
	}, planned.Target)
	require.Equal(t, planned.Target, sent.Target)
	require.Equal(t, planned.Target, completed.Target)
	require.Equal(t, record.Requested{ToolID: "publish_release", ArgumentsDigest: aCall().ArgumentsDigest}, planned.Requested)
	require.Equal(t, record.EdgeExternalAction, sent.EdgeType)
	require.Equal(t, "deployer", sent.Actor.Identity)
	require.False(t, sent.Actor.StartedAt.IsZero())

	// The action's span is below the caller's, the attempt's below that, and neither names
	// the action.
	require.Equal(t, "b7ad6b7169203331", planned.Correlation.ParentSpanID)
	require.Equal(t, planned.Correlation.SpanID, sent.Correlation.ParentSpanID)
	require.Equal(t, sent.Correlation, completed.Correlation)
	require.NotContains(t, planned.ActionID, planned.Correlation.SpanID)
	require.Equal(t, f.seen[planned.EventID].EventID, sent.Correlation.ParentEventID)

	require.Equal(t, int64(200), completed.Outcome.HTTPStatus)
	require.Equal(t, record.EffectConfirmed, completed.Outcome.RemoteEffect)
	require.Greater(t, *completed.Outcome.BytesSent, int64(len("CANARY-body-1")+len(secret)))
	require.Equal(t, []string{sent.AttemptID}, completed.AttemptIDs)

	got := target.requests[0]
	require.Equal(t, secret, got.Header.Get("Authorization"))
	require.Equal(t, record.IdempotencyToken(planned.ActionID), got.Header.Get("Idempotency-Key"))
	require.Equal(t, "00-"+aCall().TraceID+"-"+sent.Correlation.SpanID+"-01", got.Header.Get("Traceparent"))
	require.Equal(t, "/v1/releases/CANARY-path-1", got.URL.Path)
	require.Equal(t, "CANARY-body-1", target.bodies[0])
	require.Empty(t, resp.Request.Header.Get("Authorization"), "the response leads back to no secret")
	require.NotContains(t, f.text(), "CANARY")
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// TestWhatCannotBeRecordedIsNotSent refuses each record before the sending.
func TestWhatCannotBeRecordedIsNotSent(t *testing.T) {
	for _, state := range []string{"planned", "sent"} {
		for status, code := range map[int]string{http.StatusConflict: "action_changed", http.StatusServiceUnavailable: CodeRecordUnavailable, http.StatusBadRequest: "malformed"} {
			f := newFakeJournal(t)
			f.setRefusal(state, status, code)
			target := newRemote(t, nil)
			tr := newTransport(f)
			tr.Executor.Journal.(*Client).MaxTries = 2
			_, err := post(t, tr, aCall(), target.URL)
			e := failed(t, err)
			require.Equal(t, code, e.Code)
			require.Contains(t, e.Error(), "nothing was sent")
			require.Zero(t, target.count())
			require.Empty(t, tr.Credentials.(*secrets).asked, "nobody asked for the credential")
			if state == "sent" {
				require.Equal(t, []string{"planned", "failed_before_send"}, f.states())
				require.Equal(t, code, f.all()[1].Action.Outcome.Error)
			}
		}
	}
}

func TestACredentialThatIsNotToBeHadFailsBeforeSendAndIsNotQuoted(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	tr.Credentials.(*secrets).err = errors.New("vault says CANARY-vault-1")
	_, err := post(t, tr, aCall(), target.URL)
	e := failed(t, err)
	require.Equal(t, CodeCredentialUnavailable, e.Code)
	require.NotContains(t, errors.Unwrap(e).Error(), "CANARY")
	require.Equal(t, []string{"planned", "sent", "failed_before_send"}, f.states())
	require.Zero(t, target.count())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnOutcomeThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	f := newFakeJournal(t)
	f.setRefusal("completed", http.StatusServiceUnavailable, "")
	target := newRemote(t, nil)
	tr := newTransport(f)
	tr.Executor.Journal.(*Client).MaxTries = 1
	_, err := post(t, tr, aCall(), target.URL)
	e := failed(t, err)
	require.Equal(t, CodeOutcomeUnrecorded, e.Code)
	require.Equal(t, record.ActionCompleted, e.State)
	require.False(t, e.Recorded)
	require.Contains(t, e.Error(), "may have had an effect")
	require.Equal(t, 1, target.count())
}

// TestParallelSiblingsInheritNothingOfEachOther runs two branches at once, and two
// requests of one call.
func TestParallelSiblingsInheritNothingOfEachOther(t *testing.T) {
	f := newFakeJournal(t)
	var both sync.WaitGroup
	both.Add(2)
	target := newRemote(t, func(w http.ResponseWriter, r *http.Request) {
		both.Done()
		both.Wait() // both are under way at once
		if strings.HasSuffix(r.URL.Path, "b") {
			w.WriteHeader(http.StatusConflict)
		}
	})
	tr := newTransport(f)
	var wg sync.WaitGroup
	for i, branch := range []string{"a", "b"} {
		wg.Go(func() {
			call := aCall()
			call.CallID, call.ParentSpanID = "call_"+branch, strings.Repeat(itoa(int64(i+1)), 16)
			req, err := http.NewRequestWithContext(WithCall(t.Context(), call), http.MethodGet, target.URL+"/"+branch, nil)
			if !assert.NoError(t, err) {
				return
			}
			resp, err := tr.RoundTrip(req)
			if assert.NoError(t, err) {
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	byCall := map[string]map[string]record.Action{}
	for _, s := range f.all() {
		if byCall[s.Action.Correlation.CallID] == nil {
			byCall[s.Action.Correlation.CallID] = map[string]record.Action{}
		}
		byCall[s.Action.Correlation.CallID][s.state()] = s.Action
	}
	a, b := byCall["call_a"], byCall["call_b"]
	require.Len(t, a, 3)
	require.Len(t, b, 3)
	require.NotEqual(t, a["planned"].ActionID, b["planned"].ActionID)
	require.Equal(t, strings.Repeat("1", 16), a["planned"].Correlation.ParentSpanID)
	require.Equal(t, strings.Repeat("2", 16), b["planned"].Correlation.ParentSpanID)
	for _, own := range []map[string]record.Action{a, b} {
		require.Equal(t, own["planned"].Correlation.SpanID, own["sent"].Correlation.ParentSpanID)
		require.Equal(t, own["planned"].ActionID, own["completed"].ActionID)
	}
	require.NotEqual(t, a["sent"].Correlation.SpanID, b["sent"].Correlation.SpanID)
	require.Equal(t, int64(200), a["completed"].Outcome.HTTPStatus)
	require.Equal(t, int64(409), b["completed"].Outcome.HTTPStatus)
	require.Equal(t, record.EffectUnknown, b["completed"].Outcome.RemoteEffect)
}
