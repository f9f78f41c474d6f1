// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/durable/crashfs"
	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/internal/retention"
	"github.com/readtrail/readtrail/internal/segment"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// aged is a journal of several segments, all written ten days ago.
type aged struct {
	t       *testing.T
	fs      *crashfs.FS
	clock   *clock
	options ledger.Options
	ledger  *ledger.Ledger
	// receipts are those of the records read_0, read_1, …
	receipts []journal.Receipt
}

func newAged(t *testing.T, seed uint64) *aged {
	t.Helper()
	a := &aged{t: t, fs: crashfs.New(seed), clock: newClock()}
	a.options = optionsFor(t, a.fs)
	a.options.Now = a.clock.Now
	a.options.MaxSegmentBytes = 6_000
	a.options.DedupWindow = 365 * retention.Day
	a.open()
	a.write(0, 20)
	a.clock.advance(10 * retention.Day)
	return a
}

func (a *aged) open() {
	a.t.Helper()
	a.options.FS = a.fs
	a.ledger = open(a.t, a.options)
}

// write appends the records from..to-1, each in a group of its own.
func (a *aged) write(from, to int) {
	a.t.Helper()
	for n := from; n < to; n++ {
		a.receipts = append(a.receipts, appendAll(a.t, a.ledger, read(a.t, id(n), "1"))...)
	}
}

func (a *aged) segments() []segment.Info { return segmentsOf(a.t, a.fs) }

func segmentsOf(t *testing.T, fs durable.FS) []segment.Info {
	t.Helper()
	segments, err := segment.List(fs, dir)
	require.NoError(t, err)
	return segments
}

// checkpoint signs a checkpoint of all that stands there now, which must be all
// that ever did.
func (a *aged) checkpoint() *journal.SignedCheckpoint {
	a.t.Helper()
	return checkpointOf(a.t, signer, stored(a.t, a.fs))
}

func checkpointOf(t *testing.T, s journal.Signer, entries []*journal.Entry) *journal.SignedCheckpoint {
	t.Helper()
	note, err := journal.SignCheckpoint(journal.Checkpoint{
		Origin: entries[0].Header.JournalID, Size: uint64(len(entries)), Root: rootOf(t, nil, entries),
	}, s)
	require.NoError(t, err)
	checkpoint, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	return checkpoint
}

// rootOf returns the root of the tree of entries behind those that were pruned.
func rootOf(t *testing.T, pruned *record.Pruned, entries []*journal.Entry) (root [sha256.Size]byte) {
	t.Helper()
	trees := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	tree := trees.NewEmptyRange(0)
	if pruned != nil {
		var hashes [][]byte
		for _, text := range pruned.TreeHashes {
			h, err := hex.DecodeString(text)
			require.NoError(t, err)
			hashes = append(hashes, h)
		}
		var err error
		tree, err = trees.NewRange(0, pruned.FirstSequence-1, hashes)
		require.NoError(t, err)
	}
	for _, e := range entries {
		leaf := journal.LeafHash(e.PayloadDigest())
		require.NoError(t, tree.Append(leaf[:], nil))
	}
	h, err := tree.GetRootHash(nil)
	require.NoError(t, err)
	copy(root[:], h)
	return root
}

// stored reads a journal that may be pruned, checking its chain.
func stored(t testing.TB, fs durable.FS) []*journal.Entry {
	t.Helper()
	for _, err := range segment.Lines(fs, dir, segment.Position{}) {
		require.NoError(t, err)
	}
	return intact(t, fs)
}

// intact is stored for a journal whose tail may be torn.
func intact(t testing.TB, fs durable.FS) (entries []*journal.Entry) {
	t.Helper()
	for line, err := range segment.Lines(fs, dir, segment.Position{}) {
		if err != nil {
			break
		}
		e, err := journal.ParseLine(append([]byte(nil), line.Bytes...))
		if err != nil || journal.SpellHash(e.PayloadDigest()) != e.Integrity.RecordHash {
			break
		}
		require.Equal(t, journal.SpellHash(e.PayloadDigest()), e.Integrity.RecordHash)
		if n := len(entries); n > 0 {
			require.Equal(t, entries[n-1].Integrity.RecordHash, e.Integrity.PreviousEventHash)
			require.Equal(t, entries[n-1].Header.Sequence+1, e.Header.Sequence)
		}
		entries = append(entries, e)
	}
	return entries
}

// prunedOf returns the newest journal.pruned, nil if there is none.
func prunedOf(t testing.TB, entries []*journal.Entry) (pruned *record.Pruned) {
	t.Helper()
	for _, e := range entries {
		if e.Header.EventType == record.EventJournalPruned {
			var body struct {
				Detail record.Pruned `json:"detail"`
			}
			require.NoError(t, json.Unmarshal(e.Body, &body))
			pruned = &body.Detail
		}
	}
	return pruned
}

