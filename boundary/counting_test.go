// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// TestATimeoutAfterBytesLeftIsNeverCalledFailed times out once and retries.
func TestATimeoutAfterBytesLeftIsNeverCalledFailed(t *testing.T) {
	f := newFakeJournal(t)
	var release sync.WaitGroup
	release.Add(1)
	arrived := make(chan struct{})
	first := true
	target := newRemote(t, func(_ http.ResponseWriter, r *http.Request) {
		if first {
			first = false
			close(arrived)
			release.Wait()
		}
	})
	defer release.Done()
	tr := newTransport(f)
	ctx := WithCall(t.Context(), aCall())
	_, err := postIn(&untilReached{ctx, arrived}, tr, target.URL)
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

// untilReached is a context whose deadline comes when a test says so.
type untilReached struct {
	context.Context
	reached <-chan struct{}
}

func (u *untilReached) Done() <-chan struct{} { return u.reached }

func (u *untilReached) Err() error {
	select {
	case <-u.reached:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
