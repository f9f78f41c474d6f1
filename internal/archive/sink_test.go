// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/archive"
	"github.com/readtrail/readtrail/internal/archive/s3test"
	"github.com/readtrail/readtrail/internal/checkpoint"
	"github.com/readtrail/readtrail/journal"
)

func signer(t *testing.T) journal.Signer {
	t.Helper()
	pem, _, err := journal.NewKey(time.Unix(0, 0))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(path, pem, 0o600))
	s, err := journal.NewFileSigner(path)
	require.NoError(t, err)
	return s
}

func attested(t *testing.T, s journal.Signer, origin string, size uint64, tokens ...checkpoint.Token) checkpoint.Attested {
	t.Helper()
	note, err := journal.SignCheckpoint(journal.Checkpoint{Origin: origin, Size: size, Root: [32]byte{byte(size)}}, s)
	require.NoError(t, err)
	c, err := journal.ParseCheckpoint(note)
	require.NoError(t, err)
	return checkpoint.Attested{Checkpoint: c, Tokens: tokens}
}

func newSink(t *testing.T, server *s3test.Server) *archive.CheckpointSink {
	t.Helper()
	b, err := archive.Open(t.Context(), settings(server))
	require.NoError(t, err)
	sink, err := archive.NewCheckpointSink("s3/eu", b, archive.Compliance, 100*day, false)
	require.NoError(t, err)
	return sink
}

func TestCheckpointsAreKeptAndTheLatestIsFound(t *testing.T) {
	server, key := startServer(t), signer(t)
	server.PageSize = 3
	sink := newSink(t, server)
	assert.Equal(t, "s3/eu", sink.Name())
	latest, err := sink.Latest(t.Context(), "jrn_1")
	require.NoError(t, err)
	require.Nil(t, latest)
	token := checkpoint.Token{Authority: "tsa eu", Response: []byte("token")}
	for _, size := range []uint64{1, 7, 12, 1 << 40} {
		require.NoError(t, sink.Put(t.Context(), attested(t, key, "jrn_1", size, token)))
		latest, err := sink.Latest(t.Context(), "jrn_1")
		require.NoError(t, err)
		require.Equal(t, size, latest.Size)
	}
	require.NoError(t, sink.Put(t.Context(), attested(t, key, "jrn_1", 12, token)), "the same again is a success")
	assert.Equal(t, []string{
		"readtrail/jrn_1/00000000000000000001.checkpoint", "readtrail/jrn_1/00000000000000000001.tsa%20eu.tsr",
	}, server.Keys()[:2])
	v := server.Versions("readtrail/jrn_1/00000000000000000012.checkpoint")
	require.Len(t, v, 1)
	assert.Equal(t, []any{"COMPLIANCE", server.Now().Add(100 * day)}, []any{v[0].Mode, v[0].Until})
	latest, err = sink.Latest(t.Context(), "jrn_")
	require.NoError(t, err)
	require.Nil(t, latest, "a prefix of an id is another journal")

	// Neither what others put there nor a crash between the two parts is in the way.
	for _, name := range []string{"00000000000000000003x", "readme", "zzz", "00002000000000000000.tsa.tsr"} {
		server.Put("readtrail/jrn_1/"+name, s3test.Version{Data: []byte("x")})
	}
	server.Put("readtrail/jrn_1/00000000000000000012.checkpoint", s3test.Version{Marker: true})
	latest, err = sink.Latest(t.Context(), "jrn_1")
	require.NoError(t, err)
	require.EqualValues(t, 1<<40, latest.Size)
}

