// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter"
	"github.com/readtrail/readtrail/extension/auditjournalextension"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/processor/readrecordprocessor"
	"github.com/readtrail/readtrail/record"
)

// The three components together, through their factories, with a journal on
// disk: what each promises the next one.

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// collector is the audit branch of a collector.
type collector struct {
	t        *testing.T
	dir      string
	registry *journal.Registry
	stop     []func(context.Context) error
	// others are extensions beside the journal.
	others host

	exporter interface {
		consumer.Traces
		component.Component
	}
	logs interface {
		consumer.Logs
		component.Component
	}
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	return newCollectorBeside(t, nil)
}

// newCollectorBeside has more extensions than the journal; they run already.
func newCollectorBeside(t *testing.T, others host) *collector {
	t.Helper()
	c := &collector{t: t, dir: t.TempDir(), registry: &journal.Registry{}, others: others}
	pem, key, err := journal.NewKey(time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.NoError(t, c.registry.Add(key))
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "key.pem"), pem, 0o600))
	c.start()
	return c
}

func (c *collector) start() {
	t := c.t
	extensions := auditjournalextension.NewFactory()
	extensionConfig := extensions.CreateDefaultConfig().(*auditjournalextension.Config)
	extensionConfig.Directory = filepath.Join(c.dir, "journal")
	extensionConfig.SigningKey.File = filepath.Join(c.dir, "key.pem")
	extensionConfig.CollectorID = "collector-1"
	ext, err := extensions.Create(t.Context(), extensiontest.NewNopSettings(extensions.Type()), extensionConfig)
	require.NoError(t, err)
	h := host{component.NewID(extensions.Type()): ext}
	maps.Copy(h, c.others)
	require.NoError(t, ext.Start(t.Context(), h))

	exporters := auditjournalexporter.NewFactory()
	traces, err := exporters.CreateTraces(t.Context(), exportertest.NewNopSettings(exporters.Type()), exporters.CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, traces.Start(t.Context(), h))
	logs, err := exporters.CreateLogs(t.Context(), exportertest.NewNopSettings(exporters.Type()), exporters.CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, logs.Start(t.Context(), h))
	c.exporter, c.logs = traces, logs
	c.stop = []func(context.Context) error{traces.Shutdown, logs.Shutdown, ext.Shutdown}
}

func (c *collector) shutdown() {
	for _, stop := range c.stop {
		require.NoError(c.t, stop(c.t.Context()))
	}
}

// processor returns a read_record processor in front of next.
func (c *collector) processor(records bool, next consumer.Traces) consumer.Traces {
	f := readrecordprocessor.NewFactory()
	cfg := f.CreateDefaultConfig().(*readrecordprocessor.Config)
	cfg.Records = records
	p, err := f.CreateTraces(c.t.Context(), processortest.NewNopSettings(f.Type()), cfg, next)
	require.NoError(c.t, err)
	require.NoError(c.t, p.Start(c.t.Context(), host{}))
	c.stop = append([]func(context.Context) error{p.Shutdown}, c.stop...)
	return p
}

// entries verifies the journal and returns its bodies' kinds and event types.
func (c *collector) entries() (out []string) {
	c.t.Helper()
	sources, err := journal.Open(filepath.Join(c.dir, "journal"))
	require.NoError(c.t, err)
	require.Len(c.t, sources, 1)
	report, err := journal.Verify(c.t.Context(), sources[0], journal.Options{Registry: c.registry})
	require.NoError(c.t, err)
	require.Nil(c.t, report.FirstBad)
	assert.Equal(c.t, []journal.Check{journal.Valid, journal.Valid, journal.Valid},
		[]journal.Check{report.Chain, report.Signature, report.Schema})
	for line, err := range sources[0].Lines() {
		require.NoError(c.t, err)
		entry, err := journal.ParseLine(line.Bytes)
		require.NoError(c.t, err)
		out = append(out, entry.Header.EventType)
	}
	return out
}

