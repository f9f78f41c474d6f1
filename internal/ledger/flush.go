// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/readtrail/readtrail/internal/ledger/repeat"
)

// flushInterval is how long what the index learned stays in memory before it is written,
// unless it is much (Index.Worthwhile), which bounds what a crash leaves to learn anew. A
// group that is committed meanwhile waits for the disk, so it is not short.
const flushInterval = time.Minute

// indexWritten delivers how a batch of the index went.
func (w *writer) indexWritten() <-chan error {
	if w.index == nil {
		return nil
	}
	return w.index.Written()
}

func (w *writer) startFlush() {
	if w.index != nil {
		w.index.Start(w.ledger.options.Now())
	}
}

// indexDone takes note of how a batch of the index went. A full disk is waited
// for as long as memory allows; the commit path does not need the file.
func (w *writer) indexDone(err error) {
	err = w.index.Done(err)
	switch {
	case err == nil:
	case errors.Is(err, repeat.ErrDamaged), w.index.Full():
		w.trip(err)
	default:
		w.ledger.options.Observer.failed(fmt.Errorf("write the index of repeats: %w", err))
	}
}
