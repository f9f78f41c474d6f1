// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// instruments are the metrics of one journal. They are about the collector and
// not about a request, so that they take no context of one.
type instruments struct {
	telemetry *metadata.TelemetryBuilder
	journal   attribute.KeyValue
	set       metric.MeasurementOption
}

func newInstruments(telemetry *metadata.TelemetryBuilder, name journalName) *instruments {
	key := attribute.String("journal", name.String())
	return &instruments{telemetry: telemetry, journal: key, set: metric.WithAttributeSet(attribute.NewSet(key))}
}

// acknowledged counts the records of one append by kind, repeats apart.
func (i *instruments) acknowledged(drafts []*record.Draft, receipts []journal.Receipt) {
	kinds := make(map[record.Kind]int64, 1)
	for k, r := range receipts {
		if !r.Repeat {
			kinds[drafts[k].Kind()]++
		}
	}
	ctx := context.Background()
	for kind, n := range kinds {
		i.telemetry.ExtensionAuditJournalEntries.Add(ctx, n, metric.WithAttributes(i.journal, attribute.String("kind", string(kind))))
	}
}

// durable says how far the journal goes, with the entries that it writes about itself:
// what sinks and archives hold is counted in the same sequence.
func (i *instruments) durable(first uint64, hashes [][sha256.Size]byte) {
	i.telemetry.ExtensionAuditJournalLastSequence.Record(context.Background(), int64(first)+int64(len(hashes))-1, i.set)
}

func (i *instruments) failed() {
	i.telemetry.ExtensionAuditJournalFailures.Add(context.Background(), 1, i.set)
}

func (i *instruments) rotated() {
	i.telemetry.ExtensionAuditJournalKeyRotations.Add(context.Background(), 1, i.set)
}

func (i *instruments) degraded(value int64) {
	i.telemetry.ExtensionAuditJournalDegraded.Record(context.Background(), value, i.set)
}

// archived says how far the archive of the journal is.
func (i *instruments) archived(archived, waiting int, oldest uint64, waited time.Duration) {
	ctx := context.Background()
	i.telemetry.ExtensionAuditJournalArchiveSegments.Record(ctx, int64(archived), i.set)
	i.telemetry.ExtensionAuditJournalArchiveWaiting.Record(ctx, int64(waiting), i.set)
	i.telemetry.ExtensionAuditJournalArchiveOldestWaiting.Record(ctx, int64(oldest), i.set)
	i.telemetry.ExtensionAuditJournalArchiveWaitingTime.Record(ctx, waited.Seconds(), i.set)
}

func (i *instruments) archiveFailed() {
	i.telemetry.ExtensionAuditJournalArchiveFailures.Add(context.Background(), 1, i.set)
}

// observer turns what a ledger tells into metrics, status and log lines.
func (j *journals) observer(name journalName, i *instruments) ledger.Observer {
	ctx := context.Background()
	logger := j.logger.With(zap.Stringer("journal", name))
	var said repetition
	return ledger.Observer{
		Durable: i.durable,
		Committed: func(_ int, bytes int64, took time.Duration) {
			j.telemetry.ExtensionAuditJournalGroups.Add(ctx, 1, i.set)
			j.telemetry.ExtensionAuditJournalBytes.Add(ctx, bytes, i.set)
			j.telemetry.ExtensionAuditJournalCommitDuration.Record(ctx, took.Seconds(), i.set)
		},
		Repeats:   func(n int) { j.telemetry.ExtensionAuditJournalRepeats.Add(ctx, int64(n), i.set) },
		Conflicts: func(n int) { j.telemetry.ExtensionAuditJournalConflicts.Add(ctx, int64(n), i.set) },
		Failed: func(err error) {
			j.telemetry.ExtensionAuditJournalTroubles.Add(ctx, 1, i.set)
			switch {
			case said.again(err, time.Now()):
			case errors.Is(err, ledger.ErrUnavailable):
				logger.Error("Journal cannot be written", zap.Error(err))
			default:
				logger.Warn("Journal has trouble and goes on", zap.Error(err))
			}
		},
		State: func(err error) {
			if err == nil {
				i.degraded(0)
				said = repetition{}
				logger.Info("Journal can be written again")
			} else {
				i.degraded(1) // Failed logs why
			}
			j.health.set(name, err)
		},
	}
}

// repetition says when the same trouble is worth another log line.
type repetition struct {
	text string
	at   time.Time
}

// repeatInterval is how long the same trouble is not logged again.
const repeatInterval = time.Minute

// again reports whether an error was logged just now; if not, it is noted.
func (r *repetition) again(err error, now time.Time) bool {
	text := err.Error()
	if text == r.text && now.Sub(r.at) < repeatInterval {
		return true
	}
	r.text, r.at = text, now
	return false
}
