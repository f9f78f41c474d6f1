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
