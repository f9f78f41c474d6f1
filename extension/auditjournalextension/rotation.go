// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/readtrail/readtrail/journal"
)

// keyPollInterval is how often the key file is looked at. It is read, not only
// looked up: its time of modification can stay the same, and it is small.
const keyPollInterval = time.Second

// keyWatch follows the key file while the collector runs: each journal goes over to
// the key that stands first in it.
type keyWatch struct {
	path     string
	interval time.Duration
	logger   *zap.Logger
	open     map[journalName]*openJournal
	// failed counts what could not be followed.
	failed func()
	said   repetition
}

// watchKeys starts to follow the key file, if there is one, until stop is called.
func (j *journals) watchKeys(ctx context.Context, open map[journalName]*openJournal) (stop func()) {
	if j.config.SigningKey.File == "" {
		return func() {}
	}
	w := &keyWatch{
		path: j.config.SigningKey.File, interval: j.keyPoll, logger: j.logger, open: open,
		failed: func() { j.telemetry.ExtensionAuditJournalKeyFailures.Add(context.Background(), 1) },
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { w.run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

func (w *keyWatch) run(ctx context.Context) {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := w.follow(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			w.said = repetition{}
			continue
		}
		w.failed()
		if !w.said.again(err, time.Now()) {
			w.logger.Error("Signing key cannot be changed; the journals stay with the key that they have", zap.Error(err))
		}
	}
}

// follow has every journal go over to the first key of the file. One that cannot
// does not keep the others, and tries again the next time.
func (w *keyWatch) follow(ctx context.Context) error {
	signer, err := journal.NewFileSigner(w.path)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, len(w.open))
	i := 0
	for name, opened := range w.open {
		err := &errs[i]
		i++
		wg.Go(func() { *err = w.rotate(ctx, name, opened, signer) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (w *keyWatch) rotate(ctx context.Context, name journalName, opened *openJournal, to journal.Signer) error {
	from := opened.keyID
	if from == to.KeyID() {
		return nil
	}
	if err := opened.Rotate(ctx, to); err != nil {
		return fmt.Errorf("journal %s: %w", name, err)
	}
	opened.keyID = to.KeyID()
	opened.instruments.rotated()
	w.logger.Info("Signing key changed", zap.Stringer("journal", name), zap.String("key_id", to.KeyID()), zap.String("outgoing_key_id", from))
	return nil
}