func TestASinkSaysWhyItDidNotTakeACheckpoint(t *testing.T) {
	server, key := startServer(t), signer(t)
	sink := newSink(t, server)
	require.NoError(t, sink.Put(t.Context(), attested(t, key, "jrn_1", 5)))
	err := sink.Put(t.Context(), attested(t, signer(t), "jrn_1", 5))
	require.ErrorIs(t, err, checkpoint.ErrConflict)

	for reason, lie := range map[checkpoint.Reason]func(*s3test.Server){
		checkpoint.ReasonRefused:     func(s *s3test.Server) { s.NoObjectLock = true },
		checkpoint.ReasonUnreachable: func(s *s3test.Server) { s.Fail(func(string, string) s3test.Fault { return s3test.Dropped }) },
	} {
		other := startServer(t)
		lie(other)
		err := newSink(t, other).Put(t.Context(), attested(t, key, "jrn_1", 5))
		require.Equal(t, reason, checkpoint.ReasonOf(err), "%v", err)
		assert.NotContains(t, err.Error(), "\n")
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	require.Equal(t, checkpoint.ReasonTimeout, checkpoint.ReasonOf(newSink(t, server).Put(ctx, attested(t, key, "jrn_1", 6))))
	require.Error(t, sink.Put(t.Context(), attested(t, key, "../jrn", 6)))

	server.Put("readtrail/jrn_2/00000000000000000009.checkpoint", s3test.Version{Data: []byte("not a note")})
	_, err = sink.Latest(t.Context(), "jrn_2")
	require.Equal(t, checkpoint.ReasonInvalid, checkpoint.ReasonOf(err))
	require.ErrorContains(t, err, "is not the checkpoint that its name says")
}

func TestCheckpointsStandBesideTheSegmentsOfTheirJournal(t *testing.T) {
	server, w, key := startServer(t), writeJournal(t, 3), signer(t)
	a := open(t, settings(server), policy)
	sink := a.CheckpointSink("archive", archive.Place{Organization: w.Organization, RetentionClass: w.RetentionClass, Kind: w.Kind})
	require.NoError(t, sink.Put(t.Context(), attested(t, key, w.JournalID, 3)))
	name := fmt.Sprintf("readtrail/bank%%2FEU/kyc/reads/%s/checkpoints/%020d.checkpoint", w.JournalID, 3)
	require.Equal(t, []string{name}, server.Keys())
	latest, err := sink.Latest(t.Context(), w.JournalID)
	require.NoError(t, err)
	require.EqualValues(t, 3, latest.Size)
	require.ErrorContains(t, sink.Put(t.Context(), attested(t, key, "a/b", 3)), "cannot be part of a key")
}

// Whatever one call does, the checkpoint is there once and whole after the next try.
func TestEveryCallOfACheckpointMayFail(t *testing.T) {
	key := signer(t)
	a := attested(t, key, "jrn_1", 5, checkpoint.Token{Authority: "tsa", Response: []byte("token")})
	for at := range 11 {
		for _, fault := range []s3test.Fault{s3test.Refused, s3test.Dropped, s3test.Lost, s3test.Failed} {
			server, call := startServer(t), 0
			server.Fail(func(string, string) s3test.Fault {
				if call++; call == at+1 {
					return fault
				}
				return s3test.Works
			})
			if err := newSink(t, server).Put(t.Context(), a); err != nil {
				require.NoError(t, newSink(t, server).Put(t.Context(), a))
			}
			for _, k := range []string{"readtrail/jrn_1/00000000000000000005.checkpoint", "readtrail/jrn_1/00000000000000000005.tsa.tsr"} {
				require.Len(t, server.Versions(k), 1, "call %d fault %d", at, fault)
			}
		}
	}
}

func TestTheCheckpointsOfABucketAreReadForAVerifier(t *testing.T) {
	server, w, key := startServer(t), writeJournal(t, 3), signer(t)
	sink := newSink(t, server)
	require.NoError(t, sink.Put(t.Context(), attested(t, key, "jrn_1", 5, checkpoint.Token{Authority: "a", Response: []byte("one")}, checkpoint.Token{Authority: "z", Response: []byte("two")})))
	require.NoError(t, sink.Put(t.Context(), attested(t, key, "jrn_1", 50)))
	a := open(t, settings(server), policy)
	require.NoError(t, a.CheckpointSink("archive", archive.Place{Organization: w.Organization, RetentionClass: w.RetentionClass, Kind: w.Kind}).Put(t.Context(), attested(t, key, w.JournalID, 3)))
	server.Put("readtrail/jrn_1/00000000000000000005.checkpoint", s3test.Version{Data: []byte("put over it")})
	server.Put("readtrail/a/b/00000000000000000005.checkpoint", s3test.Version{Data: []byte("of others")})
	var paths []string
	for c, err := range a.Bucket().Checkpoints(t.Context()) {
		require.NoError(t, err)
		paths = append(paths, c.Path)
		_, err = journal.ParseCheckpoint(c.Note)
		require.NoError(t, err)
		if len(c.Timestamps) > 0 {
			assert.Equal(t, [][]byte{[]byte("one"), []byte("two")}, c.Timestamps)
		}
	}
	require.Len(t, paths, 3)
	assert.Contains(t, paths[0], "/checkpoints/00000000000000000003.checkpoint?versionId=")
	assert.Contains(t, paths[1], "jrn_1/00000000000000000005.checkpoint?versionId=")

	server.Fail(func(operation, _ string) s3test.Fault {
		if operation == "GetObject" {
			return s3test.Refused
		}
		return s3test.Works
	})
	for _, err := range a.Bucket().Checkpoints(t.Context()) {
		require.ErrorContains(t, err, "InternalError (HTTP 500)")
	}
}

func TestTheCheckpointThatCoversIsFoundInABucket(t *testing.T) {
	server, w, key := startServer(t), writeJournal(t, 3), signer(t)
	sink := newSink(t, server)
	for _, size := range []uint64{5, 50, 500} {
		require.NoError(t, sink.Put(t.Context(), attested(t, key, "jrn_1", size)))
	}
	a := open(t, settings(server), policy)
	require.NoError(t, a.CheckpointSink("archive", archive.Place{Organization: w.Organization, RetentionClass: w.RetentionClass, Kind: w.Kind}).Put(t.Context(), attested(t, key, w.JournalID, 3)))
	server.Put("readtrail/jrn_1/00000000000000000050.checkpoint", s3test.Version{Data: []byte("put over it")})
	for entries, want := range map[uint64]uint64{1: 5, 5: 5, 6: 50, 50: 50, 51: 500, 501: 500} {
		c, err := a.Bucket().Covering(t.Context(), "jrn_1", entries)
		require.NoError(t, err)
		assert.Equal(t, want, c.Size, "for %d entries", entries)
	}
	c, err := a.Bucket().Covering(t.Context(), w.JournalID, 2)
	require.NoError(t, err)
	assert.EqualValues(t, 3, c.Size, "that of an archive")
	c, err = a.Bucket().Covering(t.Context(), "jrn_2", 2)
	require.NoError(t, err)
	assert.Nil(t, c)

	server.Put("readtrail/jrn_3/00000000000000000007.checkpoint", s3test.Version{Data: attested(t, key, "jrn_1", 7).Checkpoint.Note})
	_, err = a.Bucket().Covering(t.Context(), "jrn_3", 2)
	require.ErrorContains(t, err, "is not the checkpoint that its name says")
}
