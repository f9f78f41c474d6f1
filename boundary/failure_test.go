// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

// through sends a request with a client as an application would.
func through(ctx context.Context, client *http.Client, target string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target+"/v1/releases/x", strings.NewReader("CANARY-body-1"))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// TestATimeoutOfTheClientIsFoundBehindItsError lets http.Client.Timeout pass while the
// target has the request. Mostly the client then drops the transport's error; if its timer
// is late it does not.
func TestATimeoutOfTheClientIsFoundBehindItsError(t *testing.T) {
	f := newFakeJournal(t)
	release := make(chan struct{})
	target := newRemote(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	client := &http.Client{Transport: newTransport(f), Timeout: 100 * time.Millisecond}
	ctx := WithCall(t.Context(), aCall())
	// The time may be over before anything left: then nothing was sent, and it says so.
	err := through(ctx, client, target.URL)
	for target.count() == 0 {
		client.Timeout *= 2
		err = through(ctx, client, target.URL)
	}
	e := failed(t, Failure(ctx, err))
	require.Equal(t, CodeTimeout, e.Code)
	require.Equal(t, record.ActionTimeout, e.State)
	require.True(t, e.MayHaveHadEffect())
	require.Equal(t, []string{e.ActionID}, ActionIDs(ctx))
	states := f.states()
	require.Equal(t, "timeout", states[len(states)-1])
	require.ErrorIs(t, Failure(ctx, err), context.DeadlineExceeded)
}

// cutOff is what http.Client.Timeout makes of a context, caught between its two ways of
// telling: the deadline is over, Request.Cancel is closed and the context does not know.
type cutOff struct {
	context.Context
	deadline time.Time
}

func (c cutOff) Deadline() (time.Time, bool) { return c.deadline, true }

func TestACancellationBehindTheDeadlineIsATimeout(t *testing.T) {
	for name, test := range map[string]struct {
		deadline time.Duration
		state    record.ActionState
		code     string
	}{
		"over":     {-time.Second, record.ActionTimeout, CodeTimeout},
		"not over": {time.Hour, record.ActionUnknown, CodeCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeJournal(t)
			release, canceled := make(chan struct{}), make(chan struct{})
			target := newRemote(t, func(http.ResponseWriter, *http.Request) {
				close(canceled)
				<-release
			})
			defer close(release)
			ctx := cutOff{WithCall(t.Context(), aCall()), time.Now().Add(test.deadline)}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.URL, strings.NewReader("x"))
			require.NoError(t, err)
			//lint:ignore SA1019 http.Client uses it still
			req.Cancel = canceled
			_, err = newTransport(f).RoundTrip(req)
			e := failed(t, err)
			require.Equal(t, test.code, e.Code)
			require.Equal(t, test.state, e.State)
			require.Equal(t, test.code, f.all()[2].Action.Outcome.Error)
			require.Equal(t, record.EffectUnknown, f.all()[2].Action.Outcome.RemoteEffect)
		})
	}
}

func TestACancellationWhoseCauseIsADeadlineIsATimeout(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	require.Equal(t, CodeTimeout, endedBy(ctx, nil, ctx.Err()))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.Equal(t, CodeCanceled, endedBy(ctx, nil, ctx.Err()))
	require.Empty(t, endedBy(t.Context(), nil, io.ErrUnexpectedEOF))
}

func TestAnAnswerThatDoesNotReachTheCallerIsNoFailure(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "CANARY-answer-1")
	})
	ctx := WithCall(t.Context(), aCall())
	e := failed(t, Failure(ctx, through(ctx, &http.Client{Transport: newTransport(f)}, target.URL)))
	require.Equal(t, CodeAnswerLost, e.Code)
	require.Equal(t, record.ActionCompleted, e.State)
	require.True(t, e.Recorded)
	require.True(t, e.MayHaveHadEffect())
	require.Contains(t, e.Error(), "it was sent and answered")
}

func TestNothingIsSaidOfWhatNeverCameToTheTransport(t *testing.T) {
	ctx := WithCall(t.Context(), aCall())
	other := errors.New("other")
	require.Equal(t, other, Failure(ctx, other))
	require.Equal(t, other, Failure(t.Context(), other))
	require.NoError(t, Failure(ctx, nil))
}

// TestAnAttemptThatIsNotSentDoesNotSpeakForTheOneBefore sends once, and has no credential
// the second time.
func TestAnAttemptThatIsNotSentDoesNotSpeakForTheOneBefore(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	tr := newTransport(f)
	ctx := WithCall(t.Context(), aCall())
	require.NoError(t, through(ctx, &http.Client{Transport: tr}, target.URL))
	tr.Credentials.(*secrets).err = errors.New("locked")
	e := failed(t, through(ctx, &http.Client{Transport: tr}, target.URL))
	require.Equal(t, record.ActionFailedBeforeSend, e.State)
	require.True(t, e.SentBefore)
	require.True(t, e.MayHaveHadEffect())
	require.Contains(t, e.Error(), "nothing was sent this time, what was sent before may have had an effect")
}

func TestAnErrorThatTheClientDroppedIsFound(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	f.setRefusal("sent", http.StatusConflict, "approval_not_bound")
	ctx := WithCall(t.Context(), aCall())
	require.Error(t, through(ctx, &http.Client{Transport: newTransport(f)}, target.URL))
	e := failed(t, Failure(ctx, errors.New("Client.Timeout exceeded")))
	require.Equal(t, "approval_not_bound", e.Code)
	require.False(t, e.MayHaveHadEffect())
	require.Contains(t, e.Error(), "; nothing was sent")
	require.Equal(t, ActionIDs(ctx), []string{e.ActionID})
}