// requireAnchored demands that what is left continues what was pruned.
func requireAnchored(t testing.TB, entries []*journal.Entry) *record.Pruned {
	t.Helper()
	pruned := prunedOf(t, entries)
	require.NotNil(t, pruned)
	require.Equal(t, pruned.FirstSequence, entries[0].Header.Sequence)
	require.Equal(t, pruned.Anchor, entries[0].Integrity.PreviousEventHash)
	return pruned
}

func TestWholeSegmentsGoAndTheRestStillStandsOnTheOldCheckpoints(t *testing.T) {
	a := newAged(t, 1)
	segments, all := a.segments(), stored(t, a.fs)
	require.Greater(t, len(segments), 3)
	digests := map[string][sha256.Size]byte{}
	for _, s := range segments {
		digests[segment.Name(s.First)] = sha256.Sum256(a.fs.Bytes(dir + "/" + segment.Name(s.First)))
	}
	checkpoint := a.checkpoint()
	done, err := a.ledger.Prune(t.Context(), ledger.Pruning{
		FirstSequence: segments[2].First, KeepDays: 10, RequestedBy: "records office", Checkpoint: checkpoint,
	})
	require.NoError(t, err)
	require.Equal(t, 2, done.Removed)
	require.Equal(t, segments[2].First, done.FirstSequence)

	left := stored(t, a.fs)
	pruned := requireAnchored(t, left)
	require.Equal(t, record.PruneRule{KeepDays: 10, RequestedBy: "records office"}, pruned.Rule)
	require.Equal(t, done.Announced, pruned.Segments)
	require.Len(t, pruned.Segments, 2)
	for i, s := range pruned.Segments {
		require.Equal(t, segment.Name(segments[i].First), s.Segment)
		require.Equal(t, segments[i].Size, s.Size)
		require.Equal(t, journal.SpellHash(digests[s.Segment]), s.Digest)
	}
	kept := uint64(len(all)) - pruned.FirstSequence + 1
	require.Equal(t, checkpoint.Root, rootOf(t, pruned, left[:kept]), "the old checkpoint")

	// The tree goes on through a second pruning, and through a restart.
	a.write(20, 30)
	require.NoError(t, a.ledger.Close(t.Context()))
	whole := append(all[:pruned.FirstSequence-1:pruned.FirstSequence-1], stored(t, a.fs)...)
	checkpoint = checkpointOf(t, signer, whole)
	a.open()
	segments = a.segments()
	done, err = a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[1].First, Checkpoint: checkpoint})
	require.NoError(t, err)
	require.Equal(t, 1, done.Removed)
	left = stored(t, a.fs)
	pruned = requireAnchored(t, left)
	require.Equal(t, checkpoint.Root, rootOf(t, pruned, left[:checkpoint.Size-pruned.FirstSequence+1]))
	require.Len(t, pruned.Segments, 1)
	closeLedger(t, a.ledger)
}

// otherSigner signs with a key that no entry is signed by.
var otherSigner = testSigner{ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))}

func TestNothingGoesThatMustStay(t *testing.T) {
	a := newAged(t, 1)
	segments, entries := a.segments(), stored(t, a.fs)
	second := segments[1].First
	good := a.checkpoint()
	forged := *good
	forged.Root[0] ^= 1
	forgedNote, err := journal.SignCheckpoint(forged.Checkpoint, signer)
	require.NoError(t, err)
	fork, err := journal.ParseCheckpoint(forgedNote)
	require.NoError(t, err)
	ahead, err := journal.SignCheckpoint(journal.Checkpoint{Origin: good.Origin, Size: good.Size + 100, Root: good.Root}, signer)
	require.NoError(t, err)
	aheadOfAll, err := journal.ParseCheckpoint(ahead)
	require.NoError(t, err)
	last := segments[len(segments)-1]
	before := a.fs.Bytes(dir + "/" + segment.Name(last.First))
	for name, c := range map[string]struct {
		pruning ledger.Pruning
		want    string
	}{
		"too young":                  {ledger.Pruning{FirstSequence: second, KeepDays: 11, Checkpoint: good}, "too_young"},
		"no checkpoint":              {ledger.Pruning{FirstSequence: second}, "no_checkpoint"},
		"a checkpoint of less":       {ledger.Pruning{FirstSequence: second, Checkpoint: checkpointOf(t, signer, entries[:2])}, "no_checkpoint"},
		"a checkpoint of a fork":     {ledger.Pruning{FirstSequence: second, Checkpoint: fork}, "another root"},
		"a checkpoint by nobody":     {ledger.Pruning{FirstSequence: second, Checkpoint: checkpointOf(t, otherSigner, entries)}, "signed by no key"},
		"a checkpoint of the future": {ledger.Pruning{FirstSequence: second, Checkpoint: aheadOfAll}, "ahead of the journal"},
		"no boundary":                {ledger.Pruning{FirstSequence: second + 1, Checkpoint: good}, "whole sealed segments"},
		"the active segment":         {ledger.Pruning{FirstSequence: uint64(len(entries)) + 1, Checkpoint: good}, "whole sealed segments"},
		"an unknown time":            {ledger.Pruning{FirstSequence: second, KeepDays: -1, Checkpoint: good}, "cannot be kept"},
		"no copy": {ledger.Pruning{FirstSequence: second, Checkpoint: good, Archived: func(context.Context, record.PrunedSegment) (string, error) {
			return "", errors.New("the bucket has none")
		}}, "has no locked copy"},
	} {
		t.Run(name, func(t *testing.T) {
			done, err := a.ledger.Prune(t.Context(), c.pruning)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, done.Announced)
			require.Zero(t, done.Removed)
		})
	}
	require.Equal(t, segments, a.segments())
	require.Equal(t, before, a.fs.Bytes(dir+"/"+segment.Name(last.First)))
	done, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: second, Checkpoint: good, Archived: func(_ context.Context, s record.PrunedSegment) (string, error) {
		return "bucket/" + s.Segment + "?versionId=1", nil
	}})
	require.NoError(t, err)
	require.Equal(t, "bucket/"+segment.Name(1)+"?versionId=1", done.Announced[0].ArchivedAs)
}

