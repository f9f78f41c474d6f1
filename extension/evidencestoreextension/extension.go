// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/readtrail/readtrail/extension/evidencestoreextension/internal/metadata"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
)

// keeper owns the store of one directory.
type keeper struct {
	id        component.ID
	config    *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	labels    metric.MeasurementOption
	health    *health
	fs        durable.FS
	// probeInterval is how often a disk in trouble is tried.
	probeInterval time.Duration

	mu sync.RWMutex
	// store is nil before start and after shutdown.
	store *evidence.Store
	// place is set by start.
	place *evidence.Local

	// probing is whether a goroutine waits for the disk to be well again.
	probing atomic.Bool
	probes  sync.WaitGroup
	stop    chan struct{}
}

func newKeeper(set extension.Settings, config *Config) (*keeper, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	k := &keeper{
		id:            set.ID,
		config:        config,
		logger:        set.Logger,
		telemetry:     telemetry,
		labels:        metric.WithAttributeSet(attribute.NewSet(attribute.String("store", set.ID.String()))),
		fs:            durable.OS{},
		probeInterval: probeInterval,
		stop:          make(chan struct{}),
	}
	k.health = newHealth(func(n int64) {
		telemetry.ExtensionEvidenceStoreDegraded.Record(context.Background(), n, k.labels)
	})
	return k, nil
}

// Start reads the public keys and opens the directory for writing.
func (k *keeper) Start(ctx context.Context, host component.Host) error {
	k.health.setHost(host)
	sets, err := k.sets()
	if err != nil {
		return fmt.Errorf("extensions::%s::%w", k.id, err)
	}
	place, err := evidence.OpenLocal(k.fs, k.config.Directory)
	if err != nil {
		return fmt.Errorf("extensions::%s::directory: %w", k.id, err)
	}
	store, err := evidence.NewStore(ctx, place, sets)
	if err != nil {
		return errors.Join(fmt.Errorf("extensions::%s::%w", k.id, err), place.Close())
	}
	k.health.degraded(0)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.place, k.store = place, store
	return nil
}

// sets returns the sets of the configuration with their public keys.
func (k *keeper) sets() ([]evidence.Set, error) {
	sets := make([]evidence.Set, 0, len(k.config.Recipients))
	for i := range k.config.Recipients {
		c := &k.config.Recipients[i]
		set := c.set()
		var err error
		if set.Recipients, err = c.recipients(); err != nil {
			return nil, fmt.Errorf("recipients::%d::%w", i, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

func (c *RecipientsConfig) recipients() (evidence.Recipients, error) {
	if c.File == "" {
		r, err := evidence.NewRecipients(c.Keys)
		if err != nil {
			return r, fmt.Errorf("keys: %w", err)
		}
		return r, nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return evidence.Recipients{}, fmt.Errorf("file: %w", err)
	}
	defer file.Close()
	r, err := evidence.ReadRecipients(file)
	if err != nil {
		return r, fmt.Errorf("file: %s %w", c.File, err)
	}
	return r, nil
}

// Shutdown ends writing. Exporters are shut down before extensions, so that
// nothing is stored any more.
func (k *keeper) Shutdown(context.Context) error {
	k.mu.Lock()
	running := k.store != nil
	k.store = nil
	k.mu.Unlock()
	if !running {
		k.telemetry.Shutdown()
		return nil
	}
	close(k.stop)
	k.probes.Wait()
	k.telemetry.Shutdown()
	return k.place.Close()
}
