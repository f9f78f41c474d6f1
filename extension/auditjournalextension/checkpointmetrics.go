// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/journal"
)

func (i *instruments) checkpointed(c journal.Checkpoint) {
	ctx := context.Background()
	i.telemetry.ExtensionAuditJournalCheckpoints.Add(ctx, 1, i.set)
	i.telemetry.ExtensionAuditJournalCheckpointSize.Record(ctx, int64(c.Size), i.set)
}

func (i *instruments) checkpointFailed() {
	i.telemetry.ExtensionAuditJournalCheckpointTroubles.Add(context.Background(), 1, i.set)
}

// checkpointsStuck says whether checkpoints of the journal can be made.
func (i *instruments) checkpointsStuck(stuck bool) {
	value := int64(0)
	if stuck {
		value = 1
	}
	i.telemetry.ExtensionAuditJournalCheckpointDegraded.Record(context.Background(), value, i.set)
}

// sinkTook counts how a sink did with a checkpoint.
func (i *instruments) sinkTook(sink string, size uint64, err error) {
	ctx, at := context.Background(), attribute.String("sink", sink)
	set := metric.WithAttributes(i.journal, at)
	if err != nil {
		reason := attribute.String("reason", string(checkpoint.ReasonOf(err)))
		i.telemetry.ExtensionAuditJournalCheckpointFailures.Add(ctx, 1, metric.WithAttributes(i.journal, at, reason))
		i.telemetry.ExtensionAuditJournalCheckpointSinkDegraded.Record(ctx, 1, set)
		return
	}
	i.telemetry.ExtensionAuditJournalCheckpointSinkDegraded.Record(ctx, 0, set)
	i.telemetry.ExtensionAuditJournalCheckpointSinkSize.Record(ctx, int64(size), set)
}
