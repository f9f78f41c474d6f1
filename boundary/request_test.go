// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package boundary

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/record"
)

func TestSecretsThatARequestBringsAreRefused(t *testing.T) {
	for name, bring := range map[string]func(*http.Request){
		"authorization": func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
		"other case":    func(r *http.Request) { r.Header["authorization"] = []string{"Bearer x"} },
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

func TestTheHeadersThatAreOursAreSentOnce(t *testing.T) {
	f, target := newFakeJournal(t), newRemote(t, nil)
	req, err := http.NewRequestWithContext(WithCall(t.Context(), aCall()), http.MethodGet, target.URL, nil)
	require.NoError(t, err)
	req.Header["idempotency-key"], req.Header["TRACEPARENT"] = []string{"mine"}, []string{forged}
	resp, err := newTransport(f).RoundTrip(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, []string{record.IdempotencyToken(f.all()[0].Action.ActionID)}, target.requests[0].Header.Values("Idempotency-Key"))
	require.Len(t, target.requests[0].Header.Values("Traceparent"), 1)
	require.NotEqual(t, forged, target.requests[0].Header.Get("Traceparent"))
}

func TestABodyOverTheLimitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	f := newFakeJournal(t)
	tr := newTransport(f)
	tr.MaxBodyBytes = 4
	_, err := post(t, tr, aCall(), newRemote(t, nil).URL)
	require.Equal(t, CodeBodyTooLarge, failed(t, err).Code)
	require.Empty(t, f.all())
}

// TestAPlanThatTheJournalMayHaveIsTheSamePlanAgain loses the answer to planned.
func TestAPlanThatTheJournalMayHaveIsTheSamePlanAgain(t *testing.T) {
	f := newFakeJournal(t)
	target := newRemote(t, nil)
	tr := newTransport(f)
	tr.Executor.Approver = newReviewer(f)
	tr.Executor.Journal.(*Client).MaxTries = 1
	ctx := WithCall(t.Context(), aCall())
	f.answer = func(w http.ResponseWriter, body []byte) bool {
		batch, _ := f.read(body)
		for _, s := range batch {
			f.take(s)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	_, err := postIn(ctx, tr, target.URL)
	require.Equal(t, CodeRecordUnavailable, failed(t, err).Code)
	planned := f.all()[0]
	var again []byte
	f.answer = func(_ http.ResponseWriter, body []byte) bool {
		if batch, _ := f.read(body); again == nil {
			again = batch[0].raw
		}
		return false
	}
	_, err = postIn(ctx, tr, target.URL)
	require.NoError(t, err)
	require.Equal(t, string(planned.raw), string(again), "another body would be a conflict")
	require.Equal(t, []string{"planned", "approval requested", "approval decided", "sent", "completed"}, f.states())
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
