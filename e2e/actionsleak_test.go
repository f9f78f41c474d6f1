// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
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
	own := filepath.Join(s.notes(), "executor") // beside those of the worker
	require.NoError(t, os.Mkdir(own, 0o700))
	s.executor.Attempts = boundary.Directory(own)
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
