// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadatatest"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

func TestWhatIsOnDiskIsCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	cfg, _ := configFor(t, t.TempDir())
	cfg.Scope.Routes = cfg.Scope.Routes[:1]
	j := newExtension(t, cfg, tel)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))

	first := read(t, 0, nil)
	lineage, err := record.NewLineageDraft(&record.Lineage{Header: record.Header{
		EventType:   record.EventLineageSpans,
		Correlation: record.Correlation{ExecutionID: "run-1", TraceID: "00000000000000000000000000000001"},
	}}, []record.Span{{SpanID: "0000000000000001", Kind: "internal", Class: "tool", Status: record.StatusOK}})
	require.NoError(t, err)
	_, err = j.Append(t.Context(), []carrier.Item{first, read(t, 1, nil), read(t, 2, treasury), {Draft: lineage}})
	require.NoError(t, err)
	_, err = j.Append(t.Context(), []carrier.Item{first})
	require.NoError(t, err)
	require.NoError(t, j.Shutdown(t.Context())) // what is counted after the answer is counted now

	base, routed := attribute.String("journal", "bank/kyc_10y"), attribute.String("journal", "bank/treasury_7y")
	point := func(n int64, attributes ...attribute.KeyValue) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attributes...)}
	}
	ignore := []metricdatatest.Option{metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars()}
	metadatatest.AssertEqualExtensionAuditJournalEntries(t, tel, []metricdata.DataPoint[int64]{
		point(2, base, attribute.String("kind", "read_record")),
		point(1, base, attribute.String("kind", "lineage_record")),
		point(1, routed, attribute.String("kind", "read_record")),
	}, ignore...)
	metadatatest.AssertEqualExtensionAuditJournalRepeats(t, tel, []metricdata.DataPoint[int64]{point(1, base)}, ignore...)
	metadatatest.AssertEqualExtensionAuditJournalLastSequence(t, tel,
		[]metricdata.DataPoint[int64]{point(5, base), point(3, routed)}, ignore...)
	metadatatest.AssertEqualExtensionAuditJournalDegraded(t, tel,
		[]metricdata.DataPoint[int64]{point(0, base), point(0, routed)}, ignore...)
	for _, name := range []string{
		"otelcol_extension_audit_journal_groups", "otelcol_extension_audit_journal_bytes", "otelcol_extension_audit_journal_commit_duration",
	} {
		_, err := tel.GetMetric(name)
		assert.NoError(t, err)
	}
}

// Sinks hold the journal's own entries too, and are compared with this metric.
func TestTheLastSequenceIsThatOfTheJournalAlsoWithoutTraffic(t *testing.T) {
	cfg, registry := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	cfg.Checkpoints = configoptional.Some(CheckpointsConfig{
		Entries: 1, Interval: time.Hour, Timeout: time.Minute,
		Sinks: SinksConfig{Directory: map[string]DirectorySinkConfig{"offsite": {Path: t.TempDir()}}},
	})
	for range 2 {
		tel := componenttest.NewTelemetry()
		ctx := context.WithoutCancel(t.Context())
		t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
		j := newExtension(t, cfg, tel)
		require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, j.Shutdown(t.Context()))
		last := verify(t, cfg.Directory, registry).LastSequence
		metadatatest.AssertEqualExtensionAuditJournalLastSequence(t, tel,
			[]metricdata.DataPoint[int64]{{Value: int64(last), Attributes: attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))}},
			metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	}
}

func TestConflictsAreCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { assert.NoError(t, tel.Shutdown(ctx)) })
	cfg, _ := configFor(t, t.TempDir())
	cfg.Scope.Routes = nil
	j := newExtension(t, cfg, tel)
	require.NoError(t, j.Start(t.Context(), componenttest.NewNopHost()))
	header := record.Header{EventType: record.EventReadTool}
	for _, tool := range []string{"a", "b"} {
		draft, err := record.NewReadDraft(&record.Read{Header: header, ReadID: "read_1", ExecutionID: "run-1", Source: record.Source{ToolID: tool}}, true)
		require.NoError(t, err)
		_, err = j.Append(t.Context(), []carrier.Item{{Draft: draft}})
		require.NoError(t, err)
	}
	require.NoError(t, j.Shutdown(t.Context()))
	metadatatest.AssertEqualExtensionAuditJournalConflicts(t, tel,
		[]metricdata.DataPoint[int64]{{Value: 1, Attributes: attribute.NewSet(attribute.String("journal", "bank/kyc_10y"))}},
		metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}
