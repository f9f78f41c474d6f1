// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// journals owns one ledger for each journal that the configuration names.
type journals struct {
	id        component.ID
	config    *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	router    router
	health    *health
	fs        durable.FS

	mu sync.RWMutex
	// open are the open journals; nil before start and after shutdown.
	open map[journalName]*openJournal
	// archiver is nil without an archive.
	archiver *archiver
}

// openJournal is a ledger and its metrics.
type openJournal struct {
	*ledger.Ledger
	instruments *instruments
}

func newJournals(set extension.Settings, config *Config) (*journals, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &journals{
		id:        set.ID,
		config:    config,
		logger:    set.Logger,
		telemetry: telemetry,
		router:    newRouter(&config.Scope),
		health:    newHealth(),
		fs:        durable.OS{},
	}, nil
}

// Start opens every journal, or none.
func (j *journals) Start(ctx context.Context, host component.Host) error {
	j.health.setHost(host)
	signer, err := journal.NewFileSigner(j.config.SigningKey.File)
	if err != nil {
		return fmt.Errorf("extensions::%s::signing_key::file: %w", j.id, err)
	}
	open := make(map[journalName]*openJournal)
	for name, scope := range j.router.scopes() {
		opened, err := j.openJournal(ctx, name, scope, signer)
		if err != nil {
			return errors.Join(fmt.Errorf("extensions::%s::directory: %w", j.id, err), closeAll(ctx, open))
		}
		open[name] = opened
		j.logger.Info("Journal is open", zap.Stringer("journal", name),
			zap.String("journal_id", opened.JournalID()), zap.String("key_id", signer.KeyID()))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open = open
	if j.config.Archive.HasValue() {
		j.archiver = startArchiver(ctx, j, j.config.Archive.Get(), open)
	}
	return nil
}

func (j *journals) openJournal(ctx context.Context, name journalName, scope record.Scope, signer journal.Signer) (*openJournal, error) {
	instruments := newInstruments(j.telemetry, name)
	l, err := ledger.Open(ctx, ledger.Options{
		Dir:             name.directory(j.config.Directory),
		FS:              j.fs,
		Signer:          signer,
		CollectorID:     j.config.CollectorID,
		Scope:           scope,
		MaxSegmentBytes: j.config.Segment.MaxBytes,
		MaxSegmentAge:   j.config.Segment.MaxAge,
		DedupWindow:     j.config.DedupWindow,
		Observer:        j.observer(name, instruments),
	})
	if err != nil {
		return nil, err
	}
	instruments.degraded(0)
	return &openJournal{Ledger: l, instruments: instruments}, nil
}

// Shutdown closes every journal. Exporters and receivers are shut down before
// extensions, so that nothing is appended any more.
func (j *journals) Shutdown(ctx context.Context) error {
	j.mu.Lock()
	open := j.open
	j.open = nil
	archiver := j.archiver
	j.archiver = nil
	j.mu.Unlock()
	archiver.stop()
	err := closeAll(ctx, open)
	j.telemetry.Shutdown()
	return err
}

func (j *journals) running() map[journalName]*openJournal {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.open
}

// closeAll closes journals at the same time, so that they share the time that
// ctx gives.
func closeAll(ctx context.Context, open map[journalName]*openJournal) error {
	var wg sync.WaitGroup
	errs := make([]error, len(open))
	i := 0
	for _, opened := range open {
		err := &errs[i]
		i++
		wg.Go(func() { *err = opened.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