func trace() ptrace.Traces {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for id := range byte(2) {
		span := spans.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{7, id})
		span.SetName("execute_tool crm.customer.get")
		span.SetStartTimestamp(1_790_000_000_000_000_000)
		span.SetEndTimestamp(1_790_000_001_000_000_000)
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		span.Attributes().PutStr("gen_ai.tool.name", "crm.customer.get")
		span.Attributes().PutStr("gen_ai.tool.call.arguments", `{"customer_id":"c-1"}`)
	}
	return td
}

func TestReadsAndLineageStandInTheJournalWhenConsumeReturns(t *testing.T) {
	c := newCollector(t)
	p := c.processor(true, c.exporter)
	require.NoError(t, p.ConsumeTraces(t.Context(), trace()))
	assert.Equal(t, []string{record.EventJournalOpened, record.EventReadTool, record.EventReadTool, record.EventLineageSpans}, c.entries(),
		"before any shutdown")
	c.shutdown()
}

func TestRedeliveryLeavesNoSecondRecordAlsoAfterARestart(t *testing.T) {
	c := newCollector(t)
	p := c.processor(true, c.exporter)
	for range 2 {
		require.NoError(t, p.ConsumeTraces(t.Context(), trace()))
	}
	c.shutdown()
	c.start()
	require.NoError(t, c.processor(true, c.exporter).ConsumeTraces(t.Context(), trace()))
	c.shutdown()
	assert.Equal(t, []string{
		record.EventJournalOpened, record.EventReadTool, record.EventReadTool, record.EventLineageSpans, record.EventJournalClosed,
		record.EventJournalResumed, record.EventJournalClosed,
	}, c.entries())
}

func TestTelemetryThatComesWithoutItsRecordsIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		pipeline func(*collector) consumer.Traces
		want     string
	}{
		"without a processor": {func(c *collector) consumer.Traces { return c.exporter }, "put the read_record processor in this pipeline"},
		"behind a processor that strips only": {
			func(c *collector) consumer.Traces { return c.processor(false, c.exporter) }, "with `records: true`",
		},
		"behind something that drops the context, as a batch processor does": {
			func(c *collector) consumer.Traces {
				dropping, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
					return c.exporter.ConsumeTraces(context.Background(), td)
				})
				require.NoError(t, err)
				return c.processor(true, dropping)
			}, "nothing that drops the context",
		},
		"with the context of another request": {
			func(c *collector) consumer.Traces {
				var first *carrier.Batch
				mixing, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
					if first == nil {
						first = carrier.FromContext(ctx)
						return nil
					}
					return c.exporter.ConsumeTraces(carrier.NewContext(ctx, first), td)
				})
				require.NoError(t, err)
				p := c.processor(true, mixing)
				require.NoError(t, p.ConsumeTraces(t.Context(), ptrace.NewTraces()))
				return p
			}, "mixes the data of several requests",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			err := test.pipeline(c).ConsumeTraces(t.Context(), trace())
			require.ErrorContains(t, err, test.want)
			assert.False(t, consumererror.IsPermanent(err), "a permanent error makes senders drop the evidence")
			c.shutdown()
			assert.Equal(t, []string{record.EventJournalOpened, record.EventJournalClosed}, c.entries())
		})
	}
}

func TestReadsInLogRecordsStandInTheSameJournal(t *testing.T) {
	c := newCollector(t)
	f := readrecordprocessor.NewFactory()
	p, err := f.CreateLogs(t.Context(), processortest.NewNopSettings(f.Type()), f.CreateDefaultConfig(), c.logs)
	require.NoError(t, err)
	ld := plog.NewLogs()
	log := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	log.SetTimestamp(1_790_000_000_000_000_000)
	log.SetEventName("gen_ai.memory.operation.details")
	log.Attributes().PutStr("gen_ai.operation.name", "search_memory")
	log.Attributes().PutStr("gen_ai.memory.store.id", "crm-memory")
	require.NoError(t, p.ConsumeLogs(t.Context(), ld))
	require.NoError(t, p.Shutdown(t.Context()))
	c.shutdown()
	assert.Equal(t, []string{record.EventJournalOpened, record.EventReadMemory, record.EventJournalClosed}, c.entries())
}
