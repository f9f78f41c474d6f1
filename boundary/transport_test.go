// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

// TestATimeoutAfterBytesLeftIsNeverCalledFailed times out once and retries.
func TestATimeoutAfterBytesLeftIsNeverCalledFailed(t *testing.T) {
	f := newFakeJournal(t)
	var release sync.WaitGroup
	release.Add(1)
	arrived := make(chan struct{}, 1)
	first := true
	target := newRemote(t, func(_ http.ResponseWriter, r *http.Request) {
		if first {
			first = false
			arrived <- struct{}{}
			release.Wait()
		}
	})
	defer release.Done()
	tr := newTransport(f)
	ctx := WithCall(t.Context(), aCall())
	within, cancel := context.WithDeadlineCause(ctx, time.Now().Add(200*time.Millisecond), nil)
	defer cancel()
	_, err := postIn(within, tr, target.URL)
	<-arrived
	e := failed(t, err)
	require.Equal(t, record.ActionTimeout, e.State)
	require.True(t, e.Timeout())
	require.True(t, e.Recorded)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	_, err = postIn(ctx, tr, target.URL)
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "timeout", "sent", "completed"}, f.states())
	timeout, again, completed := f.all()[2].Action, f.all()[3].Action, f.all()[4].Action
	require.Positive(t, *timeout.Outcome.BytesSent)
	require.Equal(t, record.EffectUnknown, timeout.Outcome.RemoteEffect)
	require.Equal(t, timeout.ActionID, again.ActionID)
	require.Equal(t, int64(2), again.Attempt)
	require.NotEqual(t, timeout.AttemptID, again.AttemptID)
	require.NotEqual(t, timeout.Correlation.SpanID, again.Correlation.SpanID)
	require.Equal(t, []string{timeout.AttemptID, again.AttemptID}, completed.AttemptIDs)
	require.Equal(t, target.requests[0].Header.Get("Idempotency-Key"), target.requests[1].Header.Get("Idempotency-Key"))
}

func TestAConnectionThatDoesNotComeAboutFailedBeforeSend(t *testing.T) {
	f := newFakeJournal(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.Close()
	_, err = post(t, newTransport(f), aCall(), "http://"+l.Addr().String())
	e := failed(t, err)
	require.Equal(t, record.ActionFailedBeforeSend, e.State)
	o := f.all()[2].Action.Outcome
	require.Equal(t, CodeConnectionFailed, o.Error)
	require.Zero(t, *o.BytesSent)
	require.Equal(t, record.EffectNone, o.RemoteEffect)
}

// TestAConnectionThatEndsWithoutAnAnswerIsUnknownAndNotSentAgain holds net/http to one
// send an attempt: with an Idempotency-Key it would send a second time by itself on a
// connection that it kept.
func TestAConnectionThatEndsWithoutAnAnswerIsUnknownAndNotSentAgain(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Hang-Up") != "" {
			conn, _, err := w.(http.Hijacker).Hijack()
			if assert.NoError(t, err) {
				conn.Close()
			}
		}
	})
	tr := newTransport(f)
	for i, hangUp := range []string{"", "yes"} {
		call := aCall()
		call.CallID = itoa(int64(i))
		req, err := http.NewRequestWithContext(WithCall(t.Context(), call), http.MethodGet, target.URL, nil)
		require.NoError(t, err)
		if hangUp != "" {
			req.Header.Set("X-Hang-Up", hangUp)
		}
		resp, err := tr.RoundTrip(req)
		if hangUp == "" {
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			continue
		}
		require.Equal(t, record.ActionUnknown, failed(t, err).State)
	}
	require.Equal(t, 2, target.count())
	last := f.all()[5].Action
	require.Equal(t, CodeConnectionLost, last.Outcome.Error)
	require.Positive(t, *last.Outcome.BytesSent)
}