func TestADamagedSegmentIsNotRemoved(t *testing.T) {
	a := newAged(t, 1)
	segments, good := a.segments(), a.checkpoint()
	path := dir + "/" + segment.Name(1)
	b := a.fs.Bytes(path)
	b[len(b)/2] ^= 1
	a.fs.Put(path, b)
	_, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[1].First, Checkpoint: good})
	require.ErrorIs(t, err, ledger.ErrDamaged)
	require.Equal(t, segments, a.segments())
}

func TestAHoldWinsOverAPlanThatWasMadeBeforeIt(t *testing.T) {
	a := newAged(t, 1)
	segments, good := a.segments(), a.checkpoint()
	plan := ledger.Pruning{FirstSequence: segments[2].First, Checkpoint: good}
	// Set at the last moment there is: everything was read and found right.
	plan.Archived = func(ctx context.Context, _ record.PrunedSegment) (string, error) {
		_, err := a.ledger.SetHold(ctx, record.Hold{HoldID: "case-7", Reason: "litigation"})
		if errors.Is(err, ledger.ErrHoldSet) {
			err = nil
		}
		return "bucket", err
	}
	_, err := a.ledger.Prune(t.Context(), plan)
	require.ErrorIs(t, err, ledger.ErrHeld)
	require.Equal(t, segments, a.segments()[:len(segments)])
	plan.Archived = nil

	// It survives a restart, also one without the index.
	for _, lose := range []bool{false, true} {
		closeLedger(t, a.ledger)
		if lose {
			a.options.IndexDir = t.TempDir()
		}
		a.open()
		_, err = a.ledger.Prune(t.Context(), plan)
		require.ErrorIs(t, err, ledger.ErrHeld)
	}
	require.Nil(t, prunedOf(t, stored(t, a.fs)))
	_, err = a.ledger.SetHold(t.Context(), record.Hold{HoldID: "case-8"})
	require.NoError(t, err)
	_, err = a.ledger.LiftHold(t.Context(), record.Hold{HoldID: "case-7"})
	require.NoError(t, err)
	_, err = a.ledger.Prune(t.Context(), plan)
	require.ErrorIs(t, err, ledger.ErrHeld, "one of two is lifted")
	_, err = a.ledger.LiftHold(t.Context(), record.Hold{HoldID: "case-8"})
	require.NoError(t, err)
	_, err = a.ledger.LiftHold(t.Context(), record.Hold{HoldID: "case-8"})
	require.ErrorIs(t, err, ledger.ErrNoHold)
	done, err := a.ledger.Prune(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, 2, done.Removed)
	s, err := ledger.ReadStanding(t.Context(), a.fs, dir)
	require.NoError(t, err)
	live, err := a.ledger.Standing(t.Context())
	require.NoError(t, err)
	require.Equal(t, s, live)
	require.Empty(t, s.Holds)
	require.Equal(t, segments[2].First, s.Begins.FirstSequence)
}

