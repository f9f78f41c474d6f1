// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireStrace skips where system calls can't be traced.
func requireStrace(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed; the order of system calls was not checked")
	}
	if err := exec.Command(strace, "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("strace may not trace here; the order of system calls was not checked")
	}
	return strace
}

// TestEachAcknowledgementFollowsAnFsync reads a trace of the collector's system
// calls: kill -9 leaves the page cache alive, so only the calls themselves show
// that a segment, and the directory after a create, was synced before a client
// heard that its record is durable.
func TestEachAcknowledgementFollowsAnFsync(t *testing.T) {
	strace := requireStrace(t)
	h := newHouse(t, "e2e/testdata/audit.yaml")
	// Small segments, so that creates happen between acknowledgements.
	h.variant("max_bytes: 131072", "max_bytes: 8192")
	log := filepath.Join(h.base, "strace.log")
	cfg := h.rigConfig()
	cfg.Command = append([]string{strace, "-f", "-yy", "-qq", "-s", "24", "-e", "trace=openat,write,pwrite64,writev,fsync,fdatasync", "-o", log}, cfg.Command...)
	c := startRig(t, cfg)
	const requests = 40
	for n := range requests {
		status, answer, err := c.Post(t.Context(), "/v1/traces", toolSpan(fmt.Sprintf("%032x", n+1), fmt.Sprintf("%016x", n+1), "call", "{}"))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, answer)
	}
	stopTraced(t, c)
	h.requireVerified()

	f, err := os.Open(log)
	require.NoError(t, err)
	defer f.Close()
	trace := &syncTrace{
		t: t, pending: map[string]string{},
		answered: regexp.MustCompile(`^write\(\d+<TCP:\[` + regexp.QuoteMeta(c.HTTP) + `->[^>]*>, "HTTP/1\.1 200 OK`),
	}
	for s := bufio.NewScanner(f); s.Scan(); {
		trace.line(s.Text())
	}
	require.Equal(t, requests, trace.acknowledged)
	require.Greater(t, trace.creates, 2, "segments were created between acknowledgements")
}

// syncTrace follows one journal through a system call trace.
type syncTrace struct {
	t                                   *testing.T
	unsynced, undurableDir, sinceAnswer bool // written since the last fsync; created since the last sync of the directory; synced since the last answer
	acknowledged, creates               int
	pending                             map[string]string // unfinished call of each thread
	answered                            *regexp.Regexp    // an answer to a sender of telemetry
}

var (
	resumed   = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>(.*)$`)
	startLine = regexp.MustCompile(`^(\d+) +(.*)$`)
	segmentFD = regexp.MustCompile(`^(write|pwrite64|writev)\(\d+<[^>]*\.events>`)
	syncFD    = regexp.MustCompile(`^(fsync|fdatasync)\(\d+<([^>]*)>`)
	created   = regexp.MustCompile(`^openat\([^"]*"[^"]*\.events".*O_CREAT`)
)

func (s *syncTrace) line(text string) {
	if m := resumed.FindStringSubmatch(text); m != nil {
		s.finished(s.pending[m[1]] + m[2])
		return
	}
	m := startLine.FindStringSubmatch(text)
	if m == nil {
		return
	}
	call, unfinished := strings.CutSuffix(m[2], "<unfinished ...>")
	s.started(call)
	if unfinished {
		s.pending[m[1]] = call
		return
	}
	s.finished(call)
}

// started sees a call when it begins: a write counts from there.
func (s *syncTrace) started(call string) {
	switch {
	case segmentFD.MatchString(call):
		require.False(s.t, s.undurableDir, "a segment was written before its directory was synced: %s", call)
		s.unsynced = true
	case created.MatchString(call):
		s.creates++
		s.undurableDir = true
	case s.answered.MatchString(call):
		require.False(s.t, s.unsynced, "acknowledged before the segment was synced")
		require.False(s.t, s.undurableDir, "acknowledged before the directory was synced")
		require.True(s.t, s.sinceAnswer, "acknowledged without a sync of its own")
		s.acknowledged++
		s.sinceAnswer = false
	}
}

// finished sees a call when it returns: a sync counts from there.
func (s *syncTrace) finished(call string) {
	m := syncFD.FindStringSubmatch(call)
	if m == nil || !strings.HasSuffix(strings.TrimSpace(call), "= 0") {
		return
	}
	switch {
	case strings.HasSuffix(m[2], ".events"):
		s.unsynced = false
		s.sinceAnswer = true
	case strings.HasSuffix(m[2], "/reads"):
		s.undurableDir = false
	}
}
