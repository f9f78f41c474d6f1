// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/boundary"
)

// TestNoSecretAndNoContentOfAnActionLeavesTheBoundary runs what can go well and wrong,
// and looks for each secret in all that was written: journal, notes, the collector's
// output at debug, and the text of errors.
func TestNoSecretAndNoContentOfAnActionLeavesTheBoundary(t *testing.T) {
	s := newStage(t)
	s.executor.Attempts = boundary.Directory(s.notes())
	var said []string
	act := func(name string, prepare func()) {
		prepare()
		for _, out := range s.channels() {
			call := aCall()
			call.CallID = name + "_" + out.name
			call.Upstream.Traceparent = "CANARY-traceparent-1"
			call.TraceID, call.ParentSpanID = "", ""
			err := out.act(boundary.WithCall(t.Context(), call))
			for ; err != nil; err = errors.Unwrap(err) {
				var own *boundary.Error
				if errors.As(err, &own) { // net/http puts the request's URL in front, which is the caller's own
					said = append(said, own.Error())
				}
			}
		}
	}
	act("completed", func() {})
	act("approved", func() { s.executor.Approver = &desk{validFor: time.Hour} })
	act("rejected", func() { s.executor.Approver = &desk{validFor: time.Hour, rejects: true} })
	s.executor.Approver = nil
	act("nobody there", func() { s.places.move("http://"+freeAddress(t), freeAddress(t), "") })
	act("no journal", func() { s.collector.Kill() })
	killed := s.collector.Output()
	s.collector = s.start()
	_, err := s.executor.Recover(t.Context())
	require.NoError(t, err)
	s.places.move(s.web.URL, s.ssh.Address, "")
	worker, output := s.enqueue().start(t)
	require.NoError(t, worker.Wait(), output)
	s.end()
	require.Equal(t, 3, s.web.count())
	require.NotEmpty(t, said)

	var notes []byte
	require.NoError(t, filepath.WalkDir(s.notes(), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			notes = append(notes, text...)
		}
		return err
	}))
	journal := bytes.Join(s.lines(), []byte("\n"))
	require.Contains(t, string(journal), "systemctl restart {unit}")
	for where, text := range map[string]string{
		"journal": string(journal), "collector": killed + s.collector.Output(), "errors": strings.Join(said, "\n"), "notes": string(notes), "worker": output.String(),
	} {
		for _, secret := range []string{webSecret, apiToken, "CANARY-secret-1", "CANARY-path-1", "CANARY-query-1", "CANARY-body-1", "CANARY-unit-1", "CANARY-input-1", "CANARY-output-1", "CANARY-answer-1", "CANARY-traceparent-1"} {
			for form, spelled := range spellings(secret) {
				require.NotContains(t, text, spelled, "%s as %s in %s", secret, form, where)
			}
		}
		for _, secret := range []string{webSecret, apiToken, "CANARY-secret-1"} {
			sum := sha256.Sum256([]byte(secret))
			require.NotContains(t, text, hex.EncodeToString(sum[:]), "the digest of a bare secret in %s", where)
		}
	}
}

// node runs examples/node/act.mjs.
func (s *stage) node(env ...string) (code int, output string) {
	s.t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		s.t.Skip("node is not installed; its example was not run")
	}
	credential := filepath.Join(s.base, "credential")
	require.NoError(s.t, os.WriteFile(credential, []byte(strings.TrimPrefix(webSecret, "Bearer ")+"\n"), 0o600))
	cmd := exec.CommandContext(s.t.Context(), node, filepath.Join(root, "examples", "node", "act.mjs"))
	cmd.Env = append(append(os.Environ(), "READTRAIL_API=http://"+s.api, "READTRAIL_TOKEN="+apiToken, "TARGET="+s.web.URL, "CREDENTIAL_FILE="+credential, "EXECUTION_ID=run_node"), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(s.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
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
	require.Equal(t, 1, code, output)
	code, output = s.node("ACTION_ID=act_3", "TARGET=http://"+freeAddress(t))
	require.Equal(t, 1, code, output)
	code, output = s.node("ACTION_ID=act_4", "CREDENTIAL_FILE=/nonexistent")
	require.Equal(t, 1, code)
	require.Equal(t, "not sent: credential_unavailable\n", output)
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