func TestAHoldKeepsWhatWasAnnouncedButIsStillThere(t *testing.T) {
	a := newAged(t, 1)
	segments, good := a.segments(), a.checkpoint()
	unlinks := 0
	a.fs.SetFaults(func(op crashfs.Op) crashfs.Fault {
		if op.Kind == crashfs.OpUnlink {
			if unlinks++; unlinks > 1 {
				return crashfs.Fault{Err: errors.New("disk trouble")}
			}
		}
		return crashfs.Fault{}
	})
	done, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[3].First, Checkpoint: good})
	require.ErrorContains(t, err, "disk trouble")
	require.Equal(t, 1, done.Removed)
	require.Len(t, done.Announced, 3)
	a.fs.SetFaults(nil)
	_, err = a.ledger.SetHold(t.Context(), record.Hold{HoldID: "case-7"})
	require.NoError(t, err)
	_, err = a.ledger.Prune(t.Context(), ledger.Pruning{})
	require.ErrorIs(t, err, ledger.ErrHeld)
	closeLedger(t, a.ledger)
	a.open()
	require.Equal(t, segments[1].First, a.segments()[0].First, "opening removes nothing that is held")
	_, err = a.ledger.LiftHold(t.Context(), record.Hold{HoldID: "case-7"})
	require.NoError(t, err)
	done, err = a.ledger.Prune(t.Context(), ledger.Pruning{})
	require.NoError(t, err)
	require.Equal(t, 2, done.Removed)
	requireAnchored(t, stored(t, a.fs))
}

func TestHoldsThatNoEntryCouldHoldAreRefused(t *testing.T) {
	a := newAged(t, 1)
	for _, h := range []record.Hold{{}, {HoldID: " x"}, {HoldID: "a\nb"}, {HoldID: strings.Repeat("x", 257)}, {HoldID: "x", Reason: "a\x00"}, {HoldID: "x", RequestedBy: strings.Repeat("x", 2000)}} {
		_, err := a.ledger.SetHold(t.Context(), h)
		require.Error(t, err)
	}
	s, err := a.ledger.Standing(t.Context())
	require.NoError(t, err)
	require.Empty(t, s.Holds)
}

func TestARepeatOfWhatWasPrunedIsWrittenAgainAndAnotherIsNot(t *testing.T) {
	a := newAged(t, 1)
	// Conflicting bodies, and ids that an application gave.
	appendAll(t, a.ledger, read(t, id(0), "2"), readGiven(t, "given", "1", true))
	a.clock.advance(10 * retention.Day)
	a.write(20, 26)
	a.clock.advance(10 * retention.Day)
	segments, good := a.segments(), a.checkpoint()
	_, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[2].First, Checkpoint: good})
	require.NoError(t, err)
	kept := map[string]bool{}
	for _, e := range stored(t, a.fs) {
		if e.Kind == record.KindRead {
			kept[bodyOf(t, e).ReadID] = true
		}
	}
	require.False(t, kept[id(1)])
	kept[id(0)] = false // only the body that conflicted with it is there
	again := func() {
		t.Helper()
		for n := range 26 {
			r := appendAll(t, a.ledger, read(t, id(n), "1"))[0]
			require.Equal(t, kept[id(n)], r.Repeat, id(n))
			kept[id(n)] = true
		}
		require.True(t, appendAll(t, a.ledger, read(t, id(0), "2"))[0].Repeat, "the conflicting one is still there")
		require.True(t, appendAll(t, a.ledger, readGiven(t, "given", "1", true))[0].Repeat)
	}
	again()
	again()
	for _, lose := range []bool{false, true} {
		closeLedger(t, a.ledger)
		if lose {
			a.options.IndexDir = t.TempDir()
		}
		a.open()
		again()
	}
}

func TestARepeatWhoseReceiptIsPrunedMeanwhileIsWrittenAgain(t *testing.T) {
	a := newAged(t, 1)
	segments, good := a.segments(), a.checkpoint()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := a.ledger.Append(context.Background(), batch(t, n%20, n%20+1)); err != nil {
					panic(err)
				}
			}
		})
	}
	_, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[3].First, Checkpoint: good})
	close(stop)
	wg.Wait()
	require.NoError(t, err)
	for name, n := range countIDs(t, stored(t, a.fs)) {
		require.Equal(t, 1, n, name)
	}
	require.NoError(t, a.ledger.Close(t.Context()))
}

func TestAnEmptyHistoryCannotBePruned(t *testing.T) {
	a := newAged(t, 1)
	good := a.checkpoint()
	closeLedger(t, a.ledger)
	segments := a.segments()
	a.fs.Remove(dir + "/" + segment.Name(1))
	a.options.IndexDir = t.TempDir()
	a.open()
	_, err := a.ledger.Prune(t.Context(), ledger.Pruning{FirstSequence: segments[2].First, Checkpoint: good})
	require.ErrorIs(t, err, ledger.ErrNotAnchored)
	require.Equal(t, segments[1].First, a.segments()[0].First)
}
