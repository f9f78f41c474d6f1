// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/exporter/auditjournalexporter/internal/metadata"
	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// appender is what the exporter needs of the extension that it names: Append
// returns when every item is on disk, or an error and the sender retries; ScopeOf
// tells the scope that an item gets, and Scopes which there are; Attach says whether
// this exporter binds clients, and refuses one that others' bindings can be evaded by.
type appender interface {
	Append(ctx context.Context, items []carrier.Item) ([]journal.Receipt, error)
	ScopeOf(item *carrier.Item) record.Scope
	Scopes() []record.Scope
	Attach(exporter component.ID, binds bool) error
}

// journalExporter takes the records out of the context of a request and waits
// until the journal has them.
type journalExporter struct {
	id        component.ID
	config    *Config
	telemetry *metadata.TelemetryBuilder
	health    health
	// refusals logs what clients make happen.
	refusals *zap.Logger
	// journal and host are set by start, before the first request.
	journal appender
	host    component.Host
}

func newExporter(set exporter.Settings, config *Config) (*journalExporter, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &journalExporter{id: set.ID, config: config, telemetry: telemetry, health: health{now: time.Now}, refusals: sampled(set.Logger)}, nil
}

func (e *journalExporter) start(_ context.Context, host component.Host) error {
	extension, found := host.GetExtensions()[e.config.Journal]
	if !found {
		return fmt.Errorf("exporters::%s::journal: no extension %s is running: configure extensions::%s and list it in service::extensions",
			e.id, e.config.Journal, e.config.Journal)
	}
	keeper, ok := extension.(appender)
	if !ok {
		return fmt.Errorf("exporters::%s::journal: extension %s keeps no journal: name an extension of type %s and list it in service::extensions",
			e.id, e.config.Journal, defaultJournal)
	}
	e.journal, e.host = keeper, host
	e.health.setHost(host)
	if err := e.checkClients(); err != nil {
		return err
	}
	return keeper.Attach(e.id, e.config.Clients != nil)
}

func (e *journalExporter) shutdown(context.Context) error {
	e.telemetry.Shutdown()
	return nil
}

func (e *journalExporter) pushTraces(ctx context.Context, td ptrace.Traces) error {
	batch := carrier.FromContext(ctx)
	if batch == nil {
		return e.refuse(ctx, errNoRecords)
	}
	if namesForeignSpans(td, batch.ReadIDs) {
		return e.refuse(ctx, errForeignRecords)
	}
	return e.deliver(ctx, batch)
}

func (e *journalExporter) pushLogs(ctx context.Context, ld plog.Logs) error {
	batch := carrier.FromContext(ctx)
	if batch == nil {
		return e.refuse(ctx, errNoRecords)
	}
	if namesForeignLogs(ld, batch.ReadIDs) {
		return e.refuse(ctx, errForeignRecords)
	}
	return e.deliver(ctx, batch)
}

// deliver gives the journal everything of the batch in one call, so that it is
// acknowledged as a whole or retried as a whole. The copies that records name are
// durable before: a record never names a copy that is not there. Before anything
// leaves a trace, the sender has to be one that may write all of it.
func (e *journalExporter) deliver(ctx context.Context, batch *carrier.Batch) error {
	if err := e.admit(ctx, batch); err != nil {
		return err
	}
	parcels, refused := e.parcels(batch.Items)
	if refused != nil {
		return e.refuse(ctx, refused)
	}
	e.health.accepted()
	for _, p := range parcels {
		if err := p.keeper.Put(ctx, p.organization, p.class, p.copies); err != nil {
			return err
		}
	}
	items := batch.Items
	if e.config.Lineage {
		items = e.withLineage(ctx, items, batch.Lineages)
	}
	if len(items) == 0 {
		return nil
	}
	_, err := e.journal.Append(ctx, items)
	return err
}
