// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter"
	"github.com/readtrail/readtrail/extension/auditjournalextension"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
)

// collector is the audit branch of a collector in this process, so that a
// command is tested on what telemetry leaves behind.
type collector struct {
	t    *testing.T
	dir  string
	next consumer.Traces
	logs consumer.Logs
	stop []func(context.Context) error
}

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, dir: t.TempDir()}
	pem, _, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "key.pem"), pem, 0o600))
	c.start()
	return c
}

// start begins to record. The services crm and stranger have journals of their
// own, that of stranger in another organization.
func (c *collector) start() {
	t := c.t
	extensions := auditjournalextension.NewFactory()
	config := extensions.CreateDefaultConfig().(*auditjournalextension.Config)
	config.Directory = c.root()
	config.SigningKey.File = filepath.Join(c.dir, "key.pem")
	config.CollectorID = "collector-1"
	config.Scope.Routes = []auditjournalextension.RouteConfig{
		{Attribute: "service.name", Value: "crm", RetentionClass: "crm"},
		{Attribute: "service.name", Value: "stranger", OrganizationRef: "stranger"},
	}
	ext, err := extensions.Create(t.Context(), extensiontest.NewNopSettings(extensions.Type()), config)
	require.NoError(t, err)
	h := host{component.NewID(extensions.Type()): ext}
	require.NoError(t, ext.Start(t.Context(), h))
	exporters := auditjournalexporter.NewFactory()
	exp, err := exporters.CreateTraces(t.Context(), exportertest.NewNopSettings(exporters.Type()), exporters.CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, exp.Start(t.Context(), h))
	processors := readrecordprocessor.NewFactory()
	p, err := processors.CreateTraces(t.Context(), processortest.NewNopSettings(processors.Type()), processors.CreateDefaultConfig(), exp)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), h))
	c.next, c.stop = p, []func(context.Context) error{p.Shutdown, exp.Shutdown, ext.Shutdown}
	logExp, err := exporters.CreateLogs(t.Context(), exportertest.NewNopSettings(exporters.Type()), exporters.CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, logExp.Start(t.Context(), h))
	logs, err := processors.CreateLogs(t.Context(), processortest.NewNopSettings(processors.Type()), processors.CreateDefaultConfig(), logExp)
	require.NoError(t, err)
	require.NoError(t, logs.Start(t.Context(), h))
	c.logs, c.stop = logs, append([]func(context.Context) error{logs.Shutdown, logExp.Shutdown}, c.stop...)
}

func (c *collector) shutdown() {
	for _, stop := range c.stop {
		require.NoError(c.t, stop(c.t.Context()))
	}
}

func (c *collector) restart() {
	c.shutdown()
	c.start()
}

func (c *collector) root() string { return filepath.Join(c.dir, "journal") }

// replay sends what a library emitted, each request as it was.
func (c *collector) replay(path string) {
	c.t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(c.t, err)
	for line := range bytes.Lines(data) {
		if strings.HasSuffix(path, ".logs.jsonl") {
			logs, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
			require.NoError(c.t, err)
			require.NoError(c.t, c.logs.ConsumeLogs(c.t.Context(), logs))
			continue
		}
		traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		require.NoError(c.t, err)
		require.NoError(c.t, c.next.ConsumeTraces(c.t.Context(), traces))
	}
}

// sent is a span in the form that tests write.
type sent struct {
	service, scope, name string
	trace, span, parent  byte
	kind                 ptrace.SpanKind
	// minutes says when the span began.
	minutes int
	attrs   map[string]any
	link    [2]byte // trace and span
}

// send sends each span as a request of its own.
func (c *collector) send(spans ...sent) {
	c.t.Helper()
	for _, s := range spans {
		c.sendTogether(s)
	}
}

// sendTogether sends spans as one request.
func (c *collector) sendTogether(spans ...sent) {
	c.t.Helper()
	td := ptrace.NewTraces()
	var rs ptrace.ResourceSpans
	for i, s := range spans {
		if i == 0 || s.service != spans[i-1].service {
			rs = td.ResourceSpans().AppendEmpty()
		}
		rs.Resource().Attributes().PutStr("service.name", s.service)
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(s.scope)
		span := ss.Spans().AppendEmpty()
		span.SetName(s.name)
		span.SetKind(s.kind)
		span.SetTraceID(pcommon.TraceID{1, 15: s.trace})
		span.SetSpanID(pcommon.SpanID{1, 7: s.span})
		if s.parent > 0 {
			span.SetParentSpanID(pcommon.SpanID{1, 7: s.parent})
		}
		if s.link != [2]byte{} {
			link := span.Links().AppendEmpty()
			link.SetTraceID(pcommon.TraceID{1, 15: s.link[0]})
			link.SetSpanID(pcommon.SpanID{1, 7: s.link[1]})
		}
		begin := time.Date(2026, 10, 9, 9, s.minutes, 0, 0, time.UTC)
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(begin))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(begin.Add(time.Second)))
		require.NoError(c.t, span.Attributes().FromRaw(s.attrs))
	}
	require.NoError(c.t, c.next.ConsumeTraces(c.t.Context(), td))
}
