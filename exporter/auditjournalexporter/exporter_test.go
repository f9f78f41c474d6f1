// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadata"
	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

// rig is an exporter of both signals beside a journal in memory.
type rig struct {
	traces  exporter.Traces
	logs    exporter.Logs
	journal *memoryJournal
	host    *host
	tel     *componenttest.Telemetry
	logged  *observer.ObservedLogs
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{journal: &memoryJournal{}, tel: componenttest.NewTelemetry()}
	r.host = hostWith(r.journal)
	cfg := createDefaultConfig().(*Config)
	if change != nil {
		change(cfg)
	}
	set := exportertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = r.tel.NewTelemetrySettings()
	core, logged := observer.New(zap.DebugLevel)
	set.Logger, r.logged = zap.New(core), logged
	var err error
	r.traces, err = NewFactory().CreateTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	r.logs, err = NewFactory().CreateLogs(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, r.traces.Start(t.Context(), r.host))
	require.NoError(t, r.logs.Start(t.Context(), r.host))
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		assert.NoError(t, r.traces.Shutdown(ctx))
		assert.NoError(t, r.logs.Shutdown(ctx))
		assert.NoError(t, r.tel.Shutdown(ctx))
	})
	return r
}

func item(t *testing.T, readID string) carrier.Item {
	t.Helper()
	draft, err := record.NewReadDraft(&record.Read{
		Header:      record.Header{EventType: record.EventReadTool},
		ReadID:      readID,
		ExecutionID: "run-1",
		Source:      record.Source{Kind: record.SourceAPI},
		Response:    record.Response{Status: record.StatusOK},
	}, false)
	require.NoError(t, err)
	return carrier.Item{Draft: draft}
}

func spanWith(readID string) ptrace.Traces {
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	if readID != "" {
		span.Attributes().PutStr(carrier.ReadIDAttribute, readID)
	}
	td.MarkReadOnly()
	return td
}

func logWith(readID string) plog.Logs {
	ld := plog.NewLogs()
	log := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	if readID != "" {
		log.Attributes().PutStr(carrier.ReadIDAttribute, readID)
	}
	ld.MarkReadOnly()
	return ld
}

func TestRecordsOfTheRequestGoToTheJournalInOneAppend(t *testing.T) {
	r := newRig(t, nil)
	batch := &carrier.Batch{
		Items:   []carrier.Item{item(t, "read_a"), item(t, "read_b")},
		ReadIDs: map[string]struct{}{"read_a": {}, "read_b": {}},
	}
	ctx := carrier.NewContext(t.Context(), batch)
	require.NoError(t, r.traces.ConsumeTraces(ctx, spanWith("read_a")))
	require.NoError(t, r.logs.ConsumeLogs(ctx, logWith("read_b")))
	assert.Equal(t, [][]carrier.Item{batch.Items, batch.Items}, r.journal.appends)
	assert.Empty(t, r.host.statuses())
}

func TestRequestWithoutReadsIsAccepted(t *testing.T) {
	r := newRig(t, nil)
	ctx := carrier.NewContext(t.Context(), &carrier.Batch{})
	require.NoError(t, r.traces.ConsumeTraces(ctx, spanWith("")))
	assert.Empty(t, r.journal.appends)
}

func TestTelemetryWithoutItsRecordsIsRefusedAndMayBeRetried(t *testing.T) {
	other := carrier.NewContext(t.Context(), &carrier.Batch{ReadIDs: map[string]struct{}{"read_a": {}}})
	for name, test := range map[string]struct {
		consume func(*rig) error
		want    string
		reason  string
	}{
		"spans without a batch":       {func(r *rig) error { return r.traces.ConsumeTraces(t.Context(), spanWith("read_b")) }, "no read records came with this data", "no_records"},
		"plain spans without a batch": {func(r *rig) error { return r.traces.ConsumeTraces(t.Context(), spanWith("")) }, "put the read_record processor in this pipeline", "no_records"},
		"logs without a batch":        {func(r *rig) error { return r.logs.ConsumeLogs(t.Context(), logWith("read_b")) }, "batch processor, sending_queue, another process", "no_records"},
		"spans of another batch":      {func(r *rig) error { return r.traces.ConsumeTraces(other, spanWith("read_b")) }, "records that did not come with it", "foreign_records"},
		"logs of another batch":       {func(r *rig) error { return r.logs.ConsumeLogs(other, logWith("read_b")) }, "records that did not come with it", "foreign_records"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			err := test.consume(r)
			require.ErrorContains(t, err, test.want)
			assert.False(t, consumererror.IsPermanent(err))
			assert.NotContains(t, err.Error(), "read_b", "an error must not contain what a client sent")
			assert.Empty(t, r.journal.appends)
			metadatatest.AssertEqualExporterAuditJournalRefusals(t, r.tel,
				[]metricdata.DataPoint[int64]{{Value: 1, Attributes: attribute.NewSet(attribute.String("reason", test.reason))}},
				metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		})
	}
}

func TestStatusFollowsRefusalsOnChangeOnly(t *testing.T) {
	r := newRig(t, nil)
	good := carrier.NewContext(t.Context(), &carrier.Batch{})
	require.NoError(t, r.traces.ConsumeTraces(good, spanWith("")))
	require.Error(t, r.traces.ConsumeTraces(t.Context(), spanWith("")))
	require.Error(t, r.traces.ConsumeTraces(t.Context(), spanWith("")))
	require.NoError(t, r.traces.ConsumeTraces(good, spanWith("")))
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, r.host.statuses(),
		"another pipeline may be the one that is right")
}

func TestStatusIsOKAgainWhenNothingWasRefusedForAWhile(t *testing.T) {
	host := hostWith(nil)
	now := time.Unix(1, 0)
	h := health{now: func() time.Time { return now }, host: host}
	h.accepted()
	h.refused(errNoRecords)
	now = now.Add(calm - 1)
	h.accepted()
	now = now.Add(1)
	h.accepted()
	h.accepted()
	assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, host.statuses())
}

func TestErrorOfTheJournalIsTheAnswer(t *testing.T) {
	r := newRig(t, nil)
	r.journal.fail = errors.New("disk is full")
	ctx := carrier.NewContext(t.Context(), &carrier.Batch{Items: []carrier.Item{item(t, "read_a")}})
	err := r.traces.ConsumeTraces(ctx, spanWith(""))
	require.ErrorIs(t, err, r.journal.fail)
	assert.False(t, consumererror.IsPermanent(err))
}
