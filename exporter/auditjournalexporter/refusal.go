// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/readtrail/readtrail/internal/carrier"
)

// refusal is why a request cannot be recorded. It is retryable, although no retry
// helps before the configuration is mended: a permanent error makes senders drop
// the evidence.
type refusal struct{ reason, text string }

// Error implements error.
func (r *refusal) Error() string { return r.text }

var (
	errNoRecords = &refusal{"no_records", "no read records came with this data: put the read_record processor in this pipeline, " +
		"with `records: true`, and nothing that drops the context (batch processor, sending_queue, another process) " +
		"between it and the audit_journal exporter"}
	errForeignRecords = &refusal{"foreign_records", "this data carries read ids of records that did not come with it: " +
		"something between the read_record processor and the audit_journal exporter mixes the data of several requests " +
		"(batch processor, sending_queue, another process); remove it from this pipeline"}
)

// refuse counts and reports a request that cannot be recorded.
func (e *journalExporter) refuse(ctx context.Context, r *refusal) error {
	e.telemetry.ExporterAuditJournalRefusals.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", r.reason)))
	e.health.refused(r)
	return r
}

// namesForeignSpans reports whether a span carries a read id that ids does not
// hold: its record went another way.
func namesForeignSpans(td ptrace.Traces, ids map[string]struct{}) bool {
	for _, resource := range td.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				if isForeign(span.Attributes(), ids) {
					return true
				}
			}
		}
	}
	return false
}

// namesForeignLogs is namesForeignSpans for log records.
func namesForeignLogs(ld plog.Logs, ids map[string]struct{}) bool {
	for _, resource := range ld.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, log := range scope.LogRecords().All() {
				if isForeign(log.Attributes(), ids) {
					return true
				}
			}
		}
	}
	return false
}

func isForeign(attributes pcommon.Map, ids map[string]struct{}) bool {
	id, found := attributes.Get(carrier.ReadIDAttribute)
	if !found {
		return false
	}
	_, known := ids[id.AsString()]
	return !known
}
