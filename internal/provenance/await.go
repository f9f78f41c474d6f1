// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package provenance

import (
	"context"
	"iter"

	"github.com/readtrail/readtrail/journal"
)

// Trail gives the entries of an execution as they become durable: with each call
// those that it did not give before. Close ends it.
type Trail interface {
	Entries(ctx context.Context) iter.Seq2[*journal.Entry, error]
	Close()
}

// Follow begins a Trail of an execution. Wake is told, if it has room, whenever the
// execution got entries since then.
type Follow func(execution string, wake chan<- struct{}) (Trail, error)

// Patience is asked once a need is not met by what is there. It returns what is
// closed when the time is over, or why nobody can wait.
type Patience func() (late <-chan struct{}, err error)

// Await shows a need the entries of its execution until it is met or until the time
// is over, and sleeps until the execution gets entries. An error says that the
// entries could not be read, that nobody can wait, or that ctx ended: then nothing is
// known.
func Await(ctx context.Context, follow Follow, need Need, patience Patience) error {
	if need.Met() {
		return nil
	}
	wake := make(chan struct{}, 1)
	trail, err := follow(need.Execution(), wake)
	if err != nil {
		return err
	}
	defer trail.Close()
	var late <-chan struct{}
	for over := false; ; {
		for e, err := range trail.Entries(ctx) {
			if err != nil {
				return err
			}
			if need.See(e); need.Met() {
				return nil
			}
		}
		if over {
			return nil
		}
		if late == nil {
			if late, err = patience(); err != nil {
				return err
			}
		}
		select {
		case <-wake:
		case <-late:
			over = true // one more look: what came at the last moment counts
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