func TestABaseThatSendsASecondTimeIsStopped(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	plain := &http.Transport{DisableKeepAlives: true}
	tr.Base = roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := plain.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		return plain.RoundTrip(r)
	})
	req, err := http.NewRequestWithContext(WithCall(t.Context(), aCall()), http.MethodGet, target.URL, nil)
	require.NoError(t, err)
	_, err = tr.RoundTrip(req)
	require.ErrorIs(t, err, errSentAgain)
	require.Equal(t, record.ActionUnknown, failed(t, err).State)
	require.Nil(t, f.all()[2].Action.Outcome.BytesSent, "of another base the bytes are not known")
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

func TestSecretsThatARequestBringsAreRefused(t *testing.T) {
	for name, bring := range map[string]func(*http.Request){
		"authorization": func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
		"cookie":        func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "a", Value: "b"}) },
		"proxy":         func(r *http.Request) { r.Header.Set("Proxy-Authorization", "x") },
		"user in URL":   func(r *http.Request) { r.URL.User = url.UserPassword("u", "p") },
		"other host":    func(r *http.Request) { r.Host = "other.example" },
	} {
		f := newFakeJournal(t)
		target := newRemote(t, nil)
		req, err := http.NewRequestWithContext(WithCall(t.Context(), aCall()), http.MethodGet, target.URL, nil)
		require.NoError(t, err)
		bring(req)
		_, err = newTransport(f).RoundTrip(req)
		code := CodeInlineCredential
		if name == "other host" {
			code = CodeHostOverride
		}
		require.Equal(t, code, failed(t, err).Code, name)
		require.Zero(t, target.count())
		require.Empty(t, f.all())
	}
}

func TestABodyOverTheLimitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	f := newFakeJournal(t)
	tr := newTransport(f)
	tr.MaxBodyBytes = 4
	_, err := post(t, tr, aCall(), newRemote(t, nil).URL)
	require.Equal(t, CodeBodyTooLarge, failed(t, err).Code)
	require.Empty(t, f.all())
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

// TestTheBytesOfATLSConnectionAreThoseBehindItsHandshake tells a server that is not
// trusted, which got a handshake and nothing else, from one that got the request.
func TestTheBytesOfATLSConnectionAreThoseBehindItsHandshake(t *testing.T) {
	f := newFakeJournal(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 1, r.ProtoMajor)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	_, err := post(t, newTransport(f), aCall(), server.URL)
	e := failed(t, err)
	require.Equal(t, record.ActionFailedBeforeSend, e.State)
	require.Equal(t, CodeConnectionFailed, e.Code)
	require.Zero(t, *f.all()[2].Action.Outcome.BytesSent)

	tr := newTransport(f)
	tr.Base = Counting(server.Client().Transport.(*http.Transport))
	call := aCall()
	call.CallID = "call_2"
	_, err = post(t, tr, call, server.URL)
	require.NoError(t, err)
	completed := f.all()[5].Action
	require.Equal(t, "https", completed.Target.Protocol)
	require.Greater(t, *completed.Outcome.BytesSent, int64(len("CANARY-body-1")))
	require.Less(t, *completed.Outcome.BytesSent, int64(1500))
}

// TestNoAttemptBeginsBeforeTheOutcomeOfTheOneBeforeIsWritten loses the journal for a
// while; the numbers of attempts stay those that the journal knows.
func TestNoAttemptBeginsBeforeTheOutcomeOfTheOneBeforeIsWritten(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	tr.Executor.Journal.(*Client).MaxTries = 1
	ctx := WithCall(t.Context(), aCall())
	f.setRefusal("completed", http.StatusServiceUnavailable, "")
	_, err := postIn(ctx, tr, target.URL)
	require.Equal(t, CodeOutcomeUnrecorded, failed(t, err).Code)
	for range 3 {
		_, err = postIn(ctx, tr, target.URL)
		require.Equal(t, CodeRecordUnavailable, failed(t, err).Code)
	}
	require.Equal(t, 1, target.count())
	f.setRefusal("none", 0, "")
	_, err = postIn(ctx, tr, target.URL)
	require.NoError(t, err)
	require.Equal(t, []string{"planned", "sent", "completed", "sent", "completed"}, f.states())
	require.Equal(t, int64(2), f.all()[3].Action.Attempt)
}
