// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// node runs examples/node/act.mjs.
func (s *stage) node(env ...string) (code int, output string) {
	s.t.Helper()
	cmd := s.nodeCommand(env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(s.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (s *stage) nodeCommand(env ...string) *exec.Cmd {
	s.t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		s.t.Skip("node is not installed; its example was not run")
	}
	credential := filepath.Join(s.base, "credential")
	require.NoError(s.t, os.WriteFile(credential, []byte(strings.TrimPrefix(webSecret, "Bearer ")+"\n"), 0o600))
	cmd := exec.CommandContext(s.t.Context(), node, filepath.Join(root, "examples", "node", "act.mjs"))
	cmd.Env = append(append(os.Environ(), "READTRAIL_API=http://"+s.api, "READTRAIL_TOKEN="+apiToken, "TARGET="+s.web.URL, "CREDENTIAL_FILE="+credential, "EXECUTION_ID=run_node"), env...)
	return cmd
}

// TestTheNodeExampleRecordsWhatItSends runs it against the collector: what goes well, a
// target that does not answer, nobody there, and an action that the journal refuses.
func TestTheNodeExampleRecordsWhatItSends(t *testing.T) {
	s := newStage(t)
	code, output := s.node("ACTION_ID=act_1")
	require.Zero(t, code, output)
	require.Equal(t, "completed: 200\n", output)

	code, output = s.node("ACTION_ID=act_1")
	require.Equal(t, 1, code)
	require.Equal(t, "not sent: conflict\n", output)
	require.Equal(t, 1, s.web.count(), "the same action again was not planned, so it was not sent")

	_, release := s.web.hold()
	code, output = s.node("ACTION_ID=act_2", "TIMEOUT_MS=500")
	release()
	require.Equal(t, 1, code)
	require.Equal(t, "may have had an effect: timeout\n", output)
	code, output = s.node("ACTION_ID=act_3", "TARGET=http://"+freeAddress(t))
	require.Equal(t, 1, code)
	require.Equal(t, "not sent: connection_failed\n", output)
	code, output = s.node("ACTION_ID=act_4", "CREDENTIAL_FILE=/nonexistent")
	require.Equal(t, 1, code)
	require.Equal(t, "not sent: credential_unavailable\n", output)
	code, output = s.node("TARGET=")
	require.Equal(t, 1, code)
	require.Equal(t, "not sent: TARGET is not set\n", output)
	s.end()

	entries := s.actions()
	for id, want := range map[string][]string{
		"act_1": {"planned", "sent", "completed"},
		"act_2": {"planned", "sent", "timeout"},
		"act_3": {"planned", "sent", "failed_before_send"},
		"act_4": {"planned", "sent", "failed_before_send"},
	} {
		own := only(entries, id)
		require.Equal(t, want, stepsOf(own), id)
		require.Equal(t, own[0].Correlation["span_id"], own[1].Correlation["parent_span_id"])
		require.Equal(t, own[0].Action, own[1].Action)
	}
	require.Equal(t, only(entries, "act_1")[0].Token, s.web.tokens[0])
	require.NotContains(t, string(bytes.Join(s.lines(), nil)), "CANARY")
}

// deaf is a journal behind a proxy that takes records in some states only, and answers 503
// to all others.
func (s *stage) deaf(takes ...string) string {
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.api})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if !assert.NoError(s.t, err) {
			return
		}
		for _, state := range takes {
			if bytes.Contains(body, []byte(`"state":"`+state+`"`)) {
				r.Body = io.NopCloser(bytes.NewReader(body))
				proxy.ServeHTTP(w, r)
				return
			}
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	s.t.Cleanup(server.Close)
	return "READTRAIL_API=" + server.URL
}

// TestTheNodeExampleNeverCallsNotSentWhatWasSent takes the journal away at each step, and
// the process too. The next run writes what is owed.
func TestTheNodeExampleNeverCallsNotSentWhatWasSent(t *testing.T) {
	s := newStage(t)
	notes := "STATE_DIR=" + s.notes()

	code, output := s.node(notes, "ACTION_ID=act_1", s.deaf("planned", "sent"))
	require.Equal(t, 1, code)
	require.Equal(t, "may have had an effect: outcome_unrecorded\n", output)
	require.Equal(t, 1, s.web.count())
	require.Equal(t, []string{"planned", "sent"}, stepsOf(s.actions()))

	_, output = s.node(notes, "ACTION_ID=act_2", s.deaf("completed"))
	require.Equal(t, "not sent: record_unavailable\n", output)
	require.Equal(t, 1, s.web.count())
	require.Equal(t, []string{"planned", "sent", "completed"}, stepsOf(s.actions()), "what the first left is written first")

	_, output = s.node(notes, "ACTION_ID=act_3", s.deaf("planned"))
	require.Equal(t, "not sent: record_unavailable\n", output)
	require.Equal(t, 1, s.web.count())

	there, release := s.web.hold()
	defer release()
	killed := s.nodeCommand(notes, "ACTION_ID=act_4")
	require.NoError(t, killed.Start())
	<-there
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	release()

	code, output = s.node(notes, "ACTION_ID=act_5")
	require.Zero(t, code, output)
	left, err := os.ReadDir(s.notes())
	require.NoError(t, err)
	require.Empty(t, left)
	s.end()
	entries := s.actions()
	for id, want := range map[string][]string{
		"act_1": {"planned", "sent", "completed"},
		"act_2": nil,
		"act_3": {"planned", "failed_before_send"},
		"act_4": {"planned", "sent", "unknown"},
		"act_5": {"planned", "sent", "completed"},
	} {
		require.Equal(t, want, stepsOf(only(entries, id)), id)
	}
	require.Equal(t, "executor_lost", only(entries, "act_4")[2].Outcome["error"])
}
