// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/internal/checkpoint/checkpointtest"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/tiles"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

func detail(t testing.TB, e *journal.Entry) map[string]any {
	var body struct {
		Detail map[string]any `json:"detail"`
	}
	require.NoError(t, json.Unmarshal(e.Body, &body))
	return body.Detail
}

// directory adds a directory to the sinks.
func (r *rig) directory(name string) (path string) {
	path = r.t.TempDir()
	r.options.Sinks = append(r.options.Sinks, checkpoint.NewDirectory(name, path, durable.OS{}))
	return path
}

// witness adds a witness that trusts the journal.
func (r *rig) witness(name string) *checkpointtest.Witness {
	w := checkpointtest.NewWitness(r.t, name+".example", signer.PublicKey())
	server := httptest.NewServer(w)
	r.t.Cleanup(server.Close)
	r.options.Attesters = append(r.options.Attesters, checkpoint.NewWitness(name, server.URL+"/", server.Client(), w.Key))
	return w
}

// kept returns the checkpoints in a directory.
func kept(t testing.TB, path string) []*journal.SignedCheckpoint {
	names, err := filepath.Glob(filepath.Join(path, "*", "*.checkpoint"))
	require.NoError(t, err)
	var out []*journal.SignedCheckpoint
	for _, name := range names {
		note, err := os.ReadFile(name)
		require.NoError(t, err)
		c, err := journal.ParseCheckpoint(note)
		require.NoError(t, err)
		out = append(out, c)
	}
	return out
}

func TestCheckpointsComeAfterANumberOfEntriesAndAtTheEnd(t *testing.T) {
	r := newRig(t)
	path := r.directory("offsite")
	w := r.witness("one")
	a := checkpointtest.NewAuthority(t)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	r.options.Attesters = append(r.options.Attesters, checkpoint.NewAuthority("tsa", server.URL, server.Client(), a.Roots))
	r.open()
	for range 4 {
		r.took("offsite", r.append(10)-9)
	}
	r.close()

	all := kept(t, path)
	require.GreaterOrEqual(t, len(all), 4)
	for _, c := range all {
		assert.Equal(t, r.rootOf(c.Size), c.Root)
		assert.True(t, c.SignedBy(signer.PublicKey()))
		require.Len(t, c.Cosignatures([]journal.Witness{w.Key}), 1)
		token, err := os.ReadFile(filepath.Join(path, filepath.FromSlash(checkpoint.TokenName(c.Origin, c.Size, "tsa"))))
		require.NoError(t, err)
		_, err = c.Timestamp(token, a.Roots)
		require.NoError(t, err)
	}
	entries := r.entries()
	last := all[len(all)-1]
	assert.EqualValues(t, len(entries), last.Size, "the last one covers journal.closed")
	assert.Equal(t, last.Checkpoint, w.Latest(last.Origin))
	assert.Empty(t, r.gaps())
	assert.Empty(t, r.failed)
}

func TestSilenceIsProvable(t *testing.T) {
	r := newRig(t)
	r.options.Interval = time.Millisecond
	path := r.directory("offsite")
	r.open()
	r.until("checkpoints of silence", func() bool { return len(r.signed) > 4 })
	r.close()
	heartbeats := 0
	for _, e := range r.entries() {
		if e.Header.EventType == record.EventJournalHeartbeat {
			heartbeats++
		}
	}
	assert.GreaterOrEqual(t, heartbeats, 3)
	sizes := map[uint64]bool{}
	for _, c := range kept(t, path) {
		assert.False(t, sizes[c.Size])
		sizes[c.Size] = true
	}
}

// hanging is a sink that does not return before it is let go, whatever its
// context says.
type hanging struct {
	*checkpoint.Directory
	hang chan struct{}
}

func (h *hanging) Name() string { return "hanging" }

func (h *hanging) Put(ctx context.Context, a checkpoint.Attested) error {
	<-h.hang
	return h.Directory.Put(ctx, a)
}

func TestASinkThatHangsHoldsUpNothingAndIsToldOf(t *testing.T) {
	r := newRig(t)
	r.options.Timeout = 20 * time.Millisecond
	r.options.Interval = 10 * time.Millisecond
	h := &hanging{checkpoint.NewDirectory("", t.TempDir(), durable.OS{}), make(chan struct{})}
	r.options.Sinks = append(r.options.Sinks, h)
	r.directory("offsite")
	r.open()
	r.failing("hanging", checkpoint.ReasonTimeout)
	r.append(30)
	r.until("the other sink goes on", func() bool {
		n := 0
		for _, e := range r.events {
			if e.place == "offsite" && e.err == nil {
				n++
			}
		}
		return n > 3
	})
	assert.Equal(t, []string{"hanging open timeout"}, r.gapsOf("hanging"), "it is told once")
	close(h.hang)
	r.took("hanging", 1)
	mark := r.append(1)
	r.took("hanging", mark+1)
	r.close()
	assert.Equal(t, []string{"hanging open timeout", "hanging closed <nil>"}, r.gapsOf("hanging"))
}

