// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Options describe how checkpoints of a journal are made.
type Options struct {
	// Dir is the directory of the journal, FS the file system that it is on. The
	// tree is cached in "tiles" in it.
	Dir string
	FS  durable.FS
	// Signer signs checkpoints until SetSigner names another one.
	Signer journal.Signer
	// Outgoing are keys that signed before: the cached tree may be confirmed by one
	// of them.
	Outgoing []ed25519.PublicKey
	// Entries and Interval say when a checkpoint is due: after that many entries,
	// and that long after the last one.
	Entries  uint64
	Interval time.Duration
	// Timeout bounds every call to a place.
	Timeout   time.Duration
	Attesters []Attester
	Sinks     []Sink
	Observer  Observer
}

func (o *Options) check() error {
	switch {
	case o.Dir == "" || o.FS == nil || o.Signer == nil:
		return errors.New("checkpoints need a journal and a signer")
	case o.Entries == 0 || o.Interval <= 0 || o.Timeout <= 0:
		return errors.New("checkpoints need a number of entries, an interval and a timeout above zero")
	}
	return nil
}

// Observer is told what happens, from several goroutines. Any of its functions
// may be nil. They must return soon, and must not call the Keeper.
type Observer struct {
	// Signed reports a checkpoint that was signed.
	Signed func(c journal.Checkpoint)
	// Place reports how a place did with a checkpoint, or at the start: nil if it
	// took it. An error has a Reason.
	Place func(name string, size uint64, err error)
	// Failed reports trouble that delays checkpoints.
	Failed func(err error)
	// State reports whether checkpoints can be made: why not, and nil with the next
	// one that was.
	State func(err error)
}

func (o *Observer) signed(c journal.Checkpoint) {
	if o.Signed != nil {
		o.Signed(c)
	}
}

func (o *Observer) place(name string, size uint64, err error) {
	if o.Place != nil {
		o.Place(name, size, err)
	}
}

func (o *Observer) failed(err error) {
	if o.Failed != nil {
		o.Failed(err)
	}
}

func (o *Observer) state(err error) {
	if o.State != nil {
		o.State(err)
	}
}

// Recorder writes entries of the journal about itself. They are durable when
// Record returns.
type Recorder interface {
	Record(ctx context.Context, body *record.Journal) (journal.Receipt, error)
}

// ReasonOf returns why a place failed, "" for nil.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	return reasonOf(err)
}
