// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type testSigner struct{ private ed25519.PrivateKey }

func newSigner(seed byte) testSigner {
	return testSigner{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))}
}

var signer, second = newSigner(1), newSigner(2)

func (s testSigner) KeyID() string                { return journal.KeyID(s.PublicKey()) }
func (s testSigner) PublicKey() ed25519.PublicKey { return s.private.Public().(ed25519.PublicKey) }

func (s testSigner) Sign(message []byte) ([]byte, error) {
	return ed25519.Sign(s.private, message), nil
}

// event is what an observer is told of a place.
type event struct {
	place string
	size  uint64
	err   error
}

// rig is a journal with checkpoints.
type rig struct {
	t       *testing.T
	dir     string
	options checkpoint.Options
	signer  journal.Signer
	ledger  *ledger.Ledger
	keeper  *checkpoint.Keeper
	n       int
	// unheard says which entries the keeper is not told of.
	unheard func(first uint64) bool

	mu     sync.Mutex
	signed []journal.Checkpoint
	events []event
	failed []error
	told   chan struct{}
}

// newRig returns the rig of a journal whose checkpoints come only by numbers of
// entries, unless a test says otherwise.
func newRig(t *testing.T) *rig {
	r := &rig{t: t, dir: filepath.Join(t.TempDir(), "journal"), signer: signer, told: make(chan struct{}, 1)}
	r.options = checkpoint.Options{
		Dir: r.dir, FS: durable.OS{}, Entries: 10, Interval: time.Hour, Timeout: 10 * time.Second,
		Observer: checkpoint.Observer{
			Signed: func(c journal.Checkpoint) { r.note(func() { r.signed = append(r.signed, c) }) },
			Place: func(name string, size uint64, err error) {
				r.note(func() { r.events = append(r.events, event{name, size, err}) })
			},
			Failed: func(err error) { r.note(func() { r.failed = append(r.failed, err) }) },
		},
	}
	return r
}

func (r *rig) note(f func()) {
	r.mu.Lock()
	f()
	r.mu.Unlock()
	select {
	case r.told <- struct{}{}:
	default:
	}
}

// until waits until something was told that f looks for. f runs with r.mu held.
func (r *rig) until(what string, f func() bool) {
	r.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		found := f()
		r.mu.Unlock()
		if found {
			return
		}
		select {
		case <-r.told:
		case <-deadline:
			r.mu.Lock()
			defer r.mu.Unlock()
			require.FailNow(r.t, "waited in vain", "%s\nevents %v\nfailed %v\nsigned %v", what, r.events, r.failed, r.signed)
		}
	}
}

// took waits until a place took a checkpoint of at least a size.
func (r *rig) took(place string, size uint64) {
	r.t.Helper()
	r.until(fmt.Sprintf("%s takes %d", place, size), func() bool {
		for _, e := range r.events {
			if e.place == place && e.err == nil && e.size >= size {
				return true
			}
		}
		return false
	})
}

// failing waits until a place failed with a reason.
func (r *rig) failing(place string, reason checkpoint.Reason) error {
	r.t.Helper()
	var found error
	r.until(fmt.Sprintf("%s fails for %s", place, reason), func() bool {
		for _, e := range r.events {
			if e.place == place && e.err != nil && checkpoint.ReasonOf(e.err) == reason {
				found = e.err
				return true
			}
		}
		return false
	})
	return found
}

func (r *rig) tryOpen() error {
	r.options.Signer = r.signer
	keeper, err := checkpoint.New(r.options)
	require.NoError(r.t, err)
	l, err := ledger.Open(r.t.Context(), ledger.Options{
		Dir: r.dir, FS: durable.OS{}, Signer: r.signer, CollectorID: "collector-1",
		Scope:           record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
		MaxSegmentBytes: 64 << 10,
		Attested: func(ctx context.Context, id string, size uint64) (*journal.SignedCheckpoint, error) {
			held, err := keeper.Attested(ctx, id, size)
			if errors.Is(err, checkpoint.ErrConflict) {
				err = fmt.Errorf("%w: %w", ledger.ErrContradicted, err)
			}
			return held, err
		},
		Observer: ledger.Observer{Durable: func(first uint64, hashes []tiles.Hash) {
			if r.unheard == nil || !r.unheard(first) {
				keeper.Durable(first, hashes)
			}
		}, Failed: func(err error) { r.note(func() { r.failed = append(r.failed, err) }) }},
	})
	if err != nil {
		require.NoError(r.t, keeper.Close(r.t.Context()))
		return err
	}
	r.ledger, r.keeper = l, keeper
	keeper.Start(l.JournalID(), l)
	return nil
}

func (r *rig) open() {
	r.t.Helper()
	require.NoError(r.t, r.tryOpen())
	r.t.Cleanup(func() { r.close() })
}

// close closes journal and keeper, once.
func (r *rig) close() {
	if r.ledger == nil {
		return
	}
	ctx := context.WithoutCancel(r.t.Context())
	assert.NoError(r.t, r.ledger.Close(ctx))
	assert.NoError(r.t, r.keeper.Close(ctx))
	r.ledger, r.keeper = nil, nil
}

// append appends n reads and returns the last sequence.
func (r *rig) append(n int) uint64 {
	r.t.Helper()
	var last uint64
	for range n {
		r.n++
		id := record.ReadIDOfSpan([16]byte{1}, [8]byte{byte(r.n >> 16), byte(r.n >> 8), byte(r.n)})
		draft, err := record.NewReadDraft(&record.Read{
			Header: record.Header{
				EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
				Correlation: record.Correlation{ExecutionID: "run-1"},
				ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
			},
			ReadID: id, ExecutionID: "run-1",
			Source:    record.Source{Kind: record.SourceAPI, ToolID: "crm.customer.get"},
			Response:  record.Response{Status: record.StatusOK},
			Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
			Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
		}, false)
		require.NoError(r.t, err)
		receipts, err := r.ledger.Append(r.t.Context(), []*record.Draft{draft})
		require.NoError(r.t, err)
		last = receipts[0].Sequence
	}
	return last
}

// entries reads the journal.
func (r *rig) entries() []*journal.Entry {
	r.t.Helper()
	var entries []*journal.Entry
	for line, err := range segment.Lines(durable.OS{}, r.dir, segment.Position{}) {
		require.NoError(r.t, err)
		e, err := journal.ParseLine(bytes.Clone(line.Bytes))
		require.NoError(r.t, err)
		entries = append(entries, e)
	}
	return entries
}

// gaps returns what the journal says of places, as "name state reason".
func (r *rig) gaps() []string {
	var out []string
	for _, e := range r.entries() {
		if e.Header.EventType == record.EventJournalGap {
			d := detail(r.t, e)
			out = append(out, fmt.Sprint(d["sink"], " ", d["state"], " ", d["reason"]))
		}
	}
	return out
}

// gapsOf returns what the journal says of one place: with a short time limit a slow
// disk is one that hangs.
func (r *rig) gapsOf(place string) []string {
	return slices.DeleteFunc(r.gaps(), func(gap string) bool { return !strings.HasPrefix(gap, place+" ") })
}

// rootOf is the root of the first size entries, by another way.
func (r *rig) rootOf(size uint64) tiles.Hash {
	tree := tiles.New(durable.OS{}, r.t.TempDir())
	for _, e := range r.entries()[:size] {
		require.NoError(r.t, tree.Append(e.PayloadDigest()))
	}
	root, err := tree.Root(size)
	require.NoError(r.t, err)
	return root
}
