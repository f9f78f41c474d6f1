// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// host keeps the statuses that are reported to it.
type host struct {
	mu     sync.Mutex
	events []*componentstatus.Event
}

func (*host) GetExtensions() map[component.ID]component.Component { return nil }

func (h *host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *host) statuses() []componentstatus.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []componentstatus.Status
	for _, e := range h.events {
		out = append(out, e.Status())
	}
	return out
}

// causes are the errors of the statuses, "" for one without.
func (h *host) causes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, e := range h.events {
		if e.Err() == nil {
			out = append(out, "")
		} else {
			out = append(out, e.Err().Error())
		}
	}
	return out
}

// newKey writes a signing key and returns its path and the registry for it.
func newKey(t testing.TB) (path string, registry *journal.Registry) {
	t.Helper()
	pem, key, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "signing-key.pem")
	require.NoError(t, os.WriteFile(path, pem, 0o600))
	registry = &journal.Registry{}
	require.NoError(t, registry.Add(key))
	return path, registry
}

func configFor(t testing.TB, directory string) (*Config, *journal.Registry) {
	t.Helper()
	path, registry := newKey(t)
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = directory
	cfg.SigningKey.File = path
	cfg.CollectorID = "collector-1"
	cfg.Scope = *bank()
	return cfg, registry
}

func newExtension(t testing.TB, cfg *Config, tel *componenttest.Telemetry) *journals {
	t.Helper()
	set := extensiontest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	if tel != nil {
		set.TelemetrySettings = tel.NewTelemetrySettings()
	}
	ext, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	return ext.(*journals)
}

// start starts the extension and shuts it down after the test.
func start(t testing.TB, j *journals, h component.Host) {
	t.Helper()
	require.NoError(t, j.Start(t.Context(), h))
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, j.Shutdown(ctx)) })
}

func read(t testing.TB, n int, resource carrier.Resource) carrier.Item {
	t.Helper()
	id := record.ReadIDOfSpan([16]byte{1}, [8]byte{byte(n >> 8), byte(n)})
	draft, err := record.NewReadDraft(&record.Read{
		Header: record.Header{
			EventType:   record.EventReadTool,
			OccurredAt:  record.NewTime(time.Unix(1_790_000_000, int64(n))),
			Correlation: record.Correlation{ExecutionID: "run-1", TraceID: fmt.Sprintf("%032x", 1), SpanID: fmt.Sprintf("%016x", n+1)},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
		},
		ReadID:      id,
		ExecutionID: "run-1",
		Source:      record.Source{Kind: record.SourceAPI, ToolID: "crm.customer.get"},
		Response:    record.Response{Status: record.StatusOK},
		Retention:   record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:     record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}, false)
	require.NoError(t, err)
	return carrier.Item{Draft: draft, Resource: resource}
}

// verify verifies the only journal in a directory.
func verify(t testing.TB, directory string, registry *journal.Registry) *journal.Report {
	t.Helper()
	sources, err := journal.Open(directory)
	require.NoError(t, err)
	require.Len(t, sources, 1)
	report, err := journal.Verify(context.WithoutCancel(t.Context()), sources[0], journal.Options{Registry: registry})
	require.NoError(t, err)
	require.Nil(t, report.FirstBad)
	require.Zero(t, report.ExitCode())
	return report
}
