// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/extension/auditjournalextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/control"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
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
	settings  component.TelemetrySettings

	claims *claimLocks

	// writers are the exporters that have started.
	writers writers

	// keyPoll is keyPollInterval unless a test says otherwise.
	keyPoll time.Duration

	mu sync.RWMutex
	// open are the open journals; nil before start and after shutdown.
	open map[journalName]*openJournal
	// archiver is nil without an archive.
	archiver *archiver
	// keys are nil, and watch is, while no journal is open; watch also without a key
	// file.
	keys  *keys
	watch *keyWatch
	// outside is nil before start.
	outside *outside
	// control serves the operator's commands; nil if it cannot.
	control *control.Server
}

// openJournal is a ledger and its metrics.
type openJournal struct {
	*ledger.Ledger
	instruments *instruments
	// keyID is the key that signs, empty if that is not known; the watch's alone once
	// it runs.
	keyID string
	// keeper is nil without checkpoints.
	keeper *checkpoint.Keeper
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
		router:    newRouter(&config.Scope, config.Actions),
		health:    newHealth(),
		fs:        durable.OS{},
		settings:  set.TelemetrySettings,
		claims:    newClaimLocks(),
		keyPoll:   keyPollInterval,
	}, nil
}

// Start opens every journal, or none.
func (j *journals) Start(ctx context.Context, host component.Host) error {
	j.health.setHost(host)
	keys, err := openKeys(j.config)
	if err != nil {
		return fmt.Errorf("extensions::%s::%w", j.id, err)
	}
	outside, err := j.openOutside(ctx, host)
	if err != nil {
		return errors.Join(fmt.Errorf("extensions::%s::%w", j.id, err), keys.close())
	}
	open := make(map[journalName]*openJournal)
	for name, scope := range j.router.scopes() {
		opened, err := j.openJournal(ctx, name, scope, keys, outside)
		if err != nil {
			err = errors.Join(fmt.Errorf("extensions::%s::directory: %w", j.id, err), closeAll(ctx, open), keys.close())
			outside.close()
			return err
		}
		open[name] = opened
		j.logger.Info("Journal is open", zap.Stringer("journal", name),
			zap.String("journal_id", opened.JournalID()), zap.String("key_id", opened.keyID))
	}
	j.mu.Lock()
	j.open, j.keys, j.outside = open, keys, outside
	j.watch = startKeyWatch(ctx, j, open)
	if outside.archive != nil {
		j.archiver = startArchiver(ctx, j, outside.archive, open)
	}
	j.mu.Unlock()
	j.startControl()
	return nil
}

func (j *journals) openJournal(ctx context.Context, name journalName, scope record.Scope, keys *keys, outside *outside) (*openJournal, error) {
	instruments := newInstruments(j.telemetry, name)
	keeper, err := j.newKeeper(name, outside, keys.signer, keys.outgoing, instruments)
	if err != nil {
		return nil, err
	}
	observer := j.observer(name, instruments)
	if keeper != nil {
		observer.Durable = func(first uint64, hashes [][sha256.Size]byte) {
			instruments.durable(first, hashes)
			keeper.Durable(first, hashes)
		}
	}
	l, err := ledger.Open(ctx, ledger.Options{
		Dir:             name.directory(j.config.Directory),
		FS:              j.fs,
		Signer:          keys.signer,
		Outgoing:        keys.outgoing,
		CollectorID:     j.config.CollectorID,
		Scope:           scope,
		MaxSegmentBytes: j.config.Segment.MaxBytes,
		MaxSegmentAge:   j.config.Segment.MaxAge,
		DedupWindow:     j.config.DedupWindow,
		GroupSignatures: j.config.Signatures == SignaturesGroup,
		Attested:        attested(keeper),
		Executions:      j.config.Actions,
		Observer:        observer,
	})
	if err != nil {
		return nil, errors.Join(err, keeper.Close(ctx))
	}
	instruments.degraded(0)
	opened := &openJournal{Ledger: l, instruments: instruments, keyID: keys.signer.KeyID(), keeper: keeper}
	keeper.Start(l.JournalID(), l)
	return opened, nil
}

// Shutdown closes every journal. Exporters and receivers are shut down before
// extensions, so that nothing is appended any more.
func (j *journals) Shutdown(ctx context.Context) error {
	j.stopControl(ctx)
	j.mu.Lock()
	open, archiver, keys, watch, outside := j.open, j.archiver, j.keys, j.watch, j.outside
	j.open, j.archiver, j.keys, j.watch, j.outside = nil, nil, nil, nil, nil
	j.mu.Unlock()
	archiver.stop()
	watch.stop()
	err := errors.Join(closeAll(ctx, open), keys.close())
	outside.close()
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
