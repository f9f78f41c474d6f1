// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalextension

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	owner *journals
	path  string
	open  map[journalName]*openJournal
	said  repetition

	cancel context.CancelFunc
	done   sync.WaitGroup
}

// startKeyWatch begins to follow the key file. It returns nil if there is none.
func startKeyWatch(ctx context.Context, owner *journals, open map[journalName]*openJournal) *keyWatch {
	if owner.config.SigningKey.File == "" {
		return nil
	}
	w := &keyWatch{owner: owner, path: owner.config.SigningKey.File, open: open}
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.done.Go(func() { w.run(ctx) })
	return w
}

// stop ends the watch. A rotation that is on its way may be given up; the next start
// completes it.
func (w *keyWatch) stop() {
	if w == nil {
		return
	}
	w.cancel()
	w.done.Wait()
}

func (w *keyWatch) run(ctx context.Context) {
	ticker := time.NewTicker(w.owner.keyPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := w.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		w.owner.health.setKey(err)
		if err == nil {
			w.said = repetition{}
			continue
		}
		w.owner.telemetry.ExtensionAuditJournalKeyFailures.Add(context.Background(), 1)
		if !w.said.again(err, time.Now()) {
			w.owner.logger.Error("Signing key cannot be changed; the journals stay with the key that they have", zap.Error(err))
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
	names := slices.SortedFunc(maps.Keys(w.open), func(a, b journalName) int { return strings.Compare(a.String(), b.String()) })
	var wg sync.WaitGroup
	errs := make([]error, len(names))
	for i, name := range names {
		wg.Go(func() { errs[i] = w.rotate(ctx, name, w.open[name], signer) })
	}
	wg.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return fmt.Errorf("%w; and so it is with %d other journals", errs[0], len(errs)-1)
}

func (w *keyWatch) rotate(ctx context.Context, name journalName, opened *openJournal, to journal.Signer) error {
	from := opened.keyID
	if from == to.KeyID() {
		return nil
	}
	if err := opened.Rotate(ctx, to); err != nil {
		opened.keyID = "" // the bridge may be there all the same
		return fmt.Errorf("journal %s: %w", name, err)
	}
	opened.keyID = to.KeyID()
	opened.instruments.rotated()
	w.owner.logger.Info("Signing key changed", zap.Stringer("journal", name), zap.String("key_id", to.KeyID()), zap.String("outgoing_key_id", from))
	return nil
}