func TestAGapOutlivesARestart(t *testing.T) {
	r := newRig(t)
	r.options.Interval = 5 * time.Millisecond
	path := r.directory("offsite")
	require.NoError(t, os.Remove(path))
	r.open()
	r.failing("offsite", checkpoint.ReasonUnreachable)
	r.until("some checkpoints", func() bool { return len(r.signed) > 3 })
	r.close()
	require.NoError(t, os.Mkdir(path, 0o750))
	r.options.Interval = 5 * time.Millisecond
	before := len(r.entries())
	r.open()
	r.took("offsite", uint64(before)+1)
	n := len(r.signed)
	r.until("one more", func() bool { return len(r.signed) > n+1 })
	r.close()
	assert.Equal(t, []string{"offsite open unreachable", "offsite closed <nil>"}, r.gaps())
}

func TestATreeThatIsGoneOrStaleIsBuiltAgain(t *testing.T) {
	r := newRig(t)
	path := r.directory("offsite")
	r.open()
	r.append(700)
	r.close()
	tilesDir := filepath.Join(r.dir, "tiles")
	for name, spoil := range map[string]func(){
		"gone":    func() { require.NoError(t, os.RemoveAll(tilesDir)) },
		"damaged": func() { require.NoError(t, os.WriteFile(filepath.Join(tilesDir, "head"), []byte("x"), 0o600)) },
	} {
		spoil()
		r.open()
		mark := r.append(20)
		r.took("offsite", mark-9)
		r.close()
		last := kept(t, path)
		assert.Equal(t, r.rootOf(last[len(last)-1].Size), last[len(last)-1].Root, name)
	}
	assert.Empty(t, r.failed)
}

func TestEntriesThatTheKeeperDidNotHearOfAreReadFromTheSegments(t *testing.T) {
	r := newRig(t)
	path := r.directory("offsite")
	r.unheard = func(first uint64) bool { return first%3 == 0 }
	r.open()
	mark := r.append(50)
	r.took("offsite", mark-12)
	r.close()
	for _, c := range kept(t, path) {
		require.Equal(t, r.rootOf(c.Size), c.Root)
	}
	assert.Empty(t, r.failed)
}

func TestADamagedSegmentStopsCheckpointsAndIsSaidOnceAnInterval(t *testing.T) {
	r := newRig(t)
	r.open()
	mark := r.append(30)
	r.close()
	segments, err := filepath.Glob(filepath.Join(r.dir, "*.events"))
	require.NoError(t, err)
	text, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	damaged := bytes.Replace(text, []byte("crm.customer.get"), []byte("crm.customer.got"), 1)
	require.NoError(t, os.WriteFile(segments[0], damaged, 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "tiles")))
	keeper, err := checkpoint.New(checkpoint.Options{
		Dir: r.dir, FS: durable.OS{}, Signer: signer, Entries: 1, Interval: time.Hour, Timeout: time.Second, Observer: r.options.Observer,
	})
	require.NoError(t, err)
	signed := len(r.signed)
	keeper.Durable(mark, make([]tiles.Hash, 1))
	keeper.Start(kept1(t, r), broken{})
	r.until("the damage", func() bool { return len(r.failed) > 0 })
	for n := range uint64(100) {
		keeper.Durable(mark+1+n, make([]tiles.Hash, 1))
	}
	require.NoError(t, keeper.Close(t.Context()))
	assert.LessOrEqual(t, len(r.failed), 2, "at the start and at the end")
	assert.ErrorContains(t, r.failed[0], "record_hash is not that of the entry; run readtrail verify")
	assert.Len(t, r.signed, signed)
}

func TestCheckpointsAreSignedByTheKeyThatIsSet(t *testing.T) {
	r := newRig(t)
	path := r.directory("offsite")
	r.open()
	r.append(12)
	require.NoError(t, r.ledger.Rotate(t.Context(), second))
	r.keeper.SetSigner(second)
	r.append(12)
	r.signer = second
	r.options.Outgoing = append(r.options.Outgoing, signer.PublicKey())
	r.close()
	all := kept(t, path)
	assert.True(t, all[0].SignedBy(signer.PublicKey()))
	assert.True(t, all[len(all)-1].SignedBy(second.PublicKey()))
}

// broken records nothing.
type broken struct{}

func (broken) Record(context.Context, *record.Journal) (journal.Receipt, error) {
	return journal.Receipt{}, errors.New("disk is full")
}

func TestAJournalThatCannotBeWrittenDelaysItsCheckpointAndSaysSo(t *testing.T) {
	r := newRig(t)
	r.open()
	r.append(3)
	r.close()
	keeper, err := checkpoint.New(checkpoint.Options{
		Dir: r.dir, FS: durable.OS{}, Signer: signer, Entries: 10, Interval: time.Millisecond, Timeout: time.Second, Observer: r.options.Observer,
	})
	require.NoError(t, err)
	signed := len(r.signed)
	keeper.Start(kept1(t, r), broken{})
	r.until("the trouble", func() bool { return len(r.failed) > 2 })
	require.NoError(t, keeper.Close(t.Context()))
	assert.ErrorContains(t, r.failed[0], "write journal.heartbeat before a checkpoint: disk is full")
	assert.Len(t, r.signed, signed)
}

func TestOptionsThatMakeNoCheckpointAreRefused(t *testing.T) {
	_, err := checkpoint.New(checkpoint.Options{})
	require.Error(t, err)
	_, err = checkpoint.New(checkpoint.Options{Dir: "x", FS: durable.OS{}, Signer: signer})
	require.Error(t, err)
}
