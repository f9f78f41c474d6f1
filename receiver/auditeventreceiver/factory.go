// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditeventreceiver

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/receiver/auditeventreceiver/internal/metadata"
)

// Defaults of the configuration. What waits for the journal is bounded by
// defaultJournalTimeout, so that an answer still fits into defaultWriteTimeout.
const (
	defaultEndpoint           = "localhost:4319"
	defaultMaxBody            = 4 << 20
	defaultReadTimeout        = 15 * time.Second
	defaultReadHeaderTimeout  = 5 * time.Second
	defaultWriteTimeout       = time.Minute
	defaultConcurrentRequests = 512
	defaultWaitingRequests    = 256
	defaultProvenanceWait     = 10 * time.Second
	defaultBytesInFlight      = 64 << 20
	defaultRecords            = 1000
	defaultJournalTimeout     = 30 * time.Second
	defaultClockTolerance     = time.Second
	defaultRetryAfter         = time.Second
	defaultDeadline           = 10 * time.Minute
	defaultLookback           = 7 * 24 * time.Hour
	defaultMaxPending         = 10_000
)

var defaultJournal = component.MustNewID("audit_journal")

// NewFactory creates the factory of the audit_event receiver.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(metadata.Type, createDefaultConfig, receiver.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config {
	http := confighttp.NewDefaultServerConfig()
	http.NetAddr.Endpoint = defaultEndpoint
	http.MaxRequestBodySize = defaultMaxBody
	http.ReadTimeout = defaultReadTimeout
	http.ReadHeaderTimeout = defaultReadHeaderTimeout
	http.WriteTimeout = defaultWriteTimeout
	http.CompressionAlgorithms = []string{"", "gzip"}
	return &Config{
		Journal: defaultJournal,
		HTTP:    http,
		Audit:   AuditConfig{Unsigned: string(auditlog.Accept), Unverified: string(auditlog.Pending), ClockTolerance: defaultClockTolerance},

		FieldProvenance: provenanceReport,
		ProvenanceWait:  defaultProvenanceWait,
		Claims:          claimsMark,
		Limits: LimitsConfig{
			ConcurrentRequests: defaultConcurrentRequests,
			WaitingRequests:    defaultWaitingRequests,
			BytesInFlight:      defaultBytesInFlight,
			RecordsPerRequest:  defaultRecords,
			JournalTimeout:     defaultJournalTimeout,
			RetryAfter:         defaultRetryAfter,
		},
		Assembly: AssemblyConfig{Deadline: defaultDeadline, Lookback: defaultLookback, MaxPending: defaultMaxPending},
	}
}

// createLogs makes the receiver. A collector runs a receiver only in a pipeline; this
// one gives the pipeline nothing, since an answer that comes back through it has no
// room for a receipt (ADR 0028).
func createLogs(_ context.Context, set receiver.Settings, cfg component.Config, _ consumer.Logs) (receiver.Logs, error) {
	return newReceiver(set, cfg.(*Config))
}
