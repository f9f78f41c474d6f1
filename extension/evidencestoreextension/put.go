// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidencestoreextension

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/evidence"
)

// errNotRunning is not permanent: the sender keeps its data and retries.
var errNotRunning = errors.New("not running: it has not started or is shut down")

// probeInterval is how often a disk in trouble is tried: senders that were told
// that the collector is not well may stay away until it is.
const probeInterval = 5 * time.Second

// Put returns when every copy is durable. No error is permanent: the caller
// keeps back the records that name the copies, and the sender retries.
func (k *keeper) Put(ctx context.Context, organization, class string, copies []carrier.Copy) error {
	k.mu.RLock()
	defer k.mu.RUnlock() // Shutdown waits for what is being written
	if k.store == nil {
		return fmt.Errorf("evidence_store %s: %w", k.id, errNotRunning)
	}
	tally, err := k.store.Put(ctx, organization, class, copies)
	k.count(tally)
	scope := organization + "/" + class
	switch {
	case err == nil:
		k.recovered(theDisk)
		k.recovered(scope)
		return nil
	case ctx.Err() == nil: // else the sender gave up
		k.failed(scope, err)
	}
	k.telemetry.ExtensionEvidenceStoreFailures.Add(context.Background(), 1, k.labels)
	return fmt.Errorf("evidence_store %s: %w", k.id, forSender(err))
}

func (k *keeper) count(t evidence.Tally) {
	ctx := context.Background()
	k.telemetry.ExtensionEvidenceStoreCopies.Add(ctx, t.Stored, k.labels)
	k.telemetry.ExtensionEvidenceStoreRepeats.Add(ctx, t.Repeats, k.labels)
	k.telemetry.ExtensionEvidenceStoreBytes.Add(ctx, t.Bytes, k.labels)
}

// failed notes why copies of a scope cannot be stored. Each cause is logged
// when it appears, with the place.
func (k *keeper) failed(scope string, err error) {
	what, cause := scope, err
	if disk := diskCause(err); disk != nil {
		what, cause = theDisk, disk
	}
	if k.health.set(what, cause) {
		k.logger.Error("Copies cannot be stored", zap.String("what", what), zap.Error(err))
	}
	if what == theDisk && k.probing.CompareAndSwap(false, true) {
		k.probes.Go(k.probe)
	}
}

func (k *keeper) recovered(what string) {
	if k.health.set(what, nil) {
		k.logger.Info("Copies can be stored again", zap.String("what", what))
	}
}

// probe ends when the disk is well.
func (k *keeper) probe() {
	ticker := time.NewTicker(k.probeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-ticker.C:
		}
		if k.place.Probe() != nil {
			continue
		}
		k.recovered(theDisk)
		k.probing.Store(false)
		if !k.health.inTrouble(theDisk) || !k.probing.CompareAndSwap(false, true) {
			return
		}
	}
}
