// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Defaults of Options.
const (
	DefaultMaxSegmentBytes = 64 << 20
	DefaultMaxSegmentAge   = 24 * time.Hour
	DefaultDedupWindow     = 24 * time.Hour
	DefaultMaxPendingBytes = 64 << 20
	DefaultRetryInterval   = time.Second
)

// Options describe a journal. Zero sizes and times mean their defaults.
type Options struct {
	// Dir is the directory of the journal, which it has for itself.
	Dir string
	// FS is durable.OS unless a test says otherwise.
	FS durable.FS
	// Signer is the key that the journal goes on with.
	Signer journal.Signer
	// Outgoing are keys that may only sign bridges (contract 4): if the last entry
	// of the journal is by one of them, or hands over to one of them, opening
	// bridges from there to Signer before anything else.
	Outgoing []journal.Signer
	// GroupSignatures has one signature for every commit group instead of one for
	// every entry (contract 4).
	GroupSignatures bool
	// Attested returns the largest checkpoint of a journal that a place outside holds,
	// nil if none does. It is asked at opening, before anything is written or cut off;
	// size is how many entries are intact, and what stands behind them is torn. A
	// journal that is shorter than the checkpoint was rolled back and is refused. An
	// error that wraps ErrContradicted is returned; any other means that nobody could
	// be asked: the observer is told, and the journal opens. Whether the journal has
	// the checkpoint's root is for Attested to judge.
	Attested func(ctx context.Context, journalID string, size uint64) (*journal.SignedCheckpoint, error)
	// CollectorID and Scope are written into every entry.
	CollectorID string
	Scope       record.Scope
	// MaxSegmentBytes and MaxSegmentAge say when a segment is full.
	MaxSegmentBytes int64
	MaxSegmentAge   time.Duration
	// DedupWindow is how long the repeat of a record is known at least.
	DedupWindow time.Duration
	// MaxGroupBytes bounds a commit group, at most segment.MaxGroupBytes (G of
	// contract 8) and at least one entry.
	MaxGroupBytes int64
	// MaxPendingBytes bounds the records that wait; beyond it Append blocks.
	MaxPendingBytes int64
	// RetryInterval is how often a journal that is unavailable tries again.
	RetryInterval time.Duration
	// IndexDir is where the index of repeats is cached, by default "index" in
	// Dir.
	IndexDir string
	// Executions keeps an index of the entries that each execution has, for EntriesOf
	// and Follow.
	Executions bool
	// Now is the clock of recorded_at.
	Now      func() time.Time
	Observer Observer
}

// Observer is told what happens. Any of its functions may be nil. They are called
// one at a time, apart from Durable, must return soon, and must not call the
// Ledger.
type Observer struct {
	// Durable reports entries that became durable: the sequence of the first one,
	// and the record hash of each. It is called in their order, without a gap, by
	// one goroutine at a time, beside the other functions and before anybody is
	// acknowledged, so that it has to return at once; it may keep hashes. What a
	// journal had when it was opened is not told of.
	Durable func(first uint64, hashes [][sha256.Size]byte)
	// Committed reports a group that became durable: its entries, their bytes,
	// and how long writing and syncing took.
	Committed func(entries int, bytes int64, took time.Duration)
	// Repeats reports records that left no entry because the journal has them.
	Repeats func(n int)
	// Conflicts reports records that were written with conflicts_with.
	Conflicts func(n int)
	// Failed reports trouble, every time: err wraps ErrUnavailable if it stops the
	// journal, which is told again with every try to come back that fails.
	Failed func(err error)
	// State reports that the journal became unavailable (err wraps
	// ErrUnavailable, and ErrDamaged if it stays so), that it is for another cause
	// now, or that it is available again (nil).
	State func(err error)
}

// MaxTextBytes bounds each text that the configuration adds to every entry, so
// that an entry with the largest draft stays within 1 MiB.
const MaxTextBytes = 256

// withDefaults returns the options with nothing left out, or says what is wrong
// with them.
func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" || o.Signer == nil {
		return o, errors.New("journal needs a directory and a signer")
	}
	for name, text := range map[string]string{
		"collector_id": o.CollectorID, "scope organization_ref": o.Scope.OrganizationRef,
		"scope environment": o.Scope.Environment, "scope retention_class": o.Scope.RetentionClass,
	} {
		if text == "" {
			return o, fmt.Errorf("journal needs a %s", name)
		}
		if err := checkText(name, text); err != nil {
			return o, err
		}
	}
	if err := checkText("scope region", o.Scope.Region); err != nil {
		return o, err
	}
	if slices.Contains(o.Outgoing, nil) {
		return o, errors.New("journal: an outgoing signer is missing")
	}
	for name, n := range map[string]int64{
		"max segment bytes": o.MaxSegmentBytes, "max segment age": int64(o.MaxSegmentAge), "dedup window": int64(o.DedupWindow),
		"max group bytes": o.MaxGroupBytes, "max pending bytes": o.MaxPendingBytes, "retry interval": int64(o.RetryInterval),
	} {
		if n < 0 {
			return o, fmt.Errorf("journal: %s is negative", name)
		}
	}
	setDefault(&o.MaxSegmentBytes, DefaultMaxSegmentBytes)
	setDefault(&o.MaxSegmentAge, DefaultMaxSegmentAge)
	setDefault(&o.DedupWindow, DefaultDedupWindow)
	setDefault(&o.MaxGroupBytes, segment.MaxGroupBytes)
	setDefault(&o.MaxPendingBytes, DefaultMaxPendingBytes)
	setDefault(&o.RetryInterval, DefaultRetryInterval)
	setDefault(&o.IndexDir, filepath.Join(o.Dir, "index"))
	if o.FS == nil {
		o.FS = durable.OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxGroupBytes < segment.MaxLineBytes || o.MaxGroupBytes > segment.MaxGroupBytes {
		return o, fmt.Errorf("journal: max group bytes is not between %d and %d", segment.MaxLineBytes, segment.MaxGroupBytes)
	}
	return o, nil
}

func setDefault[T comparable](v *T, byDefault T) {
	if *v == *new(T) {
		*v = byDefault
	}
}

func checkText(name, text string) error {
	if err := durable.CheckName(text, MaxTextBytes); err != nil {
		return fmt.Errorf("journal: %s %w", name, err)
	}
	return nil
}

func (o *Observer) durable(g *group) {
	if o.Durable == nil || len(g.entries) == 0 {
		return
	}
	hashes := make([][sha256.Size]byte, len(g.entries))
	for i, e := range g.entries {
		hashes[i] = e.sealed.Digest()
	}
	o.Durable(g.entries[0].receipt.Sequence, hashes)
}

func (o *Observer) committed(g *group, took time.Duration) {
	if o.Committed != nil && len(g.entries) > 0 {
		o.Committed(len(g.entries), g.bytes, took)
	}
	if o.Repeats != nil && g.repeats > 0 {
		o.Repeats(g.repeats)
	}
	if o.Conflicts != nil && g.conflicts > 0 {
		o.Conflicts(g.conflicts)
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
