// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/rig"
)

func startRig(t *testing.T, cfg rig.Config) *rig.Collector {
	t.Helper()
	c, err := rig.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(c.Kill)
	return c
}

// stopTraced ends a collector that runs under a tracer, which passes no signal
// on.
func stopTraced(t *testing.T, c *rig.Collector) {
	t.Helper()
	require.NoError(t, c.StopGroup(), c.Output())
}

// sender numbers tool calls and remembers which were acknowledged.
type sender struct {
	t            *testing.T
	c            *rig.Collector
	n            int
	acknowledged []string
	// arguments are those of the n-th call; if it is nil, all are empty.
	arguments func(n int) string
}

// send sends one call and returns the HTTP status.
func (s *sender) send() int {
	s.t.Helper()
	s.n++
	call := fmt.Sprintf("call_%d", s.n)
	arguments := "{}"
	if s.arguments != nil {
		arguments = s.arguments(s.n)
	}
	status, answer, err := s.c.Post(s.t.Context(), "/v1/traces", toolSpan(fmt.Sprintf("%032x", s.n), fmt.Sprintf("%016x", s.n), call, arguments))
	require.NoError(s.t, err)
	if status == http.StatusOK {
		s.acknowledged = append(s.acknowledged, call)
	} else {
		require.Equal(s.t, http.StatusServiceUnavailable, status, "a full disk is retryable: %s", answer)
	}
	return status
}

// until sends until an answer has the wanted status, within a bound.
func (s *sender) until(status int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for s.send() != status {
		require.NoError(s.t, ctx.Err(), "no answer %d came", status)
	}
}

// requireHealth waits until the health check answers with the wanted verdict.
func requireHealth(t *testing.T, c *rig.Collector, healthy bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, _, err := c.Status(t.Context())
		return err == nil && (status == http.StatusOK) == healthy
	}, time.Minute, 50*time.Millisecond, "health never showed healthy=%v", healthy)
}

// requireDegraded demands the value of the metric that says whether the journal
// can be written.
func requireDegraded(t *testing.T, c *rig.Collector, value string) {
	t.Helper()
	text, err := c.MetricsText(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `(?m)^otelcol_extension_audit_journal_degraded\S*(\{.*\})? `+value+`$`, text)
}

// requireAllThere demands each acknowledged call exactly once in a valid chain.
func (h *house) requireAllThere(s *sender) {
	h.t.Helper()
	h.requireVerified()
	times := map[string]int{}
	for _, r := range h.reads() {
		times[r.ToolCallID]++
	}
	for _, call := range s.acknowledged {
		assert.Equal(h.t, 1, times[call], call)
	}
}

// TestAFullDiskLosesNothingAndServiceResumes fills a small file system below
// the journal and makes room again.
func TestAFullDiskLosesNothingAndServiceResumes(t *testing.T) {
	h := newHouse(t, "e2e/testdata/audit.yaml")
	require.NoError(t, os.MkdirAll(h.journal, 0o700))
	if err := syscall.Mount("tmpfs", h.journal, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("no small file system can be mounted here (%v); the full disk was not tested", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(h.journal, 0) })
	ballast := filepath.Join(h.journal, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o600))

	s := &sender{t: t, c: h.start()}
	t.Cleanup(s.c.Kill)
	s.until(http.StatusOK)
	s.until(http.StatusServiceUnavailable)
	requireHealth(t, s.c, false)
	requireDegraded(t, s.c, "1")
	require.Equal(t, http.StatusServiceUnavailable, s.send())
	require.NoError(t, os.Remove(ballast))
	s.until(http.StatusOK)
	requireHealth(t, s.c, true)
	requireDegraded(t, s.c, "0")
	require.NoError(t, s.c.Stop())
	h.requireAllThere(s)
}

// TestAFailedFsyncAcknowledgesNothing makes some fsyncs of the collector fail
// with EIO, as a broken disk does.
func TestAFailedFsyncAcknowledgesNothing(t *testing.T) {
	strace := requireStrace(t)
	h := newHouse(t, "e2e/testdata/audit.yaml")
	segment := filepath.Join(h.journal, "default", "default", "reads", "00000000000000000001.events")
	cfg := h.rigConfig()
	cfg.Command = append([]string{
		strace, "-f", "-qq", "-o", os.DevNull, "-P", segment,
		"-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=5..8",
	}, cfg.Command...)
	s := &sender{t: t, c: startRig(t, cfg)}
	s.until(http.StatusServiceUnavailable)
	s.until(http.StatusOK)
	requireHealth(t, s.c, true)
	// The tracer counts calls by thread: the next fsync may fail on another one,
	// and closing with it. So this collector is killed and a sound one goes on.
	s.c.Kill()
	require.NoError(t, h.start().Stop())
	h.requireAllThere(s)
}
