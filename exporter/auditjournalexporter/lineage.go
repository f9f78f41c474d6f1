// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/record"
)

// withLineage returns the items and, behind them, the lineage records of the
// spans. It leaves items as it is, since the batch is shared with other
// exporters.
func (e *journalExporter) withLineage(ctx context.Context, items []carrier.Item, lineages []carrier.Lineage) []carrier.Item {
	out := slices.Clone(items)
	for i := range lineages {
		for chunk := range slices.Chunk(lineages[i].Spans, record.MaxLineageSpans) {
			out = e.appendLineage(ctx, out, &lineages[i], chunk)
		}
	}
	return out
}

// appendLineage appends the record of spans. If they do not fit into one entry
// each half gets its own; a single span that does not fit leaves a record that
// says so, and the others are recorded.
func (e *journalExporter) appendLineage(ctx context.Context, items []carrier.Item, l *carrier.Lineage, spans []record.Span) []carrier.Item {
	header := l.Header
	header.EventType = record.EventLineageSpans
	header.OccurredAt = latestEnd(spans)
	draft, err := record.NewLineageDraft(&record.Lineage{Header: header}, spans)
	switch {
	case err == nil:
		e.telemetry.ExporterAuditJournalLineageSpans.Add(ctx, int64(len(spans)))
		return append(items, carrier.Item{Draft: draft, Resource: l.Resource})
	case len(spans) > 1:
		half := len(spans) / 2
		return e.appendLineage(ctx, e.appendLineage(ctx, items, l, spans[:half]), l, spans[half:])
	default:
		return e.appendUnrecordable(ctx, items, l, spans[0], err)
	}
}

func (e *journalExporter) appendUnrecordable(ctx context.Context, items []carrier.Item, l *carrier.Lineage, span record.Span, cause error) []carrier.Item {
	reason := record.ReasonOf(cause)
	e.telemetry.ExporterAuditJournalLineageUnrecordable.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", reason)))
	header := l.Header
	header.Correlation.SpanID = span.SpanID
	draft, err := record.NewUnrecordableDraft(header, record.Unrecordable{
		Reason: reason,
		ItemID: lineageItemID(l.Header.Correlation.TraceID, span.SpanID),
		Item:   record.SignalSpan,
	})
	if err != nil {
		// Only a header that cannot be written either leads here: the count
		// above is what remains of the span.
		return items
	}
	return append(items, carrier.Item{Draft: draft, Resource: l.Resource})
}

// lineageItemID derives an id for a skeleton that cannot be recorded. It
// differs from that of the span's read, which may well be recorded.
func lineageItemID(traceID, spanID string) string {
	return record.ReadIDOfSpan([16]byte{}, [8]byte{}, []byte("lineage"), []byte(traceID), []byte(spanID))
}

// latestEnd returns the latest end of the spans, absent if none has one.
func latestEnd(spans []record.Span) record.Time {
	var latest record.Time
	for i := range spans {
		if end := spans[i].EndedAt; end.Std().After(latest.Std()) {
			latest = end
		}
	}
	return latest
}
